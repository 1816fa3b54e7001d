"""Newton's method for a step in linear time: the exact derivative of the recursion, eliminated from the leaves on.

The impulse on a body and what hangs on it is, to first order in the body's displacement zeta (a twist about its origin
where it arrives, in the world's axes), K zeta + g with a 6x6 matrix K that is not symmetric: an articulated-body
inertia of the discrete equations. Wrenches travel to the parent by the places of the node, displacements from the
parent by those at the end of the step (multibody paper, appendix; here solved instead of assembled).
"""

from sim.multibody.arrays import FREE, PRISMATIC, REVOLUTE
from sim.multibody.kinematics import (
    NOWHERE,
    axis_of,
    carried,
    hand_up,
    lifted,
    momentum,
    own_inertia,
    take_wrench,
)
from sim.multibody.recursions import leaving
from sim.multibody.spatial import (
    add,
    aside,
    cross,
    cross_columns,
    dot,
    full,
    jit,
    product,
    product_transposed,
    put3,
    put_pair,
    rotate,
    row3,
    row9,
    row_of,
    sub,
    sum9,
    times,
    unrotate,
)


@jit
def scaled(k, a):
    return (k * a[0], k * a[1], k * a[2], k * a[3], k * a[4], k * a[5], k * a[6], k * a[7], k * a[8])


@jit
def transposed(a):
    return (a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8])


@jit
def hat(x):
    return (0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0)


@jit
def rank_one(x, y):
    """x y'."""
    return (
        x[0] * y[0],
        x[0] * y[1],
        x[0] * y[2],
        x[1] * y[0],
        x[1] * y[1],
        x[1] * y[2],
        x[2] * y[0],
        x[2] * y[1],
        x[2] * y[2],
    )


@jit
def less9(a, b):
    return sum9(a, scaled(-1.0, b))


@jit
def inverse(a):
    x, y, z = (a[0], a[1], a[2]), (a[3], a[4], a[5]), (a[6], a[7], a[8])
    p, q, r = cross(y, z), cross(z, x), cross(x, y)
    k = 1.0 / dot(x, p)
    return (k * p[0], k * q[0], k * r[0], k * p[1], k * q[1], k * r[1], k * p[2], k * q[2], k * r[2])


@jit
def one_plus(u, quadratic):
    """1 + [u]x, and u u' where asked for."""
    q = quadratic
    return (
        1.0 + q * u[0] * u[0],
        -u[2] + q * u[0] * u[1],
        u[1] + q * u[0] * u[2],
        u[2] + q * u[0] * u[1],
        1.0 + q * u[1] * u[1],
        -u[0] + q * u[1] * u[2],
        -u[1] + q * u[0] * u[2],
        u[0] + q * u[1] * u[2],
        1.0 + q * u[2] * u[2],
    )


@jit
def turning_slope(u, n):
    """Derivative by u of (1 + [u]x + u u') n."""
    k = dot(u, n)
    return sum9(less9(rank_one(u, n), hat(n)), (k, 0.0, 0.0, 0.0, k, 0.0, 0.0, 0.0, k))


@jit
def body_tangent(tree, node, i, u, s, h):
    """Four 3x3 blocks: derivative of a body's leaving momentum by its displacement."""
    g = 2.0 / h
    n, l = momentum(tree, node, i, times(g, u), times(g, s))
    A, B, C = own_inertia(tree, node, i)
    A, B, C = scaled(g, full(A)), scaled(g, B), scaled(g, full(C))
    Q, E = one_plus(u, 1.0), one_plus(u, 0.0)
    sE = cross_columns(s, E)
    _, hl = leaving(u, s, n, l)
    # By (u, s): C' G, and the derivative of C' at a momentum that stays.
    slope = less9(turning_slope(u, n), cross_columns(s, hat(l)))
    P00 = sum9(sum9(product(Q, A), product(sE, transposed(B))), slope)
    P01 = less9(sum9(product(Q, B), product(sE, C)), hat(hl))
    P10 = less9(product(E, transposed(B)), hat(l))
    P11 = product(E, C)
    # (u, s) by the displacement: C(-x) / 2.
    Es = product(E, hat(s))
    return (
        scaled(0.5, sum9(product(P00, Q), product(P01, Es))),
        scaled(0.5, product(P01, E)),
        scaled(0.5, sum9(product(P10, Q), product(P11, Es))),
        scaled(0.5, product(P11, E)),
    )


@jit
def put_tangents(tree, node, after, h, arc, tangent):
    """Of all bodies, by their displacements in the world's axes at the end, where `after` has their frames."""
    for i in range(tree.parent.shape[0]):
        K = body_tangent(tree, node, i, row3(arc, i, 0), row3(arc, i, 3), h)
        turn = product_transposed(row9(after, i, 0), row9(node, i, 0))
        for k in range(4):
            put9(tangent, i, 9 * k, product_transposed(K[k], turn))
    for m in range(tree.rotor_carriers.shape[0]):
        i = tree.rotor_carriers[m]
        R, u = row9(node, i, 0), row3(arc, i, 0)
        K00 = product(turning_slope(u, rotate(R, row3(tree.rotors, m, 0))), one_plus(u, 1.0))
        K00 = product_transposed(scaled(0.5, K00), product_transposed(row9(after, i, 0), R))
        put9(tangent, i, 0, sum9(row9(tangent, i, 0), K00))


@jit
def blocks(a, i):
    return row9(a, i, 0), row9(a, i, 9), row9(a, i, 18), row9(a, i, 27)


@jit
def put9(a, i, j, x):
    for k in range(9):
        a[i, j + k] = x[k]


@aside
def factorise_tangent(tree, node, after, d, damping, h, arc, tangent, left):
    """Eliminate joint after joint; `left` keeps what `solve_tangent` needs. `after`: frames at the end of the step."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    armature = tree.armature
    n = parent.shape[0]
    put_tangents(tree, node, after, h, arc, tangent)
    for i in range(n - 1, -1, -1):
        K00, K01, K10, K11 = blocks(tangent, i)
        b = v_at[i]
        a = armature[b] / h
        c = 0.5 * damping[b] + a
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            z, moved = axis_of(node, i), axis_of(after, i)
            if kind == REVOLUTE:
                row, row_l = unrotate(K00, z), unrotate(K01, z)
                col, col_l = rotate(K00, moved), rotate(K10, moved)
                k = 1.0 / (dot(z, col) + c)
            else:
                row, row_l = unrotate(K10, z), unrotate(K11, z)
                col, col_l = rotate(K01, moved), rotate(K11, moved)
                k = 1.0 / (dot(z, col_l) + c)
            put_pair(left, i, row, row_l)
            put3(left, i, 6, col)
            put3(left, i, 9, col_l)
            left[i, 12] = k
            col, col_l = times(k, col), times(k, col_l)
            K00, K01 = less9(K00, rank_one(col, row)), less9(K01, rank_one(col, row_l))
            K10, K11 = less9(K10, rank_one(col_l, row)), less9(K11, rank_one(col_l, row_l))
        elif kind == FREE:
            I = inverse(K00)
            put9(left, i, 0, I)
            put9(left, i, 9, K01)
            put9(left, i, 18, K10)
            put9(left, i, 27, inverse(less9(K11, product(product(K10, I), K01))))
            continue  # what hangs on a free joint does not load its parent
        else:
            D = K00
            if c != 0.0:
                u = times(0.5, row_of(d, b))
                k = dot(u, u)
                own = scaled(c + a * k, one_plus(u, 1.0))
                own = sum9(own, scaled(2.0 * a * (1.0 + k), rank_one(u, u)))
                D = sum9(K00, product_transposed(product(row9(node, i, 0), own), row9(after, i, 0)))
            I = inverse(D)
            put9(left, i, 0, I)
            put9(left, i, 9, K01)
            put9(left, i, 18, K10)
            put9(left, i, 27, K00)
            X, Y = product(K00, I), product(K10, I)
            K10, K11 = less9(K10, product(Y, K00)), less9(K11, product(Y, K01))
            K00, K01 = less9(K00, product(X, K00)), less9(K01, product(X, K01))
        j = parent[i]
        if j < 0:
            continue
        # From the parent's displacement: v' = v - p x omega, with the places at the end.
        shift = hat(row3(after, i, 9))
        K00, K10 = less9(K00, product(K01, shift)), less9(K10, product(K11, shift))
        # To the parent's wrench, with the places at the node.
        p = row3(node, i, 9)
        K00, K01 = sum9(K00, cross_columns(p, K10)), sum9(K01, cross_columns(p, K11))
        for k in range(9):
            tangent[j, k] += K00[k]
            tangent[j, 9 + k] += K01[k]
            tangent[j, 18 + k] += K10[k]
            tangent[j, 27 + k] += K11[k]


@aside
def solve_tangent(tree, node, after, left, r, wrench, spare, twists, out):
    """out: the joints' small motions whose impulses are r, by the factors of `factorise_tangent`."""
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n = parent.shape[0]
    last = NOWHERE
    for i in range(n - 1, -1, -1):
        f, g = take_wrench(wrench, i, last)
        b = v_at[i]
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            e = r[b] - dot(axis_of(node, i), f if kind == REVOLUTE else g)
            spare[b] = e
            e *= left[i, 12]
            f, g = add(f, times(e, row3(left, i, 6))), add(g, times(e, row3(left, i, 9)))
        else:
            R = row9(node, i, 0)
            own = rotate(R, row_of(r, b))
            e = sub(own, f)
            spare[b], spare[b + 1], spare[b + 2] = e
            if kind == FREE:
                f, own = own, rotate(R, row_of(r, b + 3))
                spare[b + 3], spare[b + 4], spare[b + 5] = sub(own, g)
                g = own
            else:
                t = rotate(row9(left, i, 0), e)
                f, g = add(f, rotate(row9(left, i, 27), t)), add(g, rotate(row9(left, i, 18), t))
        last = hand_up(parent[i], wrench, i, lifted(node, i, f, g), g)
    last = NOWHERE
    for i in range(n):
        w, x = carried(parent[i], after, i, twists, last)
        b = v_at[i]
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            y = left[i, 12] * (spare[b] - dot(row3(left, i, 0), w) - dot(row3(left, i, 3), x))
            out[b] = y
            z = times(y, axis_of(after, i))
            if kind == REVOLUTE:
                w = add(w, z)
            else:
                x = add(x, z)
        elif kind == FREE:
            I, K01, K10, S = blocks(left, i)
            e = row_of(spare, b)
            z = rotate(S, sub(row_of(spare, b + 3), rotate(K10, rotate(I, e))))
            y = rotate(I, sub(e, rotate(K01, z)))
            R = row9(after, i, 0)
            out[b], out[b + 1], out[b + 2] = unrotate(R, sub(y, w))
            out[b + 3], out[b + 4], out[b + 5] = unrotate(R, sub(z, x))
            w, x = y, z
        else:
            I, K01, _, K00 = blocks(left, i)
            y = rotate(I, sub(sub(row_of(spare, b), rotate(K00, w)), rotate(K01, x)))
            out[b], out[b + 1], out[b + 2] = unrotate(row9(after, i, 0), y)
            w = add(w, y)
        put_pair(twists, i, w, x)
        last = w, x
