"""Newton's method for a step with the derivative as a matrix: what the linear-time methods are compared with.

The matrix is the exact derivative of the recursion, n^2 by one sweep a column (multibody paper, appendix), solved with
in n^3.
"""

from typing import NamedTuple

import numpy as np

from sim.compiler.robust import solve_in_place
from sim.multibody.arrays import MOMENT, NODE, PRISMATIC, REVOLUTE
from sim.multibody.kinematics import (
    NOWHERE,
    axis_of,
    carried,
    compose,
    gather,
    go_on,
    momentum,
    move,
    place,
    place_frames,
)
from sim.multibody.newton import blocks, put_tangents
from sim.multibody.recursions import depart, discrete_inverse_dynamics
from sim.multibody.roots import largest, remember
from sim.multibody.spatial import (
    add,
    clear,
    copy,
    cross,
    dot,
    entry,
    jit,
    put_pair,
    rotate,
    row3,
    row_of,
    sub,
    times,
)
from sim.multibody.stepping import active_damping, arrive
from sim.multibody.tree import Tree
from sim.native.function import native
from sim.platform.errors import InputError

DENSE_ITERATIONS_MAX = 30


@entry
def derivative_matrix(tree, ws, q, d, h, out):
    """out (nv, nv): derivative of the residual impulses by the joints' small motions after increments d.

    Of hinges, slides, ball and free joints; damping and rotors of ball joints are left out. `ws.arc` is that of d.
    """
    parent, kinds, v_at = tree.parent, tree.kind, tree.v_at
    n = parent.shape[0]
    copy(q, ws.q_after)
    move(tree, ws.q_after, d)
    place_frames(tree, ws.q_after, ws.after)
    put_tangents(tree, ws.node, ws.after, h, ws.arc, ws.tangent)
    for a in range(d.shape[0]):
        clear(ws.change)
        ws.change[a] = 1.0
        last = NOWHERE
        for i in range(n):
            w, x = carried(parent[i], ws.after, i, ws.left, last)
            w, x = go_on(tree, ws.after, i, ws.change, w, x)
            put_pair(ws.left, i, w, x)
            last = w, x
            K00, K01, K10, K11 = blocks(ws.tangent, i)
            put_pair(ws.wrench, i, add(rotate(K00, w), rotate(K01, x)), add(rotate(K10, w), rotate(K11, x)))
        gather(tree, ws.node, ws.wrench, ws.spare)
        for c in range(d.shape[0]):
            out[c, a] = ws.spare[c]
    for i in range(n):
        if kinds[i] in (REVOLUTE, PRISMATIC):
            a = v_at[i]
            out[a, a] += 0.5 * ws.damping[a] + tree.armature[a] / h


def dense_rollout(tree, ws, motion, h, steps, tol):
    """Advance as `stepping.rollout` without inputs, guessed from the step before. Iterations, or -1."""
    n = len(motion.b)
    return _dense_rollout(tree, ws, motion, h, steps, tol, np.empty((n, n)), np.empty(n))


@native
def _dense_rollout(tree, ws, motion, h, steps, tol, matrix, change):
    q, b, history = motion.q, motion.b, motion.history
    place(tree, q, ws.node)
    total, order = 0, 0
    d = ws.increments
    for _ in range(steps):
        active_damping(tree, q, ws.damping)
        for a in range(b.shape[0]):
            ws.impulse[a] = b[a]
            d[a] = history[a, 0]
        for iteration in range(DENSE_ITERATIONS_MAX + 1):
            discrete_inverse_dynamics(
                tree, ws.node, d, ws.impulse, ws.damping, h, ws.arc, ws.wrench, ws.residual
            )
            derivative_matrix(tree, ws, q, d, h, matrix)
            copy(ws.residual, change)
            solve_in_place(matrix, change, change.shape[0])
            for a in range(b.shape[0]):
                ws.trial[a] = d[a]
            compose(tree, ws.trial, change, -1.0, d)
            total += 1
            size = largest(change, 1.0)
            if size <= tol:
                break
            if iteration == DENSE_ITERATIONS_MAX or size == np.inf:
                return -1
        depart(tree, ws.node, d, h, ws.arc, ws.wrench)
        arrive(tree, ws, q, h, b)
        order = remember(history, ws.missed, order, d)
    return total


ITERATIONS_MAX = 30


class ScalableWorkspace(NamedTuple):
    """What a step writes."""

    node: np.ndarray
    """(n, NODE) at the midpoint, as `Workspace.node`."""
    twists: np.ndarray
    """(n, 6)"""
    speeds: np.ndarray
    """(n, n, 6) J_bi."""
    slopes: np.ndarray
    """(n, n, 6) D_bi."""
    middle: np.ndarray
    """(n,) coordinates, then velocities in `speed`."""
    speed: np.ndarray
    by_q: np.ndarray
    """(n,) dL/dq."""
    by_v: np.ndarray
    """(n,) dL/dv."""
    derivative: np.ndarray
    """(n, n) of the residual."""


def scalable_workspace(tree: Tree) -> ScalableWorkspace:
    """Room for one lane. Raises InputError for a tree that has more than hinges and slides, gravity and armatures."""
    a, n = tree.arrays, tree.n
    if not np.isin(a.kind, (REVOLUTE, PRISMATIC)).all():
        raise InputError("the scalable variational integrator has hinges and slides alone")
    if a.damping.any() or a.stiffness.any() or np.isfinite(a.limits).any():
        raise InputError("the scalable variational integrator has neither damping, springs nor limits")
    if a.rotors.any():
        raise InputError("the scalable variational integrator has no rotors that spin in bodies")
    one, pairs = np.zeros(n), np.zeros((n, n, 6))
    return ScalableWorkspace(
        node=np.zeros((n, NODE)),
        twists=np.zeros((n, 6)),
        speeds=pairs,
        slopes=pairs.copy(),
        middle=one,
        speed=one.copy(),
        by_q=one.copy(),
        by_v=one.copy(),
        derivative=np.zeros((n, n)),
    )


@jit
def twist(columns, b, i):
    return (
        (columns[b, i, 0], columns[b, i, 1], columns[b, i, 2]),
        (columns[b, i, 3], columns[b, i, 4], columns[b, i, 5]),
    )


@jit
def put_twist(columns, b, i, w, x):
    columns[b, i, 0], columns[b, i, 1], columns[b, i, 2] = w
    columns[b, i, 3], columns[b, i, 4], columns[b, i, 5] = x


@entry
def midpoint_slopes(tree, sw, q0, q1, h):
    """sw.by_q and sw.by_v: dL/dq and dL/dv halfway from q0 to q1, and the columns they are made of."""
    parent, kinds, armature = tree.parent, tree.kind, tree.armature
    mass, down = tree.mass, row_of(tree.gravity_w, 0)
    by_q, by_v, speeds, slopes = sw.by_q, sw.by_v, sw.speeds, sw.slopes
    n = parent.shape[0]
    for i in range(n):
        sw.middle[i] = 0.5 * (q0[i] + q1[i])
        sw.speed[i] = (q1[i] - q0[i]) / h
        by_q[i] = 0.0
        by_v[i] = armature[i] * sw.speed[i]
    place(tree, sw.middle, sw.node)
    last = NOWHERE
    for b in range(n):
        j = parent[b]
        p, z = row3(sw.node, b, 9), axis_of(sw.node, b)
        w, x = carried(j, sw.node, b, sw.twists, last)
        v = sw.speed[b]
        if kinds[b] == REVOLUTE:
            put_twist(speeds, b, b, z, (0.0, 0.0, 0.0))
            put_twist(slopes, b, b, cross(w, z), cross(x, z))
            w = add(w, times(v, z))
        else:
            put_twist(speeds, b, b, (0.0, 0.0, 0.0), z)
            put_twist(slopes, b, b, (0.0, 0.0, 0.0), cross(w, z))
            x = add(x, times(v, z))
        put_pair(sw.twists, b, w, x)
        last = w, x
        f, l = momentum(tree, sw.node, b, w, x)
        torque, force = cross(row3(sw.node, b, MOMENT), down), times(mass[b], down)
        i = b
        while i >= 0:
            if i != b:
                w, x = twist(speeds, j, i)
                put_twist(speeds, b, i, w, sub(x, cross(p, w)))
                w, x = twist(slopes, j, i)
                put_twist(slopes, b, i, w, sub(x, cross(p, w)))
            w, x = twist(speeds, b, i)
            by_v[i] += dot(w, f) + dot(x, l)
            by_q[i] += dot(w, torque) + dot(x, force)
            w, x = twist(slopes, b, i)
            by_q[i] += dot(w, f) + dot(x, l)
            i = parent[i]


@entry
def residual_derivative(tree, sw, h):
    """sw.derivative: of dL/dv - h/2 dL/dq by q1, after `midpoint_slopes`."""
    parent, mass, armature, down = tree.parent, tree.mass, tree.armature, row_of(tree.gravity_w, 0)
    speeds, slopes, out = sw.speeds, sw.slopes, sw.derivative
    n = parent.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
        out[i, i] = armature[i] / h
    for b in range(n):
        f, l = momentum(tree, sw.node, b, row3(sw.twists, b, 0), row3(sw.twists, b, 3))
        j = b
        while j >= 0:
            w, x = twist(speeds, b, j)
            wd, xd = twist(slopes, b, j)
            fv, lv = momentum(tree, sw.node, b, w, x)
            fq, lq = momentum(tree, sw.node, b, wd, xd)
            # What the momentum does with a further turn of joint j: -ad(J_j)' mu.
            ft, lt = add(cross(w, f), cross(x, l)), cross(w, l)
            ft, lt = add(fq, ft), add(lq, lt)
            e = cross(add(times(mass[b], x), cross(w, row3(sw.node, b, MOMENT))), down)
            # dL/dv dv of the pair, over h; dL/dv dq less its transpose, half; dL/dq dq, -h/4.
            vv = dot(w, fv) + dot(x, lv)
            qq = dot(wd, ft) + dot(xd, lt) + dot(w, e)
            out[j, j] += vv / h - 0.25 * h * qq
            i = parent[j]
            while i >= 0:
                wi, xi = twist(speeds, b, i)
                wid, xid = twist(slopes, b, i)
                vv = dot(wi, fv) + dot(xi, lv)
                qq = dot(wid, ft) + dot(xid, lt) + dot(wi, e)
                across = 0.5 * (dot(wi, ft) + dot(xi, lt) - dot(wid, fv) - dot(xid, lv))
                even = vv / h - 0.25 * h * qq
                out[i, j] += even + across
                out[j, i] += even - across
                i = parent[i]
            j = parent[j]


def scalable_rollout(tree, sw, q, p, guess, h, steps, tol):
    """Advance coordinates q and momenta p (n,) in place; `guess` (n,) holds the last increments. Iterations, or -1."""
    return _scalable_rollout(tree, sw, q, p, guess, h, steps, tol, *np.empty((3, len(q))))


@native
def _scalable_rollout(tree, sw, q, p, guess, h, steps, tol, q1, r, change):
    total = 0
    n = q.shape[0]
    for _ in range(steps):
        for i in range(n):
            q1[i] = q[i] + guess[i]
        for iteration in range(ITERATIONS_MAX + 1):
            midpoint_slopes(tree, sw, q, q1, h)
            for i in range(n):
                r[i] = sw.by_v[i] - 0.5 * h * sw.by_q[i] - p[i]
            residual_derivative(tree, sw, h)
            copy(r, change)
            solve_in_place(sw.derivative, change, n)
            size = 0.0
            for i in range(n):
                q1[i] -= change[i]
                size = max(size, abs(change[i]))
            total += 1
            if size <= tol:
                break
            if iteration == ITERATIONS_MAX or not np.isfinite(size):
                return -1
        midpoint_slopes(tree, sw, q, q1, h)
        for i in range(n):
            p[i] = sw.by_v[i] + 0.5 * h * sw.by_q[i]
            guess[i] = q1[i] - q[i]
            q[i] = q1[i]
    return total
