"""The path that a vehicle has flown, kept for a while."""

from collections import deque

import numpy as np

from render.frame import Polyline

KEPT_S = 14.0
"""Simulated time after which a trail has faded."""
_SPACING_M = 0.35
_MOST_POINTS = 600


class Trail:
    """Positions of one lane by simulated time; starts anew with every generation."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._points: deque[tuple[float, np.ndarray]] = deque(maxlen=_MOST_POINTS)

    def extend(self, generation: int, time_s: float, position_w: np.ndarray) -> None:
        """Note where the lane is now (3,) m; time running back (a scrub) clears what lay ahead."""
        if generation != self._generation:
            self._points.clear()
            self._generation = generation
        if not np.isfinite(position_w).all():
            return
        while self._points and self._points[-1][0] > time_s:
            self._points.pop()
        while self._points and self._points[0][0] < time_s - KEPT_S:
            self._points.popleft()
        if not self._points or np.linalg.norm(position_w - self._points[-1][1]) > _SPACING_M:
            self._points.append((time_s, np.array(position_w)))

    def line(
        self,
        time_s: float,
        position_w: np.ndarray,
        colour: tuple[float, float, float],
        *,
        width_px: float,
        clear_m: float,
    ) -> Polyline | None:
        """The trail, fading with age and within `clear_m` of the present position; None while there is none."""
        if len(self._points) < 2:
            return None
        times = np.array([time for time, _ in self._points] + [time_s])
        points = np.vstack([*(point for _, point in self._points), position_w])
        age = np.clip((time_s - times) / KEPT_S, 0.0, 1.0)
        away = np.linalg.norm(points - position_w, axis=1) / clear_m
        alpha = 0.65 * (1 - age) ** 1.5 * np.clip(away - 1.0, 0.0, 1.0)
        return Polyline(points_w=points, colour=colour, alpha=alpha, width_px=width_px)
