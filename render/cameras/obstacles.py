"""Keeping a camera above the ground and what lies on it, above the water, and where it can see what it looks at."""

from typing import Protocol

import numpy as np

CLEARANCE_M = 1.2
"""Least height of an eye above ground or water."""
_NEIGHBOURS = np.array([(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])


class Ground(Protocol):
    """Of a world's terrain: height by place."""

    def height(self, x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray: ...


class Surroundings(Protocol):
    """The parts of a world that a camera must respect."""

    @property
    def terrain(self) -> Ground: ...
    @property
    def water_level_m(self) -> float | None: ...


class Bumps(Protocol):
    """What lies and grows on the ground."""

    def floor_z(self, eye_w: np.ndarray) -> float:
        """Least z [m] of an eye over this place; -inf where nothing is near."""
        ...


def floor_z(world: Surroundings | None, point_w: np.ndarray) -> float:
    """Least z [m] of an eye at (x, y) of `point_w`; -inf without a world."""
    if world is None:
        return -np.inf
    around = point_w[:2] + CLEARANCE_M * _NEIGHBOURS
    ground = float(np.max(world.terrain.height(around[:, 0], around[:, 1])))
    level = world.water_level_m
    return (ground if level is None else max(ground, level)) + CLEARANCE_M


def clear_share(world: Surroundings | None, start_w: np.ndarray, end_w: np.ndarray) -> float:
    """Share of the way from start to end that is free of ground, 1 where all of it is."""
    if world is None:
        return 1.0
    length = float(np.linalg.norm(end_w - start_w))
    shares = np.linspace(0.0, 1.0, min(max(int(length / 0.5), 8), 400))
    points = start_w + shares[:, None] * (end_w - start_w)
    free = points[:, 2] - world.terrain.height(points[:, 0], points[:, 1]) > 0.35 * CLEARANCE_M
    blocked = np.flatnonzero(~free)
    if len(blocked) == 0:
        return 1.0
    return float(shares[max(blocked[0] - 1, 0)])


class GroundGuard:
    """Lifts an eye out of the ground, and draws it in where rock hides the subject; eases out again."""

    _EASE_S = 0.6

    def __init__(self, bumps: Bumps | None = None) -> None:
        self._bumps = bumps
        self.reset()

    def reset(self) -> None:
        """Forget former obstacles, after a cut."""
        self._drawn_in, self._lift_m = 0.0, 0.0

    def clear(
        self, world: Surroundings | None, eye_w: np.ndarray, aim_w: np.ndarray | None, dt_s: float
    ) -> np.ndarray:
        """(3,) the nearest eye that is outside the ground."""
        fade = float(np.exp(-dt_s / self._EASE_S))
        if aim_w is not None:
            seen_from = aim_w.copy()
            seen_from[2] = max(seen_from[2], floor_z(world, aim_w))
            self._drawn_in = max(1.0 - clear_share(world, seen_from, eye_w), self._drawn_in * fade)
            eye_w = seen_from + max(1.0 - self._drawn_in, 0.12) * (eye_w - seen_from)
        floor_m = floor_z(world, eye_w)
        if self._bumps is not None:
            floor_m = max(floor_m, self._bumps.floor_z(eye_w))
        self._lift_m = max(floor_m - eye_w[2], self._lift_m * fade, 0.0)
        return eye_w + np.array([0.0, 0.0, self._lift_m])
