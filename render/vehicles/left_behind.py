"""What a lane leaves behind in the world: trail, wheels' tracks, wake, where it hit the water, and its hull's way."""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from render.frame import MOMENT_S, MOMENTS_KEPT, HullWay, Polyline, Splash, Surface, Wake
from render.vehicles.shown import ShownLane
from render.vehicles.wake import WakeTrack, WaterBelow
from sim.groups.numeric import pose_between
from sim.simulation.lanes.snapshot import LaneStatus
from sim.vehicle_config import TrailConfig, VehicleConfig, named_values
from sim.vehicles import VEHICLES
from sim.vehicles.forms.parameters import Value
from sim.world import World
from sim.world.path import Stream

TRACK_KEPT_S = 45.0
"""Simulated time after which a track has faded."""
_TRACK_POINTS = 480
_SPACING_M = 0.28
_TURN_RAD = 0.08
_LIFT_M = 0.02
"""Above the ground, so that tracks are drawn over what is painted on it."""
_RUBBER = (0.012, 0.011, 0.010)
_UP = np.array([0.0, 0.0, 1.0])


class Tracks:
    """What the wheels of one lane have left; starts anew with every generation."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._config: VehicleConfig | None = None
        self._poses: deque[tuple[float, np.ndarray, np.ndarray]] = deque(maxlen=_TRACK_POINTS)
        """Time, (4, 4) pose, and (wheels, 4) where wheels touched, body frame."""

    def extend(
        self,
        config: VehicleConfig,
        generation: int,
        time_s: float,
        T_wb: np.ndarray,
        parameters: Mapping[str, Value] | None = None,
    ) -> None:
        """Note where the vehicle is now; between two looks it has moved along an arc, by the group's exponential."""
        if self._config is None or (config.name, generation) != (self._config.name, self._generation):
            self._poses.clear()
        self._config, self._generation = config, generation
        wheels = _wheels_b(config, parameters)
        if wheels is None or not np.isfinite(T_wb).all():
            return
        while self._poses and self._poses[-1][0] > time_s:
            self._poses.pop()
        while self._poses and self._poses[0][0] < time_s - TRACK_KEPT_S:
            self._poses.popleft()
        if not self._poses:
            self._poses.append((time_s, T_wb.copy(), wheels))
            return
        before_s, before, _ = self._poses[-1]
        travel = float(np.linalg.norm(T_wb[:2, 3] - before[:2, 3])) / _SPACING_M
        turned = float(np.linalg.norm(T_wb[:2, 0] - before[:2, 0])) / _TURN_RAD
        pieces = int(max(travel, turned))
        for k in range(1, pieces + 1):
            share = k / pieces
            pose = T_wb.copy() if k == pieces else pose_between(before, T_wb, share)
            self._poses.append((before_s + share * (time_s - before_s), pose, wheels))

    def contacts_w(self) -> np.ndarray:
        """(n, wheels, 3) m: where the wheels have touched the ground."""
        poses = np.array([pose for _, pose, _ in self._poses]).reshape(-1, 4, 4)
        return np.einsum("nij,nwj->nwi", poses, np.array([wheels for *_, wheels in self._poses]))[..., :3]

    def surface(self, time_s: float, T_wb: np.ndarray, shift_w: np.ndarray) -> Surface | None:
        """All tracks up to the present pose, fading with age; None where there are none."""
        tracks = None if self._config is None else self._config.tracks
        if tracks is None or len(self._poses) < 2:
            return None
        self._poses.append((time_s, T_wb, self._poses[-1][2]))
        path, times = self.contacts_w() + shift_w, np.array([time for time, *_ in self._poses])
        self._poses.pop()
        age = np.clip((time_s - times) / TRACK_KEPT_S, 0.0, 1.0)
        alpha = tracks.strength * (1.0 - age) ** 1.2
        edges = ribbon(path + _LIFT_M * _UP, tracks.width_m)
        low, high = edges[:-1], edges[1:]
        corners = np.stack(
            [
                low[..., 0, :],
                high[..., 0, :],
                high[..., 1, :],
                low[..., 0, :],
                high[..., 1, :],
                low[..., 1, :],
            ],
            axis=2,
        )
        fade = np.stack([alpha[:-1], alpha[1:], alpha[1:], alpha[:-1], alpha[1:], alpha[:-1]], axis=1)
        fade = np.repeat(fade[:, None], path.shape[1], axis=1)
        normals = np.broadcast_to(_UP, corners.shape).reshape(-1, 3)
        return Surface(corners.reshape(-1, 3), normals, _RUBBER, fade.ravel())


def _wheels_b(config: VehicleConfig, parameters: Mapping[str, Value] | None) -> np.ndarray | None:
    """(wheels, 4) where they touch the ground, body frame; None where none leaves tracks."""
    tracks = config.tracks
    if tracks is None:
        return None
    values = named_values(VEHICLES.get(config.name), parameters=parameters)
    return np.array([(x.value(values), y.value(values), 0.0, 1.0) for x, y in tracks.wheels])


def ribbon(path_w: np.ndarray, width_m: float) -> np.ndarray:
    """(n, wheels, 2, 3) left and right edge of level bands along paths (n, wheels, 3)."""
    way = np.gradient(path_w, axis=0)
    left = np.stack([-way[..., 1], way[..., 0], np.zeros_like(way[..., 0])], axis=-1)
    left /= np.maximum(np.linalg.norm(left, axis=-1, keepdims=True), 1e-9)
    return np.stack([path_w + 0.5 * width_m * left, path_w - 0.5 * width_m * left], axis=2)


_MOST_POINTS = 1500
"""As many as the spacing and the time of any trail ask for at the speeds that are seen."""


_EVERY_S = 0.02
"""Simulated time between two places, whatever the rate of pictures."""
_LONGEST_S = 1.0
"""A longer pause between two pictures is crossed in a straight line."""


def _between(
    times_s: np.ndarray, ends: tuple[np.ndarray, np.ndarray], rates: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Moments (n,) between two times (2,) and the places (n, 3) there, by the cubic with these ends and velocities."""
    span_s = times_s[1] - times_s[0]
    share = np.arange(1, max(int(np.ceil(span_s / _EVERY_S)), 1)) / max(int(np.ceil(span_s / _EVERY_S)), 1)
    s = share[:, None]
    first, last = (1.0 + 2.0 * s) * (1.0 - s) ** 2, s**2 * (3.0 - 2.0 * s)
    begin, end = s * (1.0 - s) ** 2 * span_s, s**2 * (s - 1.0) * span_s
    places = first * ends[0] + last * ends[1] + begin * rates[0] + end * rates[1]
    return times_s[0] + share * span_s, places


class DrawnTrail:
    """Places of one lane by simulated time; starts anew with every generation."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._config = TrailConfig()
        self._rows = np.empty((2 * _MOST_POINTS, 4))
        """Time [s] and place [m]: a window that is moved back when it comes to the end."""
        self._begin = self._end = 0
        self._last: tuple[float, np.ndarray, np.ndarray] | None = None
        """Time, place and velocity (3,) at the last picture, where they are known."""

    def extend(
        self,
        config: TrailConfig,
        generation: int,
        time_s: float,
        T_wb: np.ndarray,
        ways: Mapping[str, np.ndarray] | None = None,
        twist_b: np.ndarray | None = None,
    ) -> None:
        """Note where the lane is now, (4, 4); time running back (a scrub) clears what lay ahead.

        ways: by which the point has moved since the last picture, where one is known that it follows. twist_b: (6,)
        (omega, v) of now, by which its way since the last picture is told where no other is known.
        """
        if generation != self._generation:
            self._begin = self._end = 0
            self._generation, self._config, self._last = generation, config, None
        point_w = self._point_w(T_wb)
        if not np.isfinite(point_w).all():
            return
        times = self._rows[self._begin : self._end, 0]
        self._end = self._begin + int(np.searchsorted(times, time_s, "right"))
        self._begin += int(np.searchsorted(times, time_s - self._config.kept_s, "left"))
        self._begin = min(self._begin, self._end)
        if ways and self._config.along in ways and self._end > self._begin:
            length_m = float(np.linalg.norm(self._config.point_b))
            way, last_s = ways[self._config.along], self._rows[self._end - 1, 0]
            for moment_s, *axis_w in way[np.searchsorted(way[1:, 0], last_s) + 1 :].tolist():
                if self._rows[self._end - 1, 0] < moment_s < time_s:
                    axis = np.array(axis_w)
                    self._add(moment_s, T_wb[:3, 3] + length_m / np.linalg.norm(axis) * axis)
        elif not self._config.along and twist_b is not None and np.isfinite(twist_b).all():
            self._cross(
                time_s, point_w, T_wb[:3, :3] @ (twist_b[3:] + np.cross(twist_b[:3], self._config.point_b))
            )
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
        age = np.clip((time_s - times) / self._config.kept_s, 0.0, 1.0)
        away = np.linalg.norm(points - end_w, axis=1) / (self._config.clear_m or clear_m)
        alpha = self._config.alpha * (1 - age) ** self._config.fading * np.clip(away - 1.0, 0.0, 1.0)
        return Polyline(points_w=points, colour=colour, alpha=alpha, width_px=width_px)

    def _cross(self, time_s: float, point_w: np.ndarray, velocity_w: np.ndarray) -> None:
        """Note where the point was since the last picture."""
        before, self._last = self._last, (time_s, point_w, velocity_w)
        if before is None or self._end == self._begin or not 0.0 < time_s - before[0] < _LONGEST_S:
            return
        way_w = point_w - before[1]
        told_w = 0.5 * (time_s - before[0]) * (before[2] + velocity_w)
        if np.linalg.norm(told_w - way_w) > 0.2 * np.linalg.norm(way_w):
            return  # it was put there, or struck something
        times, places = _between(np.array([before[0], time_s]), (before[1], point_w), (before[2], velocity_w))
        for moment_s, place_w in zip(times.tolist(), places, strict=True):
            self._add(moment_s, place_w)

    def _add(self, time_s: float, point_w: np.ndarray) -> None:
        if self._end > self._begin:
            apart = point_w - self._rows[self._end - 1, 1:]
            if apart @ apart <= self._config.spacing_m**2:
                return
        if self._end == len(self._rows):
            kept = self._rows[self._end - _MOST_POINTS + 1 :]
            self._rows[: len(kept)] = kept
            self._begin, self._end = 0, len(kept)
        self._rows[self._end] = time_s, *point_w
        self._end += 1
        self._begin = max(self._begin, self._end - _MOST_POINTS)

    def _point_w(self, T_wb: np.ndarray) -> np.ndarray:
        return T_wb[:3, 3] + T_wb[:3, :3] @ np.array(self._config.point_b)


KEPT_S = 9.0
"""Simulated time after which the rings have died away."""
_DRY_M = 0.4
"""A vehicle has left the water when its origin is this far above where it entered."""


class Splashes:
    """The splashes of one lane; starts anew with every generation."""

    def __init__(self, water_level_m: float, stream: Stream) -> None:
        self._level_m, self._stream = water_level_m, stream
        self._generation: int | None = None
        self._wet = False
        self._last: tuple[float, float] | None = None
        self._splashes: deque[tuple[float, tuple[float, float], float]] = deque(maxlen=4)

    def extend(
        self, config: VehicleConfig, generation: int, time_s: float, T_wb: np.ndarray, soles_m: float
    ) -> None:
        """Note where the lane is now, (4, 4), `soles_m` above its lowest point; a scrub back forgets what lay ahead."""
        if generation != self._generation:
            self._splashes.clear()
            self._generation, self._last, self._wet = generation, None, False
        while self._splashes and self._splashes[-1][0] > time_s:
            self._splashes.pop()
        if config.hull is not None or not np.isfinite(T_wb).all():
            return
        height = float(T_wb[2, 3]) - soles_m - self._level_m
        if height < 0.0 and not self._wet and self._last is not None and time_s > self._last[0]:
            sinking = (self._last[1] - height) / (time_s - self._last[0])
            self._splashes.append((time_s, (float(T_wb[0, 3]), float(T_wb[1, 3])), max(sinking, 0.0)))
        self._wet = height < 0.0 or (self._wet and height < _DRY_M)
        self._last = (time_s, height)

    def present(self, time_s: float) -> tuple[Splash, ...]:
        """Those whose rings still run."""
        return tuple(
            Splash.carried(place, time_s - at_s, speed, self._stream)
            for at_s, place, speed in self._splashes
            if 0.0 <= time_s - at_s < KEPT_S
        )


_LONGEST_PAUSE_S = 1.0
"""A longer one between two looks at a hull is not crossed."""


class HullTrack:
    """Where a hull has been lately, by moments that do not depend on when it was looked at; of one lane."""

    def __init__(self) -> None:
        self._of: tuple[str, int] | None = None
        self._last: tuple[float, np.ndarray] | None = None
        self._next = 0
        self._poses: deque[np.ndarray] = deque(maxlen=MOMENTS_KEPT)

    def extend(self, config: VehicleConfig, of: tuple[str, int], time_s: float, T_wb: np.ndarray) -> None:
        """Note where the lane of that name and generation is now, (4, 4); time running back clears what lay ahead.

        Between two looks it has moved along the group's screw motion.
        """
        if of != self._of:
            self._poses.clear()
            self._of, self._last = of, None
        if config.hull is None or config.hull.surface is None or not np.isfinite(T_wb).all():
            return
        while self._poses and (self._next - 1) * MOMENT_S > time_s:
            self._poses.pop()
            self._next -= 1
        last, self._last = self._last, (time_s, T_wb.copy())
        if last is None or not 0.0 <= time_s - last[0] < _LONGEST_PAUSE_S:
            if last is not None and time_s > last[0]:
                self._poses.clear()
            return
        for moment in range(math.floor(last[0] / MOMENT_S) + 1, math.floor(time_s / MOMENT_S) + 1):
            share = (moment * MOMENT_S - last[0]) / (time_s - last[0])
            if self._poses and moment != self._next:
                self._poses.clear()
            self._poses.append(pose_between(last[1], T_wb, share))
            self._next = moment + 1

    def way(self) -> HullWay | None:
        """As far as it is known; None before two moments are."""
        if self._of is None or len(self._poses) < 2:
            return None
        return HullWay(self._of, self._next - len(self._poses), np.array(self._poses))


_UNTINTED = (1.0, 0.50, 0.10)
"""Trail of a lane that has no tint of its own."""


def stream_of(world: World | None) -> Stream:
    """Of its river; none where no world is known."""
    return Stream.still() if world is None else world.stream


class LeftBehind:
    """Of one lane; each part starts anew with every generation."""

    def __init__(self, world: World | None) -> None:
        """`world`: in which it is; None: in none that is known."""
        self._trail, self._tracks, self._wake = DrawnTrail(), Tracks(), WakeTrack(self._water)
        self._hull = HullTrack()
        level_m = None if world is None else world.water_level_m
        self._splashes = Splashes(-math.inf if level_m is None else level_m, stream_of(world))
        self._world, self._bed_m = world, math.inf
        self._current_w, self._stream = np.zeros(2), Stream.still()
        self._ended_wall_s: float | None = None

    def extend(self, shown: ShownLane) -> None:
        """Note where the lane is now."""
        lane, time_s, T_wb = shown.lane, shown.time_s, shown.T_wb
        bed_m = lane.parameters.get("depth", math.inf)
        self._bed_m = bed_m if isinstance(bed_m, float) else math.inf
        if lane.sea is not None:  # else it knows of no water that moves
            self._current_w = np.array(lane.parameters.get("current", (0.0, 0.0)), float)
            self._stream = stream_of(self._world)
        self._trail.extend(lane.config.trail, lane.generation, time_s, T_wb, lane.trails, lane.twist_b)
        self._tracks.extend(lane.config, lane.generation, time_s, T_wb, lane.parameters)
        self._wake.extend(lane.config, lane.generation, time_s, T_wb, lane.twist_b)
        self._hull.extend(lane.config, (lane.name, lane.generation), time_s, T_wb)
        soles_m = lane.config.contact.soles_m
        self._splashes.extend(lane.config, lane.generation, time_s, T_wb, soles_m)

    def _water(self, place_w: np.ndarray) -> WaterBelow:
        """At a place (2,) [m]: over the ground of the world, or the bed that waves run over."""
        x, y = float(place_w[0]), float(place_w[1])
        depth_m = self._bed_m if self._world is None else min(self._bed_m, float(self._world.depth_m(x, y)))
        return WaterBelow(depth_m, self._current_w + self._stream.at(x, y))

    def line(self, shown: ShownLane) -> Polyline | None:
        """The trail; of what leaves tracks on the ground only a ghost's."""
        lane = shown.lane
        if lane.config.tracks is not None and not lane.ghost:
            return None
        width = 2.5 if lane.ghost and not shown.apart else 4.0
        tint = _UNTINTED if min(lane.tint) >= 1.0 else lane.tint
        clear = 0.25 * lane.config.camera.distance_m
        line = self._trail.line(shown.time_s, shown.true_T_wb, tint, width_px=width, clear_m=clear)
        return None if line is None else replace(line, points_w=line.points_w + shown.shift_w)

    def surface(self, shown: ShownLane) -> Surface | None:
        """What wheels have left on the ground."""
        return self._tracks.surface(shown.time_s, shown.true_T_wb, shown.shift_w)

    def wake(self, shown: ShownLane) -> Wake | None:
        """What a solid hull leaves on the water."""
        if shown.lane.ghost and not shown.apart:
            return None
        return self._wake.wake(shown.time_s, shown.true_T_wb, shown.shift_w)

    def way(self, shown: ShownLane) -> HullWay | None:
        """Where a solid hull has been lately."""
        return None if shown.lane.ghost or shown.apart or shown.lane.sea is None else self._hull.way()

    def splashes(self, shown: ShownLane, wall_s: float) -> tuple[Splash, ...]:
        """Whose rings still run. A vehicle that has ended stands still, the water about it does not."""
        if shown.lane.status is LaneStatus.RUNNING:
            self._ended_wall_s = None
            return self._splashes.present(shown.time_s)
        if self._ended_wall_s is None:
            self._ended_wall_s = wall_s
        return self._splashes.present(shown.time_s + max(wall_s - self._ended_wall_s, 0.0))
