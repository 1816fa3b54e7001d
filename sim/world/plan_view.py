"""A world from above, in outlines: its water, the foot of its walls, what stands about, its pads. For maps."""

from dataclasses import dataclass

import numpy as np

from sim.world.world import World

_STEP_M = 10.0
_FARTHEST_M = 120.0
_WALL_M = 14.0
"""Height above the water where the side of a canyon counts as a wall."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanOutlines:
    """Closed outlines (n, 2) [m], strips (rows, 2, 2) of two sides each, and places (n, 2)."""

    floor: np.ndarray
    """Strip between the walls of a canyon; none where there are none."""
    water: np.ndarray
    """Strip of river or lake."""
    blocks: tuple[np.ndarray, ...]
    """(4, 2) each: walls, ledges, parked cars."""
    pads: np.ndarray
    """(n, 3) x, y, radius."""
    lap: np.ndarray
    """(n, 2) middle of a closed way; none where there is none."""
    half_m: float | None
    """Of a level ground, all of which fits on a map; None where a map has to move along."""


def outlines(world: World) -> PlanOutlines | None:
    """Of a world; None where there is nothing to find one's way by."""
    pads = np.array([[*pad.centre_w[:2], pad.radius_m] for pad in world.pads]).reshape(-1, 3)
    none = np.zeros((0, 2, 2))
    if world.river is not None:
        terrain, river = world.terrain, world.river
        low = terrain.origin_m[0]
        x = np.arange(low, low + (terrain.heights.shape[1] - 1) * terrain.spacing_m, _STEP_M)
        middle = np.asarray(river.centre(x))
        side = np.array([-river.half_width_m, river.half_width_m])
        water = np.stack([np.broadcast_to(x[:, None], (len(x), 2)), middle[:, None] + side], axis=-1)
        return PlanOutlines(_between_walls(world, x, middle), water, (), pads, np.zeros((0, 2)), None)
    if world.grounds is None:
        return None
    grounds = world.grounds
    blocks = tuple(block.corners for block in grounds.blocks)
    water = none
    if grounds.lake is not None:
        (cx, cy), (hx, hy) = grounds.lake.centre_m, grounds.lake.half_m
        water = np.array([[[cx - hx, cy - hy], [cx - hx, cy + hy]], [[cx + hx, cy - hy], [cx + hx, cy + hy]]])
    return PlanOutlines(none, water, blocks, pads, grounds.lap, float(max(grounds.half_m)))


def _between_walls(world: World, x: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """(n, 2, 2) where the ground first rises above the walls' height on either side of the river."""
    assert world.river is not None
    away = np.arange(0.0, _FARTHEST_M, 2.0)
    sides = []
    for sign in (-1.0, 1.0):
        y = middle[:, None] + sign * away
        high = world.terrain.height(x[:, None] + 0.0 * away, y) > world.river.level_m + _WALL_M
        first = np.where(high.any(axis=1), high.argmax(axis=1), len(away) - 1)
        sides.append(np.stack([x, middle + sign * away[first]], axis=-1))
    return np.stack(sides, axis=1)
