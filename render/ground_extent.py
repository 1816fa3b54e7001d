"""How far a world's ground reaches for whoever lights it, and where its materials take the water to be."""

import numpy as np

from sim.world import World

_NO_WATER_M = -1e4
_DRY_GROUND_M = -2.2
"""Level ground in the desert is as sandy as a bank this far above water."""
_AROUND_GROUNDS_M = 25.0
"""Shadows of small things need a fine map: that of a level ground reaches no further than this around it."""


def ground_bounds_m(world: World) -> tuple[np.ndarray, np.ndarray]:
    """Low and high corner (3,) of the ground, with room for what stands on it; of a level ground only what is near."""
    terrain = world.terrain
    low = np.array([*terrain.origin_m, float(terrain.heights.min())])
    extent = np.array(terrain.heights.shape[::-1]) - 1.0
    grounds = getattr(world, "grounds", None)
    if grounds is not None:
        half = np.array(grounds.half_m) + _AROUND_GROUNDS_M
        return np.array([*-half, -5.0]), np.array([*half, 25.0])
    return low, np.array([*(low[:2] + extent * terrain.spacing_m), float(terrain.heights.max()) + 6.0])


def material_water_level_m(world: World) -> float:
    """Of river or lake; or what the materials of the ground take for it."""
    if world.water_level_m is not None:
        return world.water_level_m
    return _DRY_GROUND_M if getattr(world, "grounds", None) is not None else _NO_WATER_M
