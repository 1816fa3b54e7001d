"""The path that a vehicle has flown, kept for a while."""

from collections import deque
from collections.abc import Mapping

import numpy as np

from render.frame import Polyline
from sim.outfit import Trail as Trace
from sim.outfit import outfit_of

_MOST_POINTS = 600


class Trail:
    """Places of one lane by simulated time; starts anew with every generation."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._trace = Trace()
        self._points: deque[tuple[float, np.ndarray]] = deque(maxlen=_MOST_POINTS)

    def extend(
        self,
        vehicle: str,
        generation: int,
        time_s: float,
        T_wb: np.ndarray,
        ways: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Note where the lane is now, (4, 4); time running back (a scrub) clears what lay ahead.

        ways: by which the point has moved since the last picture, where one is known that it follows.
        """
        if generation != self._generation:
            self._points.clear()
            self._generation, self._trace = generation, outfit_of(vehicle).trail
        point_w = self._point_w(T_wb)
        if not np.isfinite(point_w).all():
            return
        while self._points and self._points[-1][0] > time_s:
            self._points.pop()
        while self._points and self._points[0][0] < time_s - self._trace.kept_s:
            self._points.popleft()
        if ways and self._trace.along in ways and self._points:
            length_m = float(np.linalg.norm(self._trace.point_b))
            way = ways[self._trace.along]
            for moment_s, *axis_w in way[np.searchsorted(way[1:, 0], self._points[-1][0]) + 1 :].tolist():
                if self._points[-1][0] < moment_s < time_s:
                    axis = np.array(axis_w)
                    self._add(moment_s, T_wb[:3, 3] + length_m / np.linalg.norm(axis) * axis)
        self._add(time_s, point_w)

    def line(
        self,
        time_s: float,
        T_wb: np.ndarray,
        colour: tuple[float, float, float],
        *,
        width_px: float,
        clear_m: float,
    ) -> Polyline | None:
        """The trail, fading with age and within `clear_m` of the present place; None while there is none."""
        if len(self._points) < 2:
            return None
        end_w = self._point_w(T_wb)
        times = np.array([time for time, _ in self._points] + [time_s])
        points = np.vstack([*(point for _, point in self._points), end_w])
        age = np.clip((time_s - times) / self._trace.kept_s, 0.0, 1.0)
        away = np.linalg.norm(points - end_w, axis=1) / (self._trace.clear_m or clear_m)
        alpha = self._trace.alpha * (1 - age) ** self._trace.fading * np.clip(away - 1.0, 0.0, 1.0)
        return Polyline(points_w=points, colour=colour, alpha=alpha, width_px=width_px)

    def _add(self, time_s: float, point_w: np.ndarray) -> None:
        if not self._points or np.linalg.norm(point_w - self._points[-1][1]) > self._trace.spacing_m:
            self._points.append((time_s, point_w))

    def _point_w(self, T_wb: np.ndarray) -> np.ndarray:
        return T_wb[:3, 3] + T_wb[:3, :3] @ np.array(self._trace.point_b)
