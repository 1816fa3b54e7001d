"""From joint coordinates to frames, increments of coordinates over a step, and twists of bodies under joint
velocities, about the bodies' origins in the world's axes, with the momenta they make."""

import math

from sim.multibody.arrays import FREE, INERTIA, MOMENT, PRISMATIC, REVOLUTE
from sim.multibody.spatial import (
    add,
    cos_sin,
    cross,
    dot,
    entry,
    jit,
    product,
    product_transposed,
    put3,
    put_pair,
    quaternion_matrix,
    quaternion_step,
    rodrigues_compose,
    rodrigues_turn,
    rotate,
    row3,
    row6,
    row9,
    row_of,
    sub,
    sym,
    times,
    turned_sym,
    unrotate,
)
from sim.native.types import LANES, column, eight, eight_of, eight_rows, put_columns


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
def eight_at(n, i):
    """Where eight of n bodies begin with body i among them, none beyond the last; negative where there are no eight."""
    return min(i, n - LANES)


@jit
def eight_rigid(tree, i):
    """The same of bodies that are rigid; negative if there are none."""
    k = eight_at(tree.rigid.shape[0], i)
    if k < 0:
        return k
    for j in range(LANES):
        if not tree.rigid[k + j]:
            return -1
    return k


@jit
def three_columns(a, i):
    return column(a, i, 0), column(a, i, 1), column(a, i, 2)


@jit
def turn_hinges(tree, q, node):
    """Cosines and sines of hinges' angles into the first two columns; of other joints nothing that means anything."""
    n = tree.kind.shape[0]
    i = 0
    while i < n:
        k = eight_at(n, i)
        if k >= 0:
            put_columns(node, k, 0, cos_sin(eight_of(q, tree.q_at, k)))
            i = k + LANES
        else:
            node[i, 0], node[i, 1] = cos_sin(q[tree.q_at[i]])
            i += 1


@entry
def place_frames(tree, q, node):
    """Each body's rotation in the world, and where it is from its parent's origin, in the world's axes."""
    parent, kinds, q_at, placement = tree.parent, tree.kind, tree.q_at, tree.placement
    turn_hinges(tree, q, node)
    last = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    for i in range(kinds.shape[0]):
        a, j = q_at[i], parent[i]
        kind = kinds[i]
        R, p = row9(placement, i, 0), row3(placement, i, 9)
        if j >= 0:
            if j != i - 1:
                last = row9(node, j, 0)
            R, p = product(last, R), rotate(last, p)
        if kind == REVOLUTE:
            c, s = node[i, 0], node[i, 1]
            R = (
                R[0] * c + R[1] * s,
                R[1] * c - R[0] * s,
                R[2],
                R[3] * c + R[4] * s,
                R[4] * c - R[3] * s,
                R[5],
                R[6] * c + R[7] * s,
                R[7] * c - R[6] * s,
                R[8],
            )
        elif kind == PRISMATIC:
            p = add(p, times(q[a], (R[2], R[5], R[8])))
        else:
            if kind == FREE:
                p = add(p, rotate(R, (q[a + 4], q[a + 5], q[a + 6])))
            R = product(R, quaternion_matrix(q[a], q[a + 1], q[a + 2], q[a + 3]))
        for r in range(9):
            node[i, r] = R[r]
        put3(node, i, 9, p)
        last = R


@entry
def place(tree, q, node):
    """`Workspace.node` at coordinates q: the bodies' frames and inertias in the world's axes."""
    place_frames(tree, q, node)
    inertia, moment = tree.inertia, tree.moment
    i = 0
    while i < tree.kind.shape[0]:
        k = eight_rigid(tree, i)
        if k >= 0:
            x = eight_rows(node, k, 0)
            R = (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], column(node, k, 8))
            A, c = turned_sym(R, eight_rows(inertia, k, 0)[:6]), rotate(R, three_columns(moment, k))
            put_columns(node, k, INERTIA, (A[0], A[1], A[2], A[3], A[4], A[5], c[0], c[1]))
            put_columns(node, k, MOMENT + 2, (c[2],))
            i = k + LANES
            continue
        R = row9(node, i, 0)
        A = turned_sym(R, row6(inertia, i, 0))
        for j in range(6):
            node[i, INERTIA + j] = A[j]
        put3(node, i, MOMENT, rotate(R, row3(moment, i, 0)))
        if not tree.rigid[i]:
            B, C = product_transposed(product(R, row9(inertia, i, 6)), R), turned_sym(R, row6(inertia, i, 15))
            for j in range(9):
                node[i, MOMENT + 3 + j] = B[j]
            for j in range(6):
                node[i, MOMENT + 12 + j] = C[j]
        i += 1


@entry
def move(tree, q, d):
    """Coordinates after increments `d` (nv,) of one step, in place.

    Of a ball joint an increment is the Cayley vector of its rotation, of a free one that and the translation in the
    frame that moves; so about h times the twist.
    """
    kinds, q_at, v_at = tree.kind, tree.q_at, tree.v_at
    for i in range(kinds.shape[0]):
        a = q_at[i]
        b = v_at[i]
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            q[a] += d[b]
            continue
        if kind == FREE:
            R = quaternion_matrix(q[a], q[a + 1], q[a + 2], q[a + 3])
            x = rotate(R, (d[b + 3], d[b + 4], d[b + 5]))
            q[a + 4] += x[0]
            q[a + 5] += x[1]
            q[a + 6] += x[2]
        t = (0.5 * d[b], 0.5 * d[b + 1], 0.5 * d[b + 2])
        q[a], q[a + 1], q[a + 2], q[a + 3] = quaternion_step(q[a], q[a + 1], q[a + 2], q[a + 3], t)


@entry
def compose(tree, d, change, scale, out):
    """Increments d followed by the small motion `scale * change` of every joint, on the joint's own group."""
    for i in range(tree.kind.shape[0]):
        compose_joint(tree, d, change, scale, out, i)


@jit
def compose_joint(tree, d, change, scale, out, i):
    """The same of joint i."""
    b = tree.v_at[i]
    kind = tree.kind[i]
    if kind in (REVOLUTE, PRISMATIC):
        out[b] = d[b] + scale * change[b]
        return
    t = (0.5 * d[b], 0.5 * d[b + 1], 0.5 * d[b + 2])
    e = (0.5 * scale * change[b], 0.5 * scale * change[b + 1], 0.5 * scale * change[b + 2])
    if kind == FREE:
        y = (scale * change[b + 3], scale * change[b + 4], scale * change[b + 5])
        # Translation of the Cayley map: (1 + e^ + e e') y / (1 + |e|^2) is R(e) y halfway.
        half = times(0.5, rodrigues_turn(e, y))
        y = add(add(y, half), rodrigues_turn(t, add(y, half)))
        out[b + 3] = d[b + 3] + y[0]
        out[b + 4] = d[b + 4] + y[1]
        out[b + 5] = d[b + 5] + y[2]
    t = rodrigues_compose(t, e)
    out[b] = 2.0 * t[0]
    out[b + 1] = 2.0 * t[1]
    out[b + 2] = 2.0 * t[2]


@jit
def spring_torque(q, c, k):
    """Of a ball joint's spring 2 (k0 x^2 + k1 y^2 + k2 z^2) in the turning frame; its quaternion stands at q[c].

    With equal k it is that of k (1 - cos(angle)).
    """
    w, x, y, z = q[c], q[c + 1], q[c + 2], q[c + 3]
    return (
        -2.0 * (k[0] * x * w + (k[1] - k[2]) * y * z),
        -2.0 * (k[1] * y * w + (k[2] - k[0]) * z * x),
        -2.0 * (k[2] * z * w + (k[0] - k[1]) * x * y),
    )


@jit
def norm(x):
    return math.sqrt(dot(x, x))


@jit
def axis_of(node, i):
    """z of body i, about or along which a hinge or slide moves, in the world."""
    return (node[i, 2], node[i, 5], node[i, 8])


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
