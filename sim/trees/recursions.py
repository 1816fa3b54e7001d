"""The discrete recursive Newton-Euler algorithm and its linear-time companions (multibody paper, section 3).

With the Cayley map in place of the exponential, a step's displacement of body i is cay(2 u, 2 s), u = axis times tan of
half the angle. Its twist over the arc is (2 u, 2 s)/h, its momentum at the step's ends C(+-(2u, 2s))' G (2u, 2s)/h with
C = d cay^-1 (vehicles paper, eq. 14); the sums over the tree are taken in the frames of the node, which do not change
while the step is solved.

`b` is the impulse with which a step begins: generalised momenta that arrive at the node, plus the node's whole kick of
gravity and springs. What acts at the ends of an arc (torques held over it, damping) goes half to either end.
"""

import math

from sim.trees.arrays import BALL, FREE, PRISMATIC, REVOLUTE
from sim.trees.kinematics import angle_gradient
from sim.trees.spatial import (
    add,
    cross,
    cross_columns,
    dot,
    entry,
    full,
    inverse_sym,
    jit,
    product,
    product_transposed,
    put3,
    rodrigues_compose,
    rodrigues_turn,
    rotate,
    row3,
    row6,
    row9,
    sub,
    sum9,
    sym,
    times,
    turned_sym,
    unrotate,
)


@jit
def momentum(inertia, i, w, v):
    """(angular, linear) momentum of body i with twist (w, v)."""
    A, B, C = row6(inertia, i, 0), row9(inertia, i, 6), row6(inertia, i, 15)
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
    """Add a wrench on body i, in its frame, to its parent's, body j."""
    if j < 0:
        return
    R, p = row9(node, i, 0), row3(node, i, 9)
    f = rotate(R, l)
    m = add(rotate(R, n), cross(p, f))
    wrench[j, 0] += m[0]
    wrench[j, 1] += m[1]
    wrench[j, 2] += m[2]
    wrench[j, 3] += f[0]
    wrench[j, 4] += f[1]
    wrench[j, 5] += f[2]


@jit
def take_wrench(wrench, i):
    """What the children have added, which is cleared for the next pass."""
    n, l = row3(wrench, i, 0), row3(wrench, i, 3)
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
def displace(tree, node, d, arc):
    """Displacement of every body over a step with increments d, from the root on: (u, s, translation)."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    for i in range(n_bodies):
        j = parent[i]
        u, x = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if j >= 0:
            R, p = row9(node, i, 0), row3(node, i, 9)
            w = row3(arc, j, 0)
            u = unrotate(R, w)
            x = unrotate(R, add(row3(arc, j, 6), rodrigues_turn(w, p)))
        b = v_at[i]
        kind = kinds[i]
        if kind == REVOLUTE:
            t = math.tan(0.5 * d[b])
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


@jit
def row_of(d, b):
    return (d[b], d[b + 1], d[b + 2])


@entry
def discrete_inverse_dynamics(tree, node, d, b, damping, h, arc, wrench, residual):
    """Residual impulse of increments d: what the joints would have to add to `b` (DRNEA, the paper's algorithm 2)."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    inertia = tree.inertia
    displace(tree, node, d, arc)
    g = 2.0 / h
    for i in range(n_bodies - 1, -1, -1):
        u, s = row3(arc, i, 0), row3(arc, i, 3)
        n, l = momentum(inertia, i, times(g, u), times(g, s))
        n, l = leaving(u, s, n, l)
        cn, cl = take_wrench(wrench, i)
        n, l = add(n, cn), add(l, cl)
        project(kinds[i], v_at[i], n, l, residual)
        pass_up(parent[i], node, wrench, i, n, l)
    for a in range(residual.shape[0]):
        residual[a] += 0.5 * damping[a] * d[a] - b[a]


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
            if stiffness[a] != 0.0:
                f = angle_gradient(q[c], q[c + 1], q[c + 2], q[c + 3])
                k = kick * stiffness[a]
                b[a] += k * f[0]
                b[a + 1] += k * f[1]
                b[a + 2] += k * f[2]
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

    `arc` is that of the step that ends here; with an arc of zeros (and d = 0) the kick alone.
    """
    parent, inertia, mass, moment = tree.parent, tree.inertia, tree.mass, tree.moment
    gravity_w = tree.gravity_w
    n_bodies = parent.shape[0]
    g = 2.0 / h
    down = wrench  # columns 0..2: gravity in the body's frame, until the body's turn comes on the way back
    for i in range(n_bodies):
        j = parent[i]
        if j < 0:
            w = (gravity_w[0], gravity_w[1], gravity_w[2])
        else:
            w = row3(down, j, 0)
        put3(down, i, 0, unrotate(row9(node, i, 0), w))
    for i in range(n_bodies):
        w = row3(down, i, 0)
        u, s = row3(arc, i, 0), row3(arc, i, 3)
        n, l = momentum(inertia, i, times(g, u), times(g, s))
        n, l = arriving(u, s, n, l)
        n = add(n, times(kick, cross(row3(moment, i, 0), w)))
        l = add(l, times(kick * mass[i], w))
        put3(wrench, i, 0, n)
        put3(wrench, i, 3, l)
    gather(tree, node, wrench, b)
    for a in range(b.shape[0]):
        b[a] -= 0.5 * damping[a] * d[a]
    spring_impulses(tree, q, limit_stiffness, kick, b)


@jit
def gather(tree, node, wrench, out):
    """Generalised impulses of wrenches on the bodies, in their frames; clears the wrenches."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    for i in range(n_bodies - 1, -1, -1):
        n, l = take_wrench(wrench, i)
        project(kinds[i], v_at[i], n, l, out)
        pass_up(parent[i], node, wrench, i, n, l)


@entry
def momenta(tree, node, v, arc, wrench, out):
    """Generalised momenta M(q) v; `arc` gets the bodies' twists in its first six columns."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    inertia = tree.inertia
    for i in range(n_bodies):
        w, x = carried(parent[i], node, i, arc)
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
        n, l = momentum(inertia, i, w, x)
        put3(wrench, i, 0, n)
        put3(wrench, i, 3, l)
    gather(tree, node, wrench, out)


@jit
def carried(j, node, i, twists):
    """Twist that body i gets from that of its parent j, in its own frame."""
    if j < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    R, p = row9(node, i, 0), row3(node, i, 9)
    w, x = row3(twists, j, 0), row3(twists, j, 3)
    return unrotate(R, w), unrotate(R, sub(x, cross(p, w)))


@jit
def lift(R, p, A, B, C):
    """Inertia blocks seen from the parent, whose frame has the body's at (R, p)."""
    A, C = turned_sym(R, A), turned_sym(R, C)
    B = product_transposed(product(R, B), R)
    D = sum9(B, cross_columns(p, full(C)))
    x0, x1, x2 = cross(p, (B[0], B[1], B[2])), cross(p, (B[3], B[4], B[5])), cross(p, (B[6], B[7], B[8]))
    y0, y1, y2 = cross(p, (D[0], D[1], D[2])), cross(p, (D[3], D[4], D[5])), cross(p, (D[6], D[7], D[8]))
    A = (
        A[0] + x0[0] + y0[0],
        A[1] + x1[0] + y0[1],
        A[2] + x2[0] + y0[2],
        A[3] + x1[1] + y1[1],
        A[4] + x2[1] + y1[2],
        A[5] + x2[2] + y2[2],
    )
    return A, D, C


@jit
def outer_less(S, x, k):
    """S - k x x' of a symmetric matrix."""
    a, b, c = k * x[0], k * x[1], k * x[2]
    return (
        S[0] - a * x[0],
        S[1] - a * x[1],
        S[2] - a * x[2],
        S[3] - b * x[1],
        S[4] - b * x[2],
        S[5] - c * x[2],
    )


@jit
def congruent(B, S):
    """B' S B of a symmetric S, as six numbers, and S B."""
    T = product(full(S), B)
    return (
        B[0] * T[0] + B[3] * T[3] + B[6] * T[6],
        B[0] * T[1] + B[3] * T[4] + B[6] * T[7],
        B[0] * T[2] + B[3] * T[5] + B[6] * T[8],
        B[1] * T[1] + B[4] * T[4] + B[7] * T[7],
        B[1] * T[2] + B[4] * T[5] + B[7] * T[8],
        B[2] * T[2] + B[5] * T[5] + B[8] * T[8],
    ), T


@jit
def less6(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5])


@jit
def put(a, i, j, x):
    for k in range(len(x)):
        a[i, j + k] = x[k]


@entry
def factorise(tree, node, damping, h, articulated, factor):
    """Articulated-body inertias from the leaves to the root (Featherstone), and each joint's pivot.

    With joint damping the matrix is M + h/2 diag(damping).
    """
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    inertia = tree.inertia
    for i in range(n_bodies):
        for k in range(21):
            articulated[i, k] = inertia[i, k]
    for i in range(n_bodies - 1, -1, -1):
        A, B, C = row6(articulated, i, 0), row9(articulated, i, 6), row6(articulated, i, 15)
        c = 0.5 * h * damping[v_at[i]]
        kind = kinds[i]
        root = parent[i] < 0
        if kind in (REVOLUTE, PRISMATIC):
            if kind == REVOLUTE:
                x, y = (A[2], A[4], A[5]), (B[6], B[7], B[8])
                k = 1.0 / (A[5] + c)
            else:
                x, y = (B[2], B[5], B[8]), (C[2], C[4], C[5])
                k = 1.0 / (C[5] + c)
            put3(factor, i, 0, x)
            put3(factor, i, 3, y)
            factor[i, 6] = k
            if root:
                continue
            A, C = outer_less(A, x, k), outer_less(C, y, k)
            x = times(k, x)
            B = (
                B[0] - x[0] * y[0],
                B[1] - x[0] * y[1],
                B[2] - x[0] * y[2],
                B[3] - x[1] * y[0],
                B[4] - x[1] * y[1],
                B[5] - x[1] * y[2],
                B[6] - x[2] * y[0],
                B[7] - x[2] * y[1],
                B[8] - x[2] * y[2],
            )
        else:
            if kind == FREE:
                c = 0.0
            I = inverse_sym((A[0] + c, A[1], A[2], A[3] + c, A[4], A[5] + c))
            put(factor, i, 0, I)
            put(factor, i, 6, B)
            S, T = congruent(B, I)
            C = less6(C, S)
            if kind == FREE:
                put(factor, i, 15, inverse_sym(C))
                continue  # what hangs on a free joint does not load its parent
            k = c * c
            A = (c - k * I[0], -k * I[1], -k * I[2], c - k * I[3], -k * I[4], c - k * I[5])
            B = (c * T[0], c * T[1], c * T[2], c * T[3], c * T[4], c * T[5], c * T[6], c * T[7], c * T[8])
            if root:
                continue
        A, B, C = lift(row9(node, i, 0), row3(node, i, 9), A, B, C)
        j = parent[i]
        for k in range(6):
            articulated[j, k] += A[k]
            articulated[j, 15 + k] += C[k]
        for k in range(9):
            articulated[j, 6 + k] += B[k]


@entry
def solve(tree, node, damping, h, factor, r, wrench, spare, twists, out):
    """out = (M + h/2 diag(damping))^-1 r with the factors of `factorise`; r and out may be the same array.

    `twists` (n, >= 6) gets the bodies' twists under the joint velocities `out`.
    """
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    for i in range(n_bodies - 1, -1, -1):
        f, g = take_wrench(wrench, i)
        b = v_at[i]
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            e = r[b] - (f[2] if kind == REVOLUTE else g[2])
            spare[b] = e
            t = e * factor[i, 6]
            f, g = add(f, times(t, row3(factor, i, 0))), add(g, times(t, row3(factor, i, 3)))
        else:
            e = sub(row_of(r, b), f)
            spare[b], spare[b + 1], spare[b + 2] = e
            if kind == FREE:
                e = sub(row_of(r, b + 3), g)
                spare[b + 3], spare[b + 4], spare[b + 5] = e
                f, g = row_of(r, b), row_of(r, b + 3)
            else:
                t = sym(row6(factor, i, 0), e)
                c = 0.5 * h * damping[b]
                f = add(f, sub(e, times(c, t)))
                g = add(g, unrotate(row9(factor, i, 6), t))
        pass_up(parent[i], node, wrench, i, f, g)
    for i in range(n_bodies):
        w, x = carried(parent[i], node, i, twists)
        b = v_at[i]
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            y = spare[b] - dot(row3(factor, i, 0), w) - dot(row3(factor, i, 3), x)
            y *= factor[i, 6]
            out[b] = y
            if kind == REVOLUTE:
                w = (w[0], w[1], w[2] + y)
            else:
                x = (x[0], x[1], x[2] + y)
        else:
            I, B = row6(factor, i, 0), row9(factor, i, 6)
            e = row_of(spare, b)
            if kind == FREE:
                z = sym(row6(factor, i, 15), sub(row_of(spare, b + 3), unrotate(B, sym(I, e))))
                out[b + 3], out[b + 4], out[b + 5] = sub(z, x)
                x = z
                c = 0.0
            else:
                c = 0.5 * h * damping[b]
            y = sub(sym(I, add(sub(e, rotate(B, x)), times(c, w))), w)
            out[b], out[b + 1], out[b + 2] = y
            w = add(w, y)
        put3(twists, i, 0, w)
        put3(twists, i, 3, x)
