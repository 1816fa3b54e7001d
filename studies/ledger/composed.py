"""Steps of trees of higher order: symmetric compositions of the variational step, which is symmetric.

A step is divided into parts of different lengths, some of them backwards. The order rises, and what the variational
step keeps is kept. Between parts the node's kick changes by half the change of their lengths.
"""

import numpy as np

from sim.multibody.arrays import TreeMotion
from sim.steppers.bound_tree import BoundTree

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
