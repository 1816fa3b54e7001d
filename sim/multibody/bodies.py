"""Inertia and momentum of bodies at a node, one at a time or eight at once."""

from sim.multibody.arrays import INERTIA, MOMENT
from sim.multibody.spatial import add, cross, jit, rotate, row3, row6, row9, sub, sym, times, unrotate
from sim.multibody.wide import LANES, column, eight, eight_rows


@jit
def momentum(tree, node, i, w, v):
    """(angular, linear) momentum of body i with twist (w, v)."""
    A = row6(node, i, INERTIA)
    if tree.rigid[i]:
        return rigid_momentum(A, row3(node, i, MOMENT), tree.mass[i], w, v)
    B, C = row9(node, i, MOMENT + 3), row6(node, i, MOMENT + 12)
    return add(sym(A, w), rotate(B, v)), add(unrotate(B, w), sym(C, v))


@jit
def rigid_momentum(A, c, m, w, v):
    """The same of a rigid body, of eight as well as of one: inertia A about its origin, moment c, mass m."""
    return add(sym(A, w), cross(c, v)), sub(times(m, v), cross(c, w))


@jit
def inertias_of_eight(tree, node, i):
    """(inertia A, moment, mass) of bodies i to i + 7, each number of all eight."""
    a = eight_rows(node, i, INERTIA)
    c = a[MOMENT - INERTIA], a[MOMENT - INERTIA + 1], column(node, i, MOMENT + 2)
    return a[:6], c, eight(tree.mass, i)


@jit
def own_inertia(tree, node, i):
    """Blocks (A, B, C) of body i alone, about its origin."""
    A = row6(node, i, INERTIA)
    if not tree.rigid[i]:
        return A, row9(node, i, MOMENT + 3), row6(node, i, MOMENT + 12)
    c, m = row3(node, i, MOMENT), tree.mass[i]
    return A, (0.0, -c[2], c[1], c[2], 0.0, -c[0], -c[1], c[0], 0.0), (m, 0.0, 0.0, m, 0.0, m)


@jit
def eight_rigid(tree, i):
    """Where eight bodies begin with body i among them that are rigid, none beyond the last; -1 if there are none."""
    k = min(i, tree.rigid.shape[0] - LANES)
    if k < 0:
        return k
    for j in range(LANES):
        if not tree.rigid[k + j]:
            return -1
    return k


@jit
def three_columns(a, i):
    return column(a, i, 0), column(a, i, 1), column(a, i, 2)
