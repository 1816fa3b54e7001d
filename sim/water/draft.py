"""How deep a hull floats in still water, and at what heel and trim."""

from functools import lru_cache

import numpy as np

from sim.platform.errors import InputError
from sim.vehicle_config.hull import Hull
from sim.water.immersion import (
    FOUND,
    GRAVITY,
    RESISTANCES,
    VERTEX_WIDTH,
    VOLUME,
    WATER_DENSITY,
    WET,
    sum_hull,
)


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


_NEWTON_STEPS = 60
_DIFFERENCE = 1e-5
_MOST_CHANGE = 0.05
"""Of a Newton step [m, rad]: moments of a deck that comes under water are far from linear."""
_LEFT = 1e-9
"""Share of the weight that may be left over."""


@lru_cache(maxsize=32)
def afloat(hull: Hull, mass: float) -> np.ndarray:
    """(4, 4) body to world of a mass that floats in equilibrium, its middle at the origin, near to upright; z = 0 is
    still water. Do not write to it.

    Heave, heel and trim make up for each other (Newton's method). Where the hull does not right itself within a
    radian, upright at its draft. Raises InputError where the hull is too small for the mass.
    """
    at = np.array([at_rest(hull, mass)[0], 0.0, 0.0])
    upright, weight = _posed(at), GRAVITY * mass
    for _ in range(_NEWTON_STEPS):
        left = _unbalanced(hull, mass, at)
        if np.abs(left).max() < _LEFT * weight:
            return _posed(at)
        beside = at + _DIFFERENCE * np.eye(3)
        slopes = np.column_stack([(_unbalanced(hull, mass, b) - left) / _DIFFERENCE for b in beside])
        change = -np.linalg.lstsq(slopes, left, rcond=1e-9)[0]
        at = at + change * min(1.0, _MOST_CHANGE / max(float(np.abs(change).max()), 1e-12))
        if np.abs(at[1:]).max() > 1.0:
            break
    return upright


def _posed(at: np.ndarray) -> np.ndarray:
    """(4, 4) for heave, and the turns about x, then y."""
    (cx, cy), (sx, sy), T = np.cos(at[1:]), np.sin(at[1:]), np.eye(4)
    T[:3, :3] = [[cy, sy * sx, sy * cx], [0.0, cx, -sx], [-sy, cy * sx, cy * cx]]
    T[2, 3] = at[0]
    return T


def _unbalanced(hull: Hull, mass: float, at: np.ndarray) -> np.ndarray:
    """(3,) force upwards [N] and moments about x and y [N m] of water and weight."""
    T, rows = _posed(at), np.zeros((len(hull.vertices), VERTEX_WIDTH))
    rows[:, :3] = hull.vertices @ T[:3, :3].T
    rows[:, 3] = -at[0] - rows[:, 2]
    load, damping, found = np.empty(6), np.empty((6, 6)), np.empty(FOUND)
    cuts = np.empty((2, VERTEX_WIDTH))
    sum_hull(rows, hull.triangles, np.zeros(6), 0.0, 0.0, np.ones(RESISTANCES), cuts, load, damping, found)
    return np.array([load[5] - GRAVITY * mass, load[0], load[1]])
