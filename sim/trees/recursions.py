"""The discrete recursive Newton-Euler algorithm and its linear-time companions (multibody paper, section 3).

With the Cayley map in place of the exponential, a step's displacement of body i is cay(2 u, 2 s), u = axis times tan of
half the angle. Its twist over the arc is (2 u, 2 s)/h, its momentum at the step's ends C(+-(2u, 2s))' G (2u, 2s)/h with
C = d cay^-1 (vehicles paper, eq. 14). All of it is told in the world's axes, about the bodies' origins at the node,
which do not change while the step is solved: nothing is turned on the way through the tree.

`b` is the impulse with which a step begins: generalised momenta that arrive at the node (the bodies', without
their rotors'), plus the node's whole kick of
gravity and springs. What acts at the ends of an arc (torques held over it, damping) goes half to either end.
"""

from sim.trees.arrays import BALL, FREE, INERTIA, MOMENT, PRISMATIC, REVOLUTE
from sim.trees.kinematics import axis_of, eight_rigid, spring_torque
from sim.trees.spatial import (
    add,
    cross,
    dot,
    entry,
    jit,
    put3,
    quaternion_turn,
    rodrigues_compose,
    rodrigues_turn,
    rotate,
    row3,
    row6,
    row9,
    sub,
    sym,
    tangent,
    times,
    unrotate,
)
from sim.trees.wide import LANES, column, eight, eight_rows, put_columns

NOWHERE = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
"""No twist, no wrench."""
UNMOVED = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
"""No displacement: a translation and a quaternion."""


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
def leaving(u, s, n, l):
    """C(x)' mu with x = (2u, 2s), mu = (n, l)."""
    h = add(l, cross(u, l))
    a = add(add(n, cross(u, n)), times(dot(u, n), u))
    return add(a, cross(s, h)), h


@jit
def arriving(u, s, n, l):
    """C(-x)' mu."""
    h = sub(l, cross(u, l))
    a = add(sub(n, cross(u, n)), times(dot(u, n), u))
    return sub(a, cross(s, h)), h


@jit
def turn_rotors(tree, node, arc, side, wrench):
    """Add to the bodies' impulses what a displacement does with their rotors' momentum n: C(+-x)' n - n.

    `side` is 1 where the displacement begins, -1 where it ends. The n itself arrives at a node as it leaves, and is
    left out at both.
    """
    for k in range(tree.rotor_carriers.shape[0]):
        i = tree.rotor_carriers[k]
        u, n = times(side, row3(arc, i, 0)), rotate(row9(node, i, 0), row3(tree.rotors, k, 0))
        put3(wrench, i, 0, add(row3(wrench, i, 0), add(cross(u, n), times(dot(u, n), u))))


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
def displace(tree, node, d, arc, i, last):
    """Displacement of body i over a step with increments d: (translation, v, w), its rotation the quaternion
    (w, v) = w (1, u), so that no link of a chain waits for a division.

    `last`: that of body i - 1. Where it is the parent, as along a chain, it is not read back from memory.
    """
    j = tree.parent[i]
    x, v, w = last
    if j != i - 1:
        x, v, w = UNMOVED if j < 0 else (row3(arc, j, 6), row3(arc, j, 9), arc[j, 12])
    x = add(x, quaternion_turn(w, v, row3(node, i, 9)))
    b = tree.v_at[i]
    kind = tree.kind[i]
    if kind == REVOLUTE:
        t, z = tangent(0.5 * d[b]), axis_of(node, i)
        w, v = w - t * dot(v, z), add(v, times(t, add(times(w, z), cross(v, z))))
    elif kind == PRISMATIC:
        z = times(d[b], axis_of(node, i))
        x = add(x, add(z, quaternion_turn(w, v, z)))
    else:
        R = row9(node, i, 0)
        if kind == FREE:
            z = rotate(R, row_of(d, b + 3))
            x = add(x, add(z, quaternion_turn(w, v, z)))
        v = rodrigues_compose(times(1.0 / w, v), rotate(R, times(0.5, row_of(d, b))))
        w = 1.0
    put3(arc, i, 6, x)
    put3(arc, i, 9, v)
    arc[i, 12] = w
    return x, v, w


@jit
def half_cayley(x, v, w):
    """(u, s): half the Cayley vector of a translation x and a rotation (w, v)."""
    u = times(1.0 / w, v)
    return u, times(0.5, sub(x, cross(u, x)))


@jit
def depart(tree, node, d, h, arc, wrench):
    """Displacements of all bodies over a step with increments d, and the impulses with which these leave the node."""
    last = UNMOVED
    for i in range(tree.parent.shape[0]):
        last = displace(tree, node, d, arc, i, last)
    load(tree, node, arc, h, wrench)


@jit
def load(tree, node, arc, h, wrench):
    """After `displace`: half the Cayley vectors, and the impulses with which the bodies leave the node."""
    g = 2.0 / h
    i = 0
    while i < tree.parent.shape[0]:
        k = eight_rigid(tree, i)
        if k >= 0:
            x = eight_rows(arc, k, 6)
            u, s = half_cayley(x[:3], x[3:6], x[6])
            put_columns(arc, k, 0, (u[0], u[1], u[2], s[0], s[1], s[2]))
            A, c, m = inertias_of_eight(tree, node, k)
            n, l = rigid_momentum(A, c, m, times(g, u), times(g, s))
            n, l = leaving(u, s, n, l)
            put_columns(wrench, k, 0, (n[0], n[1], n[2], l[0], l[1], l[2]))
            i = k + LANES
        else:
            u, s = half_cayley(row3(arc, i, 6), row3(arc, i, 9), arc[i, 12])
            put3(arc, i, 0, u)
            put3(arc, i, 3, s)
            n, l = momentum(tree, node, i, times(g, u), times(g, s))
            n, l = leaving(u, s, n, l)
            put3(wrench, i, 0, n)
            put3(wrench, i, 3, l)
            i += 1
    turn_rotors(tree, node, arc, 1.0, wrench)


@jit
def row_of(d, b):
    return (d[b], d[b + 1], d[b + 2])


@entry
def discrete_inverse_dynamics(tree, node, d, b, damping, h, arc, wrench, residual):
    """Residual impulse of increments d: what the joints would have to add to `b` (DRNEA, the paper's algorithm 2)."""
    depart(tree, node, d, h, arc, wrench)
    missing_impulses(tree, node, d, b, damping, h, wrench, residual)


@jit
def missing_impulses(tree, node, d, b, damping, h, wrench, residual):
    """The same after `depart`, whose impulses are cleared."""
    gather(tree, node, wrench, residual)
    for a in range(residual.shape[0]):
        residual[a] += joint_share(tree, d, b, damping, h, a)
    rotors_of_balls(tree, d, h, residual)


@jit
def joint_share(tree, d, b, damping, h, a):
    """Of a residual impulse: what the joints have in it beside the bodies."""
    return (0.5 * damping[a] + tree.armature[a] / h) * d[a] - b[a]


@jit
def rotors_of_balls(tree, d, h, out):
    """What the Cayley map adds to the momentum of a rotor on a ball joint: with u = d/2, |u|^2 times armature/h d."""
    kinds, v_at, armature = tree.kind, tree.v_at, tree.armature
    for i in range(kinds.shape[0]):
        b = v_at[i]
        if kinds[i] == BALL and armature[b] != 0.0:
            x = row_of(d, b)
            k = 0.25 * dot(x, x) * armature[b] / h
            out[b] += k * x[0]
            out[b + 1] += k * x[1]
            out[b + 2] += k * x[2]


@jit
def spring_impulses(tree, q, limit_stiffness, kick, b):
    """Add `kick` seconds of the joints' springs and limits at a node."""
    kinds, v_at, q_at = tree.kind, tree.v_at, tree.q_at
    stiffness, rest, limits = tree.stiffness, tree.rest, tree.limits
    n_bodies = kinds.shape[0]
    for i in range(n_bodies):
        a, c = v_at[i], q_at[i]
        kind = kinds[i]
        if kind == FREE:
            continue
        if kind == BALL:
            f = spring_torque(q, c, row_of(stiffness, a))
            b[a] += kick * f[0]
            b[a + 1] += kick * f[1]
            b[a + 2] += kick * f[2]
            continue
        b[a] -= kick * stiffness[a] * (q[c] - rest[a])
        low, high = limits[a, 0], limits[a, 1]
        if q[c] < low:
            b[a] -= kick * limit_stiffness[a] * (q[c] - low)
        elif q[c] > high:
            b[a] -= kick * limit_stiffness[a] * (q[c] - high)


@jit
def node_impulses(tree, node, q, d, damping, limit_stiffness, h, kick, arc, wrench, b):
    """b = momenta that arrive with the arc, and `kick` seconds of gravity and springs at the node.

    `arc` is that of the step that ends here, as the bodies stood where it began; with an arc of zeros (and d = 0) the
    kick alone.
    """
    mass, armature = tree.mass, tree.armature
    g = 2.0 / h
    w = row_of(tree.gravity_w, 0)
    i = 0
    while i < tree.parent.shape[0]:
        k = eight_rigid(tree, i)
        if k >= 0:
            x = eight_rows(arc, k, 0)
            u, s = x[:3], x[3:6]
            s = add(s, rodrigues_turn(u, s))
            A, c, m = inertias_of_eight(tree, node, k)
            n, l = rigid_momentum(A, c, m, times(g, u), times(g, s))
            n, l = arriving(u, s, n, l)
            n, l = add(n, times(kick, cross(c, w))), add(l, times(kick * m, w))
            put_columns(wrench, k, 0, (n[0], n[1], n[2], l[0], l[1], l[2]))
            i = k + LANES
        else:
            u, s = row3(arc, i, 0), row3(arc, i, 3)
            s = add(s, rodrigues_turn(u, s))
            n, l = momentum(tree, node, i, times(g, u), times(g, s))
            n, l = arriving(u, s, n, l)
            n = add(n, times(kick, cross(row3(node, i, MOMENT), w)))
            l = add(l, times(kick * mass[i], w))
            put3(wrench, i, 0, n)
            put3(wrench, i, 3, l)
            i += 1
    turn_rotors(tree, node, arc, -1.0, wrench)
    gather(tree, node, wrench, b)
    for a in range(b.shape[0]):
        b[a] += (armature[a] / h - 0.5 * damping[a]) * d[a]
    rotors_of_balls(tree, d, h, b)
    spring_impulses(tree, q, limit_stiffness, kick, b)


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
        put3(out, i, 0, last[0])
        put3(out, i, 3, last[1])


@entry
def momenta(tree, node, v, arc, wrench, out):
    """Generalised momenta M(q) v; `arc` gets the bodies' twists in its first six columns."""
    twists_of(tree, node, v, arc)
    for i in range(tree.parent.shape[0]):
        n, l = momentum(tree, node, i, row3(arc, i, 0), row3(arc, i, 3))
        put3(wrench, i, 0, n)
        put3(wrench, i, 3, l)
    gather(tree, node, wrench, out)
    for a in range(out.shape[0]):
        out[a] += tree.armature[a] * v[a]


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
