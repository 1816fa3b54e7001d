"""Wrenches on bodies, handed from the leaves to the root, each about its body's origin in the world's axes."""

from sim.multibody.arrays import FREE, PRISMATIC, REVOLUTE
from sim.multibody.kinematics import axis_of
from sim.multibody.spatial import add, cross, dot, jit, row3, row9, unrotate

NOWHERE = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
"""No twist, no wrench."""


@jit
def lifted(node, i, n, l):
    """Torque about its parent's origin of a wrench (n, l) about that of body i."""
    return add(n, cross(row3(node, i, 9), l))


@jit
def hand_up(j, wrench, i, n, l):
    """Hand a wrench about its origin to body j, the parent of body i: returned where that is next, else added."""
    if j < 0:
        return NOWHERE
    if j == i - 1:
        return n, l
    wrench[j, 0] += n[0]
    wrench[j, 1] += n[1]
    wrench[j, 2] += n[2]
    wrench[j, 3] += l[0]
    wrench[j, 4] += l[1]
    wrench[j, 5] += l[2]
    return NOWHERE


@jit
def take_wrench(wrench, i, last):
    """What acts on body i with its children, `last` handed up by body i + 1 among it; cleared for the next pass."""
    n, l = add(row3(wrench, i, 0), last[0]), add(row3(wrench, i, 3), last[1])
    for j in range(6):
        wrench[i, j] = 0.0
    return n, l


@jit
def project(kind, node, i, b, n, l, out):
    """The joint's share S' (n, l) of a wrench on body i, from place b of `out`."""
    if kind == REVOLUTE:
        out[b] = dot(axis_of(node, i), n)
    elif kind == PRISMATIC:
        out[b] = dot(axis_of(node, i), l)
    else:
        R = row9(node, i, 0)
        out[b], out[b + 1], out[b + 2] = unrotate(R, n)
        if kind == FREE:
            out[b + 3], out[b + 4], out[b + 5] = unrotate(R, l)


@jit
def gather(tree, node, wrench, out):
    """Generalised impulses of wrenches on the bodies, about their origins; clears the wrenches."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    last = NOWHERE
    for i in range(n_bodies - 1, -1, -1):
        n, l = take_wrench(wrench, i, last)
        project(kinds[i], node, i, v_at[i], n, l, out)
        last = hand_up(parent[i], wrench, i, lifted(node, i, n, l), l)
