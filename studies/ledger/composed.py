"""Steps of trees of higher order: symmetric compositions of the variational step, which is symmetric, and twelve stages
of eighth order on the accelerations.

Of the first a step is divided into parts of different lengths, some of them backwards. The order rises, and what the
variational step keeps is kept. Between parts the node's kick changes by half the change of their lengths. The second
keep nothing but loops, and take a tenth of the time.
"""

from typing import Any

import numpy as np
from scipy.integrate import DOP853

from sim.multibody.arrays import TreeMotion
from sim.multibody.continuous import accelerate, coordinate_rates
from sim.multibody.kinematics import move
from sim.multibody.loops import close_gaps, keep_closed
from sim.multibody.spatial import entry
from sim.steppers.bound_tree import NO_WRENCHES, BoundTree

ORDER_6 = (
    0.39216144400731413927925056,
    0.33259913678935943859974864,
    -0.70624617255763935980996482,
    0.08221359629355080023149045,
    0.79854399093482996339895035,
)
"""The first five of nine parts (Kahan and Li 1997; Hairer, Lubich and Wanner 2006, V.3.11)."""
ORDER_8 = (
    0.13020248308889008087881763,
    0.56116298177510838456196441,
    -0.38947496264484728640807860,
    0.15884190655515560089621075,
    -0.39590389413323757733623154,
    0.18453964097831570709183254,
    0.25837438768632204729397911,
    0.29501172360931029887096624,
    -0.60550853383003451169892108,
)
"""The first nine of seventeen parts (the same)."""


def advance_composed(
    bound: BoundTree,
    motion: TreeMotion,
    steps: int,
    step_s: float,
    parts: tuple[float, ...],
    *,
    torques: np.ndarray | None = None,
) -> int:
    """`steps` steps in place, `parts` one half of a step with its middle.

    Returns the status of `stepping`; the motion begins and ends with the kick of the tree's own step.
    """
    own = bound.step_s
    lengths = [step_s * part for part in (*parts, *parts[-2::-1])]
    before = own

    def turn(to: float) -> None:
        nonlocal before
        motion.b[:] += 0.5 * (to - before) * bound.node_force(motion.q)
        before = to

    for _ in range(steps):
        for length in lengths:
            turn(length)
            bound.step_s = length
            motion.memory[:] = 0.0
            _, status = bound.advance(motion, 1, torques)
            if status:
                break
    turn(own)
    bound.step_s = own
    return status


_A, _WEIGHTS = np.array(DOP853.A[: DOP853.n_stages, : DOP853.n_stages]), np.array(DOP853.B)
"""Of Dormand and Prince (Hairer, Norsett and Wanner 1993, II.5)."""


@entry
def _twelve_stages(
    tree: Any,
    ws: Any,
    loops: Any,
    closing: Any,
    q: np.ndarray,
    v: np.ndarray,
    torques: np.ndarray,
    none: np.ndarray,
    h: float,
    steps: int,
    A: np.ndarray,
    weights: np.ndarray,
    rates: np.ndarray,
    slopes: np.ndarray,
    tol: float,
) -> None:
    """Rates of the increments about the node where a step begins, and accelerations; then loops are closed to tol."""
    stages, n = A.shape[0], v.shape[0]
    velocity, increment = slopes[stages], rates[stages]
    for _ in range(steps):
        for k in range(stages):
            for a in range(n):
                ahead, along = 0.0, 0.0
                for j in range(k):
                    ahead += A[k, j] * slopes[j, a]
                    along += A[k, j] * rates[j, a]
                velocity[a] = v[a] + h * ahead
                increment[a] = h * along
            for i in range(q.shape[0]):
                ws.q_after[i] = q[i]
            move(tree, ws.q_after, increment)
            accelerate(tree, ws, loops, closing, ws.q_after, velocity, torques, none, slopes[k])
            coordinate_rates(tree, increment, velocity, rates[k])
        for a in range(n):
            ahead, along = 0.0, 0.0
            for j in range(stages):
                ahead += weights[j] * slopes[j, a]
                along += weights[j] * rates[j, a]
            v[a] += h * ahead
            increment[a] = h * along
        move(tree, q, increment)
        if loops.kind.shape[0]:
            close_gaps(tree, ws, loops, closing, loops.kind.shape[0], q, ws.increments, tol)
            keep_closed(tree, ws, loops, closing, q, v)


def advance_explicit(bound: BoundTree, q: np.ndarray, v: np.ndarray, steps: int, torques: np.ndarray) -> None:
    """`steps` steps of twelve stages, of order 8, in place: coordinates q (nq,) and joint velocities v (nv,)."""
    rows = np.zeros((len(_A) + 1, len(v)))
    closing = bound.closing
    _twelve_stages(
        bound.arrays,
        bound.workspace,
        closing.arrays,
        closing.workspace,
        q,
        v,
        torques,
        NO_WRENCHES,
        bound.step_s,
        steps,
        _A,
        _WEIGHTS,
        rows,
        rows.copy(),
        bound.tolerance,
    )
