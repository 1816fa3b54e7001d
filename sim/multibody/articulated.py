"""The articulated-body algorithm (Featherstone): the mass matrix is factorised and solved with in linear time."""

from sim.multibody.arrays import FREE, HUNG, PRISMATIC, REVOLUTE
from sim.multibody.kinematics import NOWHERE, axis_of, hand_up, lifted, own_inertia, parent_twist, take_wrench
from sim.multibody.spatial import (
    add,
    cross,
    cross_columns,
    dot,
    entry,
    full,
    inverse_sym,
    jit,
    product,
    put_pair,
    rotate,
    row3,
    row6,
    row9,
    row_of,
    sub,
    sum9,
    sym,
    times,
    unrotate,
)

NO_INERTIA = (
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
)
"""As three blocks of a symmetric 6x6 matrix: see `TreeArrays.inertia`."""


@jit
def lift(p, A, B, C):
    """Inertia blocks about the parent's origin, from which the body's is at p."""
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
def outer_less(S, e, x):
    """S - e x' of a symmetric matrix, e along x."""
    return (
        S[0] - e[0] * x[0],
        S[1] - e[0] * x[1],
        S[2] - e[0] * x[2],
        S[3] - e[1] * x[1],
        S[4] - e[1] * x[2],
        S[5] - e[2] * x[2],
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
def sum6(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


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

    With joint damping the matrix is M + h/2 diag(damping); rotors' inertia is part of M.
    """
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n_bodies = parent.shape[0]
    armature = tree.armature
    last = NO_INERTIA
    for i in range(n_bodies - 1, -1, -1):
        A, B, C = own_inertia(tree, node, i)
        A, B, C = sum6(A, last[0]), sum9(B, last[1]), sum6(C, last[2])
        if articulated[i, HUNG] != 0.0:
            A, B, C = (
                sum6(A, row6(articulated, i, 0)),
                sum9(B, row9(articulated, i, 6)),
                sum6(C, row6(articulated, i, 15)),
            )
            for m in range(HUNG + 1):
                articulated[i, m] = 0.0
        last = NO_INERTIA
        c = 0.5 * h * damping[v_at[i]] + armature[v_at[i]]
        kind, j = kinds[i], parent[i]
        p = row3(node, i, 9)
        if kind in (REVOLUTE, PRISMATIC):
            z = axis_of(node, i)
            if kind == REVOLUTE:
                x, y = sym(A, z), unrotate(B, z)
                k = 1.0 / (dot(z, x) + c)
            else:
                x, y = rotate(B, z), sym(C, z)
                k = 1.0 / (dot(z, y) + c)
            x = add(x, cross(p, y))
            e, f = times(k, x), times(k, y)
            put_pair(factor, i, e, f)
            factor[i, 6] = k
            if j < 0:
                continue
            A, B, C = lift(p, A, B, C)
            A, C = outer_less(A, e, x), outer_less(C, f, y)
            B = (
                B[0] - e[0] * y[0],
                B[1] - e[0] * y[1],
                B[2] - e[0] * y[2],
                B[3] - e[1] * y[0],
                B[4] - e[1] * y[1],
                B[5] - e[1] * y[2],
                B[6] - e[2] * y[0],
                B[7] - e[2] * y[1],
                B[8] - e[2] * y[2],
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
            if j < 0:
                continue
            k = c * c
            A = (c - k * I[0], -k * I[1], -k * I[2], c - k * I[3], -k * I[4], c - k * I[5])
            B = (c * T[0], c * T[1], c * T[2], c * T[3], c * T[4], c * T[5], c * T[6], c * T[7], c * T[8])
            A, B, C = lift(p, A, B, C)
        if j == i - 1:
            last = A, B, C
            continue
        for k in range(6):
            articulated[j, k] += A[k]
            articulated[j, 15 + k] += C[k]
        for k in range(9):
            articulated[j, 6 + k] += B[k]
        articulated[j, HUNG] = 1.0


@entry
def solve(tree, node, damping, h, factor, r, wrench, spare, twists, out):
    """out = (M + h/2 diag(damping))^-1 (r + what `wrench` does at the joints), by the factors of `factorise`.

    `wrench` (n, 6): further impulses on the bodies, about their origins; cleared. r and out may be the same array.
    `twists` (n, >= 6) gets the bodies' twists under the joint velocities `out`.
    """
    collect(tree, node, damping, h, factor, r, wrench, spare)
    last = NOWHERE
    for i in range(tree.parent.shape[0]):
        last = respond(tree, node, damping, h, factor, spare, twists, out, i, last)


@jit
def collect(tree, node, damping, h, factor, r, wrench, spare):
    """The way of `solve` from the leaves to the root: what is left for each joint, in spare (nv,)."""
    parent, kinds, v_at, armature = tree.parent, tree.kind, tree.v_at, tree.armature
    last = NOWHERE
    for i in range(parent.shape[0] - 1, -1, -1):
        f, g = take_wrench(wrench, i, last)
        b = v_at[i]
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            e = r[b] + dot(axis_of(node, i), f if kind == REVOLUTE else g)
            spare[b] = e * factor[i, 6]
            f = sub(lifted(node, i, f, g), times(e, row3(factor, i, 0)))
            g = sub(g, times(e, row3(factor, i, 3)))
        else:
            R = row9(node, i, 0)
            own = rotate(R, row_of(r, b))
            e = add(own, f)
            spare[b], spare[b + 1], spare[b + 2] = e
            if kind == FREE:
                f, own = times(-1.0, own), rotate(R, row_of(r, b + 3))
                spare[b + 3], spare[b + 4], spare[b + 5] = add(own, g)
                g = times(-1.0, own)
            else:
                t = sym(row6(factor, i, 0), e)
                c = 0.5 * h * damping[b] + armature[b]
                f = sub(f, sub(e, times(c, t)))
                g = sub(g, unrotate(row9(factor, i, 6), t))
            f = lifted(node, i, f, g)
        last = hand_up(parent[i], wrench, i, f, g)


@jit
def respond(tree, node, damping, h, factor, spare, twists, out, i, last):
    """One body of the way back of `solve`: its twist; `last`: that of body i - 1."""
    w, x = parent_twist(tree.parent[i], i, twists, last)
    b = tree.v_at[i]
    kind = tree.kind[i]
    hinged = kind in (REVOLUTE, PRISMATIC)
    y = spare[b] - (dot(row3(factor, i, 0), w) + dot(row3(factor, i, 3), x)) if hinged else 0.0
    x = sub(x, cross(row3(node, i, 9), w))
    if hinged:
        out[b] = y
        z = times(y, axis_of(node, i))
        if kind == REVOLUTE:
            w = add(w, z)
        else:
            x = add(x, z)
    else:
        R = row9(node, i, 0)
        I, B = row6(factor, i, 0), row9(factor, i, 6)
        e = row_of(spare, b)
        if kind == FREE:
            z = sym(row6(factor, i, 15), sub(row_of(spare, b + 3), unrotate(B, sym(I, e))))
            out[b + 3], out[b + 4], out[b + 5] = unrotate(R, sub(z, x))
            x = z
            c = 0.0
        else:
            c = 0.5 * h * damping[b] + tree.armature[b]
        y = sub(sym(I, add(sub(e, rotate(B, x)), times(c, w))), w)
        out[b], out[b + 1], out[b + 2] = unrotate(R, y)
        w = add(w, y)
    put_pair(twists, i, w, x)
    return w, x
