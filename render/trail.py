"""The path that a vehicle has flown, kept for a while."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from render.frame import Polyline

_MOST_POINTS = 600


@dataclass(frozen=True, slots=True)
class Trace:
    """Which point of a vehicle draws its trail, and how."""

    point_b: tuple[float, float, float] = (0.0, 0.0, 0.0)
    along: str = ""
    """Observable whose way gives the direction of the point from the origin, where the trail follows one."""
    kept_s: float = 14.0
    """Simulated time after which a trail has faded."""
    spacing_m: float = 0.35
    clear_m: float | None = None
    """No trail nearer than this to where the vehicle is; None: as the caller says."""
    alpha: float = 0.65
    fading: float = 1.5
    """How fast it fades with age: 1 evenly, more at first the higher."""


_PLACE = Trace()
TRACES = {"heavy-top": Trace((0.0, 0.0, 0.52), "axis", 9.0, 0.012, clear_m=0.03, alpha=0.95, fading=0.7)}
"""By vehicle; of all others the body's origin. A top's is its tip, which draws the precession and the nutation."""


class Trail:
    """Places of one lane by simulated time; starts anew with every generation."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._trace = _PLACE
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
            self._generation, self._trace = generation, TRACES.get(vehicle, _PLACE)
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
