"""Whether a body's points went through the ground between two poses."""

import numpy as np

from sim.compiled import quick, taken_in_quick
from sim.contact.rows import all_finite, world_point
from sim.contact.surface import MARCH_LIMIT, surface_height, surface_normal

PASSED_M = 0.02
"""Deeper than that a point has gone through; less is what contact leaves over where planes meet."""


_STEEPEST = 20.0
"""Rise over run of ground that is still told apart from a wall: 87 degrees."""


@taken_in_quick
def goes_nowhere(begin: np.ndarray, end: np.ndarray, moved: float, frame: np.ndarray) -> bool:
    """Whether no point of a body can have gone PASSED_M deeper between two poses, whose places are `moved` apart.

    frame[6]: no point is farther from the origin [m].
    """
    turned = 0.0
    for k in range(9):
        turned += abs(end[k] - begin[k])
    return (moved + turned * frame[6]) * (1.0 + _STEEPEST) < PASSED_M


@quick
def passes_through(
    begin: np.ndarray,
    end: np.ndarray,
    heights: np.ndarray,
    frame: np.ndarray,
    points: np.ndarray,
    ceiling: float,
) -> bool:
    """Whether a straight way of a point, from its place at one pose (12,) to that at the other, leads deeper into the
    ground than PASSED_M below where it began.

    No ground that they come by is higher than `ceiling`. The ways are sampled once a cell; poses are R_wb
    column-major, then x_w. A pose that is not finite counts.
    """
    if not all_finite(end):
        return True
    for k in range(points.shape[0]):
        r = points[k]
        z = begin[11] + begin[2] * r[0] + begin[5] * r[1] + begin[8] * r[2]
        to_z = end[11] + end[2] * r[0] + end[5] * r[1] + end[8] * r[2]
        if min(z, to_z) > ceiling - PASSED_M:
            continue
        x, y, _ = world_point(begin, r)
        to_x, to_y, _ = world_point(end, r)
        dx, dy, dz = to_x - x, to_y - y, to_z - z
        deepest = min(z - surface_height(heights, frame, x, y), 0.0) - PASSED_M
        pieces = min(int(max(abs(dx), abs(dy)) / frame[2]) + 1, MARCH_LIMIT)
        for i in range(1, pieces + 1):
            share = i / pieces
            at_x, at_y = x + share * dx, y + share * dy
            above = z + share * dz - surface_height(heights, frame, at_x, at_y)
            if above < deepest and above * surface_normal(heights, frame, at_x, at_y)[2] < deepest:
                return True
    return False
