"""Twists of bodies under joint velocities, about the bodies' origins in the world's axes, and the momenta they make."""

from sim.multibody.arrays import FREE, PRISMATIC, REVOLUTE
from sim.multibody.kinematics import axis_of, momentum
from sim.multibody.spatial import (
    add,
    cross,
    dot,
    entry,
    jit,
    put_pair,
    rotate,
    row3,
    row9,
    row_of,
    sub,
    times,
    unrotate,
)

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


@jit
def parent_twist(j, i, twists, last):
    """Twist of body j, the parent of body i, about its origin; `last` is that of body i - 1."""
    if j == i - 1:
        return last
    return NOWHERE if j < 0 else (row3(twists, j, 0), row3(twists, j, 3))


@jit
def carried(j, node, i, twists, last):
    """Twist of the origin of body i as that of its parent j carries it; `last` is that of body i - 1."""
    w, x = parent_twist(j, i, twists, last)
    return w, sub(x, cross(row3(node, i, 9), w))


@jit
def go_on(tree, node, i, v, w, x):
    """Twist of body i: (w, x), with which its joint is carried along, and the joint's own by joint velocities v."""
    b, kind = tree.v_at[i], tree.kind[i]
    if kind == REVOLUTE:
        return add(w, times(v[b], axis_of(node, i))), x
    if kind == PRISMATIC:
        return w, add(x, times(v[b], axis_of(node, i)))
    R = row9(node, i, 0)
    if kind == FREE:
        x = add(x, rotate(R, row_of(v, b + 3)))
    return add(w, rotate(R, row_of(v, b))), x


@jit
def twists_of(tree, node, v, out):
    """(n, >= 6) twists of the bodies under joint velocities v."""
    last = NOWHERE
    for i in range(tree.parent.shape[0]):
        w, x = carried(tree.parent[i], node, i, out, last)
        last = go_on(tree, node, i, v, w, x)
        put_pair(out, i, last[0], last[1])


@entry
def momenta(tree, node, v, arc, wrench, out):
    """Generalised momenta M(q) v; `arc` gets the bodies' twists in its first six columns."""
    twists_of(tree, node, v, arc)
    for i in range(tree.parent.shape[0]):
        n, l = momentum(tree, node, i, row3(arc, i, 0), row3(arc, i, 3))
        put_pair(wrench, i, n, l)
    gather(tree, node, wrench, out)
    for a in range(out.shape[0]):
        out[a] += tree.armature[a] * v[a]
