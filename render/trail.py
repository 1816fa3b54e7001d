"""The path that a vehicle has flown, kept for a while."""

from collections.abc import Mapping

import numpy as np

from render.frame import Polyline
from sim.outfit import Trail as Trace
from sim.outfit import outfit_of

_MOST_POINTS = 1500
"""As many as the spacing and the time of any trail ask for at the speeds that are seen."""


class Trail:
    """Places of one lane by simulated time; starts anew with every generation."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._trace = Trace()
        self._rows = np.empty((2 * _MOST_POINTS, 4))
        """Time [s] and place [m]: a window that is moved back when it comes to the end."""
        self._begin = self._end = 0

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
            self._begin = self._end = 0
            self._generation, self._trace = generation, outfit_of(vehicle).trail
        point_w = self._point_w(T_wb)
        if not np.isfinite(point_w).all():
            return
        times = self._rows[self._begin : self._end, 0]
        self._end = self._begin + int(np.searchsorted(times, time_s, "right"))
        self._begin += int(np.searchsorted(times, time_s - self._trace.kept_s, "left"))
        self._begin = min(self._begin, self._end)
        if ways and self._trace.along in ways and self._end > self._begin:
            length_m = float(np.linalg.norm(self._trace.point_b))
            way, last_s = ways[self._trace.along], self._rows[self._end - 1, 0]
            for moment_s, *axis_w in way[np.searchsorted(way[1:, 0], last_s) + 1 :].tolist():
                if self._rows[self._end - 1, 0] < moment_s < time_s:
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
        if self._end - self._begin < 2:
            return None
        end_w = self._point_w(T_wb)
        kept = self._rows[self._begin : self._end]
        times, points = np.append(kept[:, 0], time_s), np.vstack([kept[:, 1:], end_w])
        age = np.clip((time_s - times) / self._trace.kept_s, 0.0, 1.0)
        away = np.linalg.norm(points - end_w, axis=1) / (self._trace.clear_m or clear_m)
        alpha = self._trace.alpha * (1 - age) ** self._trace.fading * np.clip(away - 1.0, 0.0, 1.0)
        return Polyline(points_w=points, colour=colour, alpha=alpha, width_px=width_px)

    def _add(self, time_s: float, point_w: np.ndarray) -> None:
        if self._end > self._begin:
            apart = point_w - self._rows[self._end - 1, 1:]
            if apart @ apart <= self._trace.spacing_m**2:
                return
        if self._end == len(self._rows):
            kept = self._rows[self._end - _MOST_POINTS + 1 :]
            self._rows[: len(kept)] = kept
            self._begin, self._end = 0, len(kept)
        self._rows[self._end] = time_s, *point_w
        self._end += 1
        self._begin = max(self._begin, self._end - _MOST_POINTS)

    def _point_w(self, T_wb: np.ndarray) -> np.ndarray:
        return T_wb[:3, 3] + T_wb[:3, :3] @ np.array(self._trace.point_b)
