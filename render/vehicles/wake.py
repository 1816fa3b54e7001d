"""The wake of a hull: where its leading end has been, and the pattern of waves that spreads from there.

The waves behind a hull are those of a steady course over the bed that is there (`sim.water.ship_waves`): in deep water
within Kelvin's wedge. All of it is told in the water's frame: what is left drifts with the current where it was made,
and its speed is that through the water. With t the tangent of the angle at which a wave runs to the course, the phase
x behind the hull and y aside of its course is k (x - y t) / sqrt(1 + t^2). The wake's fragment shader evaluates it.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

from render.frame import Wake
from sim.groups.numeric import pose_exp, pose_log
from sim.platform.values import dataclass
from sim.vehicle_config import HullConfig, VehicleConfig
from sim.water.ship_waves import course_number, froude_number, ship_waves, table_row

KEPT_S = 16.0
"""Simulated time after which a wake has died away."""
LEAST_SPEED_MPS = 0.7
"""Slower hulls make waves that are too short to be seen; their phase is that of this speed."""
_MARGIN = 1.25
"""The band is this much wider than the wedge: the outermost crests fade out beyond it."""
_SPACING_M = 0.45
_MOST_POINTS = 320
_TURNS_AT_MPS = 0.5
_SUPPOSED_S = 6.0
_LEAST_DEPTH_M = 0.3
"""Waves of a hull that touches the bed are those over this much water."""


@dataclass(frozen=True, slots=True, eq=False)
class WaterBelow:
    """What a hull goes through at a place."""

    depth_m: float
    velocity_w: np.ndarray
    """(2,) of the water over ground [m/s]."""


@dataclass(frozen=True, slots=True, eq=False)
class _Parted:
    """Where the leading end was at a moment."""

    time_s: float
    place_w: np.ndarray
    """(2,) m over ground, then."""
    speed_mps: float
    """Through the water; below zero astern."""
    water: WaterBelow

    def drifted(self, time_s: float) -> np.ndarray:
        """(2,) m over ground at a later moment: the water has taken it along."""
        return self.place_w + (time_s - self.time_s) * self.water.velocity_w


class WakeTrack:
    """What one lane's hull leaves; starts anew with every generation."""

    def __init__(self, water_at: Callable[[np.ndarray], WaterBelow]) -> None:
        """`water_at`: a place (2,) [m]."""
        self._water_at = water_at
        self._generation: int | None = None
        self._vehicle = ""
        self._hull: HullConfig | None = None
        self._last: tuple[float, np.ndarray] | None = None
        self._points: deque[_Parted] = deque(maxlen=_MOST_POINTS)

    def extend(
        self, config: VehicleConfig, generation: int, time_s: float, T_wb: np.ndarray, twist_b: np.ndarray
    ) -> None:
        """Note where the lane is now, (4, 4); time running back (a scrub) clears what lay ahead.

        `twist_b` (6,): a hull that is first seen under way (a moment of a take) has come the way that it goes.
        """
        if (config.name, generation) != (self._vehicle, self._generation):
            self._points.clear()
            self._vehicle, self._generation, self._last = config.name, generation, None
        self._hull = config.hull
        if self._hull is None or not np.isfinite(T_wb).all():
            return
        while self._points and self._points[-1].time_s > time_s:
            self._points.pop()
        while self._points and self._points[0].time_s < time_s - KEPT_S:
            self._points.popleft()
        last, self._last = self._last, (time_s, T_wb.copy())
        if last is None and np.isfinite(twist_b).all() and abs(self._speed(T_wb, twist_b)) > _TURNS_AT_MPS:
            self._follow(time_s - _SUPPOSED_S, T_wb @ pose_exp(-_SUPPOSED_S * twist_b), time_s, T_wb, twist_b)
        if last is None or not 0.0 < time_s - last[0] < KEPT_S:
            return
        passed_s = time_s - last[0]
        self._follow(*last, time_s, T_wb, pose_log(np.linalg.inv(last[1]) @ T_wb) / passed_s)

    def _speed(self, T_wb: np.ndarray, twist_b: np.ndarray) -> float:
        """Ahead through the water [m/s]."""
        return float(twist_b[3] - T_wb[:2, 0] @ self._water_at(T_wb[:2, 3]).velocity_w)

    def _follow(
        self, start_s: float, start: np.ndarray, end_s: float, end: np.ndarray, twist_b: np.ndarray
    ) -> None:
        """Between two looks the hull has moved along an arc, by the group's exponential of a steady twist (6,)."""
        stream_b = end[:2, :2].T @ self._water_at(end[:2, 3]).velocity_w
        pieces = max(int((end_s - start_s) * np.linalg.norm(twist_b[3:5] - stream_b) / _SPACING_M), 1)
        for k in range(1, pieces + 1):
            time_s = start_s + k / pieces * (end_s - start_s)
            pose = end if k == pieces else start @ pose_exp((time_s - start_s) * twist_b)
            speed = self._speed(pose, twist_b)
            place = self._end_w(pose, speed)
            last_w = self._points[-1].drifted(time_s) if self._points else np.full(2, np.inf)
            if np.linalg.norm(place - last_w) > 0.9 * _SPACING_M:
                self._points.append(_Parted(time_s, place, speed, self._water_at(place)))

    def _end_w(self, T_wb: np.ndarray, speed_mps: float) -> np.ndarray:
        """(2,) m of the end that leads: the bow, or astern the stern; in between where little happens."""
        hull = self._hull
        assert hull is not None
        ahead = float(np.clip(0.5 + 0.5 * speed_mps / _TURNS_AT_MPS, 0.0, 1.0))
        return T_wb[:2, 3] + T_wb[:2, 0] * (hull.stern_m + ahead * (hull.bow_m - hull.stern_m))

    def wake(self, time_s: float, T_wb: np.ndarray, shift_w: np.ndarray) -> Wake | None:
        """The wake as it is at `time_s`, moved by `shift_w` (3,) m; None where there is none."""
        if len(self._points) < 2:
            return None
        last, hull = self._points[-1], self._hull
        assert hull is not None
        points = [
            *self._points,
            _Parted(time_s, self._end_w(T_wb, last.speed_mps), last.speed_mps, last.water),
        ]
        return Wake(
            places_w=np.array([point.drifted(time_s) for point in points]) + shift_w[:2],
            age_s=np.maximum(time_s - np.array([point.time_s for point in points]), 0.0),
            speed_mps=np.abs([point.speed_mps for point in points]),
            depth_m=np.array([point.water.depth_m for point in points]),
            length_m=hull.bow_m - hull.stern_m,
            half_beam_m=hull.half_beam_m,
        )


WAKE_LAYOUT = (
    "2f 1f 1f 1f 1f 1f 2f 4f 1f",
    "place",
    "phase",
    "behind",
    "aside",
    "speed",
    "age",
    "ahead",
    "pattern",
    "edge_tangent",
)
"""Of `wake_band`: m on the course, rad, m, m to its left, m/s, s, its unit vector; Froude number of depth, half width
of the wedge over the distance behind the hull, row of `wave_table`, wave number on the course [rad/m]; tangent at which
waves run at the edge."""
_FLOATS = 14


def wake_band(wake: Wake) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3, 14) float32 as WAKE_LAYOUT has it (left edge, course, right edge) and indices (k,) of triangles.

    Waves spread from each place at its own speed, so the wedge goes on opening behind a hull that has stopped. The
    phase is that of the waves on the course itself, summed up along it, so that they keep their length at any speed.
    """
    speed = np.maximum(wake.speed_mps, LEAST_SPEED_MPS)
    depth = np.maximum(wake.depth_m, _LEAST_DEPTH_M)
    behind = wake.speed_mps * wake.age_s
    step = np.linalg.norm(np.diff(wake.places_w, axis=0), axis=1)
    froude = froude_number(speed, depth)
    known, row = ship_waves(), table_row(froude)
    wedge, tangent = (
        np.interp(row, np.arange(len(known.edge)), of) for of in (known.edge, known.along[:, 0])
    )
    number = course_number(froude, speed)
    lengths = np.append(step, 0.0) * number
    phase = np.cumsum(lengths[::-1])[::-1]
    course = np.gradient(wake.places_w, axis=0)
    course /= np.maximum(np.linalg.norm(course, axis=1, keepdims=True), 1e-9)
    half = wake.half_beam_m + _MARGIN * wedge * behind
    rows = np.empty((len(behind), 3, _FLOATS), np.float32)
    for column, side in enumerate((1.0, 0.0, -1.0)):
        rows[:, column, :2] = wake.places_w
        rows[:, column, 4] = side * half
    for column, values in (
        (2, phase),
        (3, behind),
        (5, speed),
        (6, wake.age_s),
        (9, froude),
        (10, wedge),
        (11, row),
        (12, number),
        (13, tangent),
    ):
        rows[..., column] = values[:, None]
    rows[..., 7:9] = course[:, None]
    corner = 3 * np.arange(len(behind) - 1)[:, None] + np.array([0, 1])
    quads = np.stack([corner, corner + 1, corner + 4, corner, corner + 4, corner + 3], axis=-1)
    return rows, quads.ravel().astype("u4")


def wave_table() -> np.ndarray:
    """(rows, columns, 4) float32: t of the wave that runs along, 1 / t of the one aside, tanh(k d) of both."""
    known = ship_waves()
    parts = (known.along, known.aside, known.tanh_along, known.tanh_aside)
    return np.ascontiguousarray(np.stack(parts, axis=-1), np.float32)
