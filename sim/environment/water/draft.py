"""How deep a hull floats in still water."""

import numpy as np

from sim.environment.hull import Hull
from sim.environment.immersion import FOUND, RESISTANCES, VERTEX_WIDTH, VOLUME, WATER_DENSITY, WET, sum_hull
from sim.platform.errors import InputError


def at_rest(hull: Hull, mass: float) -> tuple[float, float]:
    """(height of the origin over still water [m], wetted area [m^2]) where a mass floats upright.

    Raises InputError where the hull is too small for it.
    """
    if WATER_DENSITY * hull.volume_m3 <= mass:
        raise InputError(
            f"{mass:g} kg sink: the hull holds {hull.volume_m3:.4g} m^3; allowed: less than its volume in water weighs"
        )
    rows = np.zeros((len(hull.vertices), VERTEX_WIDTH))
    rows[:, :3] = hull.vertices
    numbers, load, damping, found = np.ones(RESISTANCES), np.empty(6), np.empty((6, 6)), np.empty(FOUND)
    cuts = np.empty((2, VERTEX_WIDTH))
    low, high = -hull.reach_m, hull.reach_m
    for _ in range(60):
        height = 0.5 * (low + high)
        rows[:, 3] = -height - rows[:, 2]
        sum_hull(rows, hull.triangles, np.zeros(6), 0.0, 0.0, numbers, cuts, load, damping, found)
        low, high = (height, high) if WATER_DENSITY * found[VOLUME] > mass else (low, height)
    return height, float(found[WET])
