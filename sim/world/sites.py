"""Places on natural ground where something may lie or grow, and what the ground is like there."""

from dataclasses import dataclass

import numpy as np

from sim.world.world import World

_DRY_M = 9.0
"""Where there is no river, what may lie or grow is judged as if it were this far below."""
_MARGIN_M, _CLEAR_OF_GROUNDS_M = 2.0, 4.0


@dataclass(frozen=True, eq=False)
class Sites:
    """(n,) each, in the world's frame."""

    x: np.ndarray
    """m."""
    y: np.ndarray
    z: np.ndarray
    """m, of the ground."""
    upright: np.ndarray
    """Cosine of the slope."""
    above_river_m: np.ndarray
    loose: np.ndarray
    """How much lies loose, 0 to 1."""
    hollow: np.ndarray
    """Curvature, above 0 in hollows."""


def sites(world: World, count: int, rng: np.random.Generator) -> Sites:
    """So many, evenly over a world whose ground has features."""
    assert world.layers is not None
    terrain, layers = world.terrain, world.layers
    low, high = np.array(terrain.low_m) + _MARGIN_M, np.array(terrain.high_m) - _MARGIN_M
    x, y = rng.uniform(low, high, (count, 2)).T
    z, upright = terrain.height(x, y), terrain.normal(x, y)[:, 2]
    above_river_m = z + _DRY_M if world.river is None else z - world.river.level_m
    loose, hollow = terrain.sample(layers.loose, x, y), terrain.sample(layers.curvature, x, y)
    return Sites(x, y, z, upright, above_river_m, loose, hollow)


def kept_free(world: World, at: Sites, around_pads_m: float) -> np.ndarray:
    """(n,) whether a site is clear of landing pads, by that distance [m], and of what people have built."""
    free = np.ones(at.x.size, bool)
    for pad in world.pads:
        free &= np.hypot(at.x - pad.centre_w[0], at.y - pad.centre_w[1]) > around_pads_m
    if world.grounds is not None:
        free &= world.grounds.clear_of(at.x, at.y, _CLEAR_OF_GROUNDS_M)
    return free
