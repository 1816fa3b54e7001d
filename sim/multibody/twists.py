"""Twists of bodies under joint velocities, about the bodies' origins in the world's axes, and the momenta they make."""

from sim.multibody.arrays import FREE, PRISMATIC, REVOLUTE
from sim.multibody.bodies import momentum
from sim.multibody.kinematics import axis_of
from sim.multibody.spatial import add, cross, entry, jit, put_pair, rotate, row3, row9, row_of, sub, times
from sim.multibody.wrenches import NOWHERE, gather


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
