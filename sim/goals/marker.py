"""Where a goal is in the world, from where a vehicle is."""

import numpy as np

from sim.goals.goal import Goal
from sim.world import World

AHEAD_M = 110.0
"""Along the way: what one flies to is this far ahead of where one is."""
_ABOVE_GROUND_M = 1.5


def marker_w(goal: Goal, world: World, x_w: np.ndarray) -> np.ndarray | None:
    """(3,) where to go [m] from `x_w` (3,); None where a goal is not bound to a place."""
    if goal.pad:
        return world.pad(goal.pad).centre_w
    if goal.at_w is not None:
        return np.array([*goal.at_w, float(world.surface_m(*goal.at_w)) + _ABOVE_GROUND_M])
    if goal.way_m is not None:
        arc_m = _arc(world.path)
        at_m = min(along_m(world, x_w) + AHEAD_M, max(goal.way_m, 0.0), float(arc_m[-1]))
        return np.array([np.interp(at_m, arc_m, world.path[:, k]) for k in range(3)])
    return None


def along_m(world: World, x_w: np.ndarray) -> float:
    """How far along the world's safe way the nearest point of it is, seen from above [m]."""
    path = world.path
    begin, by = path[:-1, :2], np.diff(path[:, :2], axis=0)
    length_2 = np.maximum((by**2).sum(axis=1), 1e-12)
    share = np.clip(((x_w[:2] - begin) * by).sum(axis=1) / length_2, 0.0, 1.0)
    off = np.linalg.norm(begin + share[:, None] * by - x_w[:2], axis=1)
    k = int(np.argmin(off))
    arc_m = _arc(path)
    return float(arc_m[k] + share[k] * (arc_m[k + 1] - arc_m[k]))


def _arc(path: np.ndarray) -> np.ndarray:
    return np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
