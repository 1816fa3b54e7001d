"""The box's walls as a floating body meets them: they stop the corner of its hull that is farthest out.

They do so a cell before the glass: water in a thinner gap has no room on the grid to flow out of it.
"""

import numpy as np

from sim.environment.environment import BodyState
from sim.water.flip.box import Box

_RETURN = 0.2
"""Share of the way out that is taken back at each exchange ..."""
_RETURN_MPS = 0.3
"""... no faster than this."""


def wall_impulse(state: BodyState, vertices_b: np.ndarray, box: Box, dt_s: float) -> np.ndarray:
    """(6,) on the body, body frame, from the four sides and the floor: they only push, and nothing bounces."""
    R, x_w = state.T_wb[:3, :3], state.T_wb[:3, 3]
    corners_w = vertices_b @ R.T + x_w
    low = np.asarray(box.corner_w) + box.cell_m
    high = low + box.size_m - 2.0 * box.cell_m
    mobility = np.linalg.inv(state.inertia_b)
    total = np.zeros(6)
    twist = state.twist_b.copy()
    sides = [(0, 1.0, low[0]), (0, -1.0, high[0]), (1, 1.0, low[1]), (1, -1.0, high[1]), (2, 1.0, low[2])]
    for axis, inwards, place in sides:
        out = inwards * (place - corners_w[:, axis])
        farthest = int(out.argmax())
        if out[farthest] <= 0.0:
            continue
        normal_b = inwards * R[axis]
        lever = np.concatenate([np.cross(vertices_b[farthest], normal_b), normal_b])
        wanted = min(_RETURN * out[farthest] / dt_s, _RETURN_MPS)
        impulse = max((wanted - float(lever @ twist)) / float(lever @ mobility @ lever), 0.0) * lever
        twist += mobility @ impulse
        total += impulse
    return total
