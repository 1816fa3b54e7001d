"""The discrete recursive Newton-Euler algorithm and its linear-time companions (multibody paper, section 3).

With the Cayley map in place of the exponential, a step's displacement of body i is cay(2 u, 2 s), u = axis times tan of
half the angle. Its twist over the arc is (2 u, 2 s)/h, its momentum at the step's ends C(+-(2u, 2s))' G (2u, 2s)/h with
C = d cay^-1 (vehicles paper, eq. 14). All of it is in the world's axes, about the bodies' origins at the node,
which do not change while the step is solved: nothing is turned on the way through the tree.

What is done to every body alone is done to eight at once where they are rigid (`simd`).

`b` is the impulse with which a step begins: generalised momenta that arrive at the node (the bodies', without their
rotors'), plus the node's whole kick of gravity and springs. What acts at the ends of an arc (torques held over it,
damping) goes half to either end.
"""

from sim.multibody.arrays import BALL, FREE, MOMENT, PRISMATIC, REVOLUTE
from sim.multibody.kinematics import (
    axis_of,
    eight_rigid,
    gather,
    inertias_of_eight,
    momentum,
    rigid_momentum,
    spring_torque,
)
from sim.multibody.spatial import (
    add,
    cross,
    dot,
    entry,
    jit,
    put3,
    put_pair,
    quaternion_turn,
    rodrigues_compose,
    rodrigues_turn,
    rotate,
    row3,
    row9,
    row_of,
    sub,
    tangent,
    times,
)
from sim.multibody.springs import beyond, pull_springs
from sim.native.types import LANES, eight_rows, put_columns

UNMOVED = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
"""No displacement: a translation and a quaternion."""


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
def arriving_kicked(u, s, n, l, c, m, g, seconds):
    """The same, and so many seconds of gravity g on a mass m with moment c."""
    n, l = arriving(u, s, n, l)
    return add(n, times(seconds, cross(c, g))), add(l, times(seconds * m, g))


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
            put_pair(arc, i, u, s)
            n, l = momentum(tree, node, i, times(g, u), times(g, s))
            n, l = leaving(u, s, n, l)
            put_pair(wrench, i, n, l)
            i += 1
    turn_rotors(tree, node, arc, 1.0, wrench)


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
def spring_impulses(tree, q, kick, b):
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
        b[a] -= kick * tree.limit_stiffness[a] * beyond(q[c], limits[a, 0], limits[a, 1])


@jit
def node_impulses(tree, node, q, d, damping, h, kick, arc, wrench, b):
    """b = momenta that arrive with the arc, and `kick` seconds of gravity and springs at the node.

    `arc` is that of the step that ends here, as the bodies stood where it began; with an arc of zeros (and d = 0) the
    kick alone.
    """
    armature, g = tree.armature, 2.0 / h
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
            n, l = arriving_kicked(u, s, n, l, c, m, w, kick)
            put_columns(wrench, k, 0, (n[0], n[1], n[2], l[0], l[1], l[2]))
            i = k + LANES
        else:
            u, s = row3(arc, i, 0), row3(arc, i, 3)
            s = add(s, rodrigues_turn(u, s))
            n, l = momentum(tree, node, i, times(g, u), times(g, s))
            n, l = arriving_kicked(u, s, n, l, row3(node, i, MOMENT), tree.mass[i], w, kick)
            put_pair(wrench, i, n, l)
            i += 1
    turn_rotors(tree, node, arc, -1.0, wrench)
    pull_springs(tree, node, q, kick, wrench)
    gather(tree, node, wrench, b)
    for a in range(b.shape[0]):
        b[a] += (armature[a] / h - 0.5 * damping[a]) * d[a]
    rotors_of_balls(tree, d, h, b)
    spring_impulses(tree, q, kick, b)
