"""Newton's method for a step with the derivative as a matrix: what the linear-time methods are compared with.

The matrix is the exact derivative of the recursion, n^2 by one sweep a column (multibody paper, appendix), solved with
in n^3.
"""

import numpy as np

from sim.compiled import compiled
from sim.multibody.arrays import PRISMATIC, REVOLUTE
from sim.multibody.kinematics import compose, move, place, place_frames
from sim.multibody.newton import blocks, put_tangents
from sim.multibody.recursions import depart, discrete_inverse_dynamics
from sim.multibody.roots import largest, remember
from sim.multibody.spatial import add, clear, copy, entry, put_pair, rotate
from sim.multibody.stepping import active_damping, arrive
from sim.multibody.twists import carried, go_on
from sim.multibody.wrenches import NOWHERE, gather

ITERATIONS_MAX = 30


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


@compiled
def dense_rollout(tree, ws, q, b, history, h, steps, limits, tol):
    """Advance as `stepping.rollout` without inputs, guessed from the step before. Iterations, or -1."""
    place(tree, q, ws.node)
    matrix = np.empty((b.shape[0], b.shape[0]))
    total, order = 0, 0
    d = ws.increments
    for _ in range(steps):
        active_damping(tree, q, limits[1], ws.damping)
        for a in range(b.shape[0]):
            ws.impulse[a] = b[a]
            d[a] = history[a, 0]
        for iteration in range(ITERATIONS_MAX + 1):
            discrete_inverse_dynamics(
                tree, ws.node, d, ws.impulse, ws.damping, h, ws.arc, ws.wrench, ws.residual
            )
            derivative_matrix(tree, ws, q, d, h, matrix)
            change = np.linalg.solve(matrix, ws.residual)
            for a in range(b.shape[0]):
                ws.trial[a] = d[a]
            compose(tree, ws.trial, change, -1.0, d)
            total += 1
            size = largest(change, 1.0)
            if size <= tol:
                break
            if iteration == ITERATIONS_MAX or size == np.inf:
                return -1
        depart(tree, ws.node, d, h, ws.arc, ws.wrench)
        arrive(tree, ws, q, h, limits[0], h, b)
        order = remember(history, ws.missed, order, d)
    return total
