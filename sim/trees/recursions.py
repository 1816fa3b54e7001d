"""The discrete recursive Newton-Euler algorithm and its linear-time companions (multibody paper, section 3).

With the Cayley map in place of the exponential, a step's displacement of body i is cay(2 u, 2 s), u = axis times tan of
half the angle. Its twist over the arc is (2 u, 2 s)/h, its momentum at the step's ends C(+-(2u, 2s))' G (2u, 2s)/h with
C = d cay^-1 (vehicles paper, eq. 14); the sums over the tree are taken in the frames of the node, which do not change
while the step is solved.

`b` is the impulse with which a step begins: generalised momenta that arrive at the node, plus the node's whole kick of
gravity and springs. What acts at the ends of an arc (torques held over it, damping) goes half to either end.
"""

from sim.trees.arrays import BALL, FREE, PRISMATIC, REVOLUTE
from sim.trees.kinematics import spring_torque
from sim.trees.spatial import (
    add,
    cross,
    dot,
    entry,
    jit,
    put3,
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

NOWHERE = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
"""No twist, no wrench, no displacement."""


@jit
def momentum(tree, i, w, v):
    """(angular, linear) momentum of body i with twist (w, v)."""
    inertia = tree.inertia
    A = row6(inertia, i, 0)
    if tree.rigid[i]:
        c, m = row3(tree.moment, i, 0), tree.mass[i]
        return add(sym(A, w), cross(c, v)), sub(times(m, v), cross(c, w))
    B, C = row9(inertia, i, 6), row6(inertia, i, 15)
    return add(sym(A, w), rotate(B, v)), add(unrotate(B, w), sym(C, v))


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
def pass_up(j, node, wrench, i, n, l):
    """Hand a wrench on body i, in its frame, to its parent's, body j: returned where that is next, else added."""
    if j < 0:
        return NOWHERE
    R, p = row9(node, i, 0), row3(node, i, 9)
    f = rotate(R, l)
    m = add(rotate(R, n), cross(p, f))
    if j == i - 1:
        return m, f
    wrench[j, 0] += m[0]
    wrench[j, 1] += m[1]
    wrench[j, 2] += m[2]
    wrench[j, 3] += f[0]
    wrench[j, 4] += f[1]
    wrench[j, 5] += f[2]
    return NOWHERE


@jit
def take_wrench(wrench, i, last):
    """What acts on body i with its children, `last` handed up by body i + 1 among it; cleared for the next pass."""
    n, l = add(row3(wrench, i, 0), last[0]), add(row3(wrench, i, 3), last[1])
    for j in range(6):
        wrench[i, j] = 0.0
    return n, l


@jit
def project(kind, b, n, l, out):
    """The joint's share S' (n, l) of a wrench, from place b of `out`."""
    if kind == REVOLUTE:
        out[b] = n[2]
    elif kind == PRISMATIC:
        out[b] = l[2]
    else:
        out[b], out[b + 1], out[b + 2] = n
        if kind == FREE:
            out[b + 3], out[b + 4], out[b + 5] = l


@jit
def displace(tree, node, d, arc, i, last):
    """Displacement of body i over a step with increments d: (u, s, translation) into arc; (u, translation).

    `last`: that of body i - 1. Where it is the parent, as along a chain, it is not read back from memory, which costs
    more than the arithmetic.
    """
    j = tree.parent[i]
    u, x = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if j >= 0:
        if j == i - 1:
            w, y = last
        else:
            w, y = row3(arc, j, 0), row3(arc, j, 6)
        R, p = row9(node, i, 0), row3(node, i, 9)
        u = unrotate(R, w)
        x = unrotate(R, add(y, rodrigues_turn(w, p)))
    b = tree.v_at[i]
    kind = tree.kind[i]
    if kind == REVOLUTE:
        t = tangent(0.5 * d[b])
        k = 1.0 / (1.0 - t * u[2])
        u = (k * (u[0] + t * u[1]), k * (u[1] - t * u[0]), k * (u[2] + t))
    elif kind == PRISMATIC:
        z = (0.0, 0.0, d[b])
        x = add(x, add(z, rodrigues_turn(u, z)))
    else:
        if kind == FREE:
            z = row_of(d, b + 3)
            x = add(x, add(z, rodrigues_turn(u, z)))
        u = rodrigues_compose(u, times(0.5, row_of(d, b)))
    put3(arc, i, 0, u)
    put3(arc, i, 3, times(0.5, sub(x, cross(u, x))))
    put3(arc, i, 6, x)
    return u, x


@jit
def depart(tree, node, d, h, arc, wrench):
    """Displacements of all bodies over a step with increments d, and the impulses with which these leave the node."""
    g = 2.0 / h
    last = NOWHERE
    for i in range(tree.parent.shape[0]):
        last = displace(tree, node, d, arc, i, last)
        load(tree, arc, g, wrench, i)


@jit
def load(tree, arc, g, wrench, i):
    """The impulse with which body i leaves the node, in its frame; g = 2/h."""
    u, s = row3(arc, i, 0), row3(arc, i, 3)
    n, l = momentum(tree, i, times(g, u), times(g, s))
    n, l = leaving(u, s, n, l)
    put3(wrench, i, 0, n)
    put3(wrench, i, 3, l)


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
def node_impulses(tree, node, q, d, damping, limit_stiffness, h, kick, arc, down, wrench, b):
    """b = momenta that arrive with the arc, and `kick` seconds of gravity and springs at the node.

    `arc` is that of the step that ends here; with an arc of zeros (and d = 0) the kick alone. `down` (n, >= 3) gets
    gravity in the bodies' frames.
    """
    parent, mass, moment = tree.parent, tree.mass, tree.moment
    gravity_w, armature = tree.gravity_w, tree.armature
    n_bodies = parent.shape[0]
    g = 2.0 / h
    w = (0.0, 0.0, 0.0)
    for i in range(n_bodies):
        j = parent[i]
        if j < 0:
            w = (gravity_w[0], gravity_w[1], gravity_w[2])
        elif j != i - 1:
            w = row3(down, j, 0)
        w = unrotate(row9(node, i, 0), w)
        put3(down, i, 0, w)
        u, s = row3(arc, i, 0), row3(arc, i, 3)
        n, l = momentum(tree, i, times(g, u), times(g, s))
        n, l = arriving(u, s, n, l)
        n = add(n, times(kick, cross(row3(moment, i, 0), w)))
        l = add(l, times(kick * mass[i], w))
        put3(wrench, i, 0, n)
        put3(wrench, i, 3, l)
    gather(tree, node, wrench, b)
    for a in range(b.shape[0]):
        b[a] += (armature[a] / h - 0.5 * damping[a]) * d[a]
    rotors_of_balls(tree, d, h, b)
    spring_impulses(tree, q, limit_stiffness, kick, b)


@jit
def gather(tree, node, wrench, out):
    """Generalised impulses of wrenches on the bodies, in their frames; clears the wrenches."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    last = NOWHERE
    for i in range(n_bodies - 1, -1, -1):
        n, l = take_wrench(wrench, i, last)
        project(kinds[i], v_at[i], n, l, out)
        last = pass_up(parent[i], node, wrench, i, n, l)


@entry
def momenta(tree, node, v, arc, wrench, out):
    """Generalised momenta M(q) v; `arc` gets the bodies' twists in its first six columns."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    last = NOWHERE
    for i in range(n_bodies):
        w, x = carried(parent[i], node, i, arc, last)
        b = v_at[i]
        kind = kinds[i]
        if kind == REVOLUTE:
            w = (w[0], w[1], w[2] + v[b])
        elif kind == PRISMATIC:
            x = (x[0], x[1], x[2] + v[b])
        else:
            w = add(w, row_of(v, b))
            if kind == FREE:
                x = add(x, row_of(v, b + 3))
        put3(arc, i, 0, w)
        put3(arc, i, 3, x)
        last = w, x
        n, l = momentum(tree, i, w, x)
        put3(wrench, i, 0, n)
        put3(wrench, i, 3, l)
    gather(tree, node, wrench, out)
    for a in range(out.shape[0]):
        out[a] += tree.armature[a] * v[a]


@jit
def carried(j, node, i, twists, last):
    """Twist that body i gets from that of its parent j, in its own frame; `last` is that of body i - 1."""
    if j < 0:
        return NOWHERE
    R, p = row9(node, i, 0), row3(node, i, 9)
    if j == i - 1:
        w, x = last
    else:
        w, x = row3(twists, j, 0), row3(twists, j, 3)
    return unrotate(R, w), unrotate(R, sub(x, cross(p, w)))
