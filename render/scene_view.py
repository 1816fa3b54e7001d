"""From snapshots to pictures: what is drawn, where, at the wall time of the frame."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from render.cameras.framing import framing_of
from render.frame import Arrow, DrawnSea, DrawnVehicle, Frame, Polyline, Surface, View, Wake
from render.gates import gates_drawn
from render.slung_load import hanging
from render.splash import Splashes
from render.tracks import Tracks
from render.trail import Trail
from render.wake import WakeTrack
from render.wreck import wreck_marker
from sim.environment.flip.surface import BoxPicture
from sim.environment.obstacles import ObstaclesPicture
from sim.environment.slung_load import LoadPicture
from sim.groups.between import poses_between
from sim.groups.numeric import rotation_log
from sim.outfit import outfit_of
from sim.race.timing import Standing
from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.trees.shapes import STAND, Capsule

_FORCE_ARROW_M = 4.0
"""Drawn length of the largest control force seen on a lane."""
_MOMENTUM_ARROW_M = 0.75
"""Drawn length of a top's angular momentum at its start, and of its axes."""
_AXES_M = 3.0
_LEAST_SPEED_MPS = 0.3
_LEAST_PRESENCE, _SEEN_APART = 0.12, 0.45
"""Of ghosts: what is left where they coincide with the flown vehicle, and how far apart [sizes] they are seen whole."""
_UNTINTED = (1.0, 0.50, 0.10)
"""Trail of a lane that has no tint of its own."""
_HAND = (1.0, 0.85, 0.25)
_COLOURS = {
    "control": (1.0, 0.45, 0.05),
    "environment": (0.10, 0.75, 0.95),
    "velocity": (0.25, 0.95, 0.20),
    "momentum": (0.85, 0.25, 0.95),
    "x": (0.90, 0.06, 0.05),
    "y": (0.08, 0.70, 0.10),
    "z": (0.06, 0.22, 0.95),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """What is shown besides the vehicles."""

    show_trail: bool = True
    show_forces: bool = False
    """Control and environment force, and velocity; of a top its angular momentum."""
    show_frame: bool = False
    """Body axes: x red, y green, z blue."""
    solo: str = ""
    """The only lane that is drawn; empty: all."""
    highlight: str = ""
    """The lane that is drawn solid in its tint, all others as ghosts; empty: as the lanes say."""
    spread_w: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Step (3,) m by which the lanes are drawn apart, in a row about their true place."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The flown vehicle at the moment of the frame: what a camera follows."""

    model: str
    T_wb: np.ndarray
    """(4, 4); upright for what turns about a fixed point."""
    twist_b: np.ndarray
    """(6,) (omega, v)."""
    generation: int
    reach_m: float = 0.0
    """How far what is drawn of its bodies reaches from there as it set out; 0 where its outfit tells its size."""
    held: bool = False
    """By a fixed point, below which it hangs."""


@dataclass(frozen=True, slots=True)
class _Shown:
    lane: LaneSnapshot
    time_s: float
    bodies: Mapping[str, np.ndarray]
    """Name -> (4, 4), where they are drawn."""
    shift_w: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """(3,) m by which it is drawn apart from its true place."""
    apart: bool = False
    """Whether lanes are drawn apart: then none has to be seen through."""

    @property
    def T_wb(self) -> np.ndarray:
        """(4, 4) of the main body."""
        return next(iter(self.bodies.values()))


class SceneView:
    """Keeps what a picture needs beyond one snapshot: trails, tracks and the scale of force arrows."""

    def __init__(self, water_level_m: float | None = None) -> None:
        """`water_level_m`: of the world, where it has water."""
        self._level_m = -math.inf if water_level_m is None else water_level_m
        self._wakes: dict[str, WakeTrack] = {}
        self._splashes: dict[str, Splashes] = {}
        self._trails: dict[str, Trail] = {}
        self._tracks: dict[str, Tracks] = {}
        self._largest_force_N: dict[tuple[str, str], float] = {}
        self._shown: tuple[_Shown, ...] = ()
        self._ended_wall_s: dict[str, float] = {}
        self._first: dict[str, tuple[int, float]] = {}
        self._load: LoadPicture | None = None
        self._water_box: BoxPicture | None = None
        self._race: Standing | None = None
        self._cones: ObstaclesPicture | None = None
        self._reach: tuple[tuple[str, int] | None, float] = (None, 0.0)

    def observe(self, snapshot: Snapshot, now_s: float) -> Subject:
        """Place every lane at the wall time `now_s` (`time.perf_counter()`); returns the flown one."""
        self._shown = tuple(self._place(snapshot, lane, now_s) for lane in snapshot.lanes)
        self._load = snapshot.environment if isinstance(snapshot.environment, LoadPicture) else None
        self._race = snapshot.race
        cones = snapshot.environment
        self._cones = cones if isinstance(cones, ObstaclesPicture) else None
        self._water_box = snapshot.environment if isinstance(snapshot.environment, BoxPicture) else None
        names = {lane.name for lane in snapshot.lanes}
        self._trails = {name: trail for name, trail in self._trails.items() if name in names}
        self._tracks = {name: tracks for name, tracks in self._tracks.items() if name in names}
        self._wakes = {name: wake for name, wake in self._wakes.items() if name in names}
        self._splashes = {name: splashes for name, splashes in self._splashes.items() if name in names}
        for shown in self._shown:
            trail = self._trails.setdefault(shown.lane.name, Trail())
            lane = shown.lane
            trail.extend(lane.vehicle, lane.generation, shown.time_s, shown.T_wb, lane.ways)
            tracks = self._tracks.setdefault(shown.lane.name, Tracks())
            tracks.extend(lane.vehicle, lane.generation, shown.time_s, shown.T_wb, lane.parameters)
            wake = self._wakes.setdefault(lane.name, WakeTrack())
            wake.extend(lane.vehicle, lane.generation, shown.time_s, shown.T_wb, lane.twist_b)
            splashes = self._splashes.setdefault(lane.name, Splashes(self._level_m))
            splashes.extend(
                lane.vehicle,
                lane.generation,
                shown.time_s,
                shown.T_wb,
                outfit_of(lane.vehicle).contact.soles_m,
            )
            self._note_force(shown.lane)
        flown = self._shown[0]
        T_wb, twist_b = flown.T_wb, flown.lane.twist_b
        if flown.lane.pivot_w is not None:
            # A camera that turned with a top would show the world spinning.
            T_wb, twist_b = np.eye(4), np.zeros(6)
            T_wb[:3, 3] = flown.lane.pivot_w
        key = flown.lane.vehicle, flown.lane.generation
        if flown.lane.links and self._reach[0] != key:
            self._reach = key, reach_m(flown.lane.links, flown.bodies, T_wb[:3, 3])
        reach = self._reach[1] if flown.lane.links else 0.0
        held = flown.lane.pivot_w is not None
        return Subject(flown.lane.vehicle, T_wb, twist_b, flown.lane.generation, reach, held)

    def places_w(self, options: ViewOptions | None = None) -> dict[str, np.ndarray]:
        """(3,) m by lane name: where each lane was last observed, or is drawn under these options."""
        return {shown.lane.name: shown.T_wb[:3, 3] for shown in self._arranged(options or ViewOptions())}

    def frame(
        self,
        view: View,
        options: ViewOptions | None = None,
        *,
        wall_s: float = 0.0,
        exposure: float = 1.0,
    ) -> Frame:
        """The picture of what was last observed, from `view`."""
        options = options or ViewOptions()
        finite = [shown for shown in self._arranged(options) if np.isfinite(shown.T_wb).all()]
        lines = self._lines(finite) if options.show_trail else ()
        carrier = next((shown for shown in finite if shown.lane is self._shown[0].lane), None)
        gate_lines, gate_panes = ((), ()) if self._race is None else gates_drawn(self._race)
        load = () if self._load is None or carrier is None else (_hanging(self._load, carrier),)
        return Frame(
            view=view,
            vehicles=(
                *(_drawn(shown, self._shown[0], options.highlight) for shown in finite),
                *(body for body, _ in load),
            ),
            lines=(
                *lines,
                *(line for shown in finite for line in _wreck(shown)),
                *(line for shown in finite for line in _pull(shown)),
                *(rope for _, rope in load),
                *gate_lines,
            ),
            arrows=tuple(arrow for shown in finite for arrow in self._arrows(shown, options)),
            surfaces=(*(self._surfaces(finite) if options.show_trail else ()), *gate_panes),
            water_box=self._water_box,
            cones=self._cones,
            wakes=self._shown_wakes(finite),
            splashes=tuple(
                splash
                for shown in finite
                for splash in self._splashes[shown.lane.name].present(self._water_time_s(shown, wall_s))
            ),
            sea=self._sea,
            wall_s=wall_s,
            exposure=exposure,
        )

    @property
    def _sea(self) -> DrawnSea | None:
        """About the flown vehicle, at the moment at which it is drawn."""
        flown = self._shown[0]
        return None if flown.lane.sea is None else DrawnSea(flown.lane.sea, flown.time_s)

    def _arranged(self, options: ViewOptions) -> list[_Shown]:
        """The lanes that are to be seen, where they are to be seen."""
        wanted = [shown for shown in self._shown if options.solo in ("", shown.lane.name)] or list(
            self._shown
        )
        if not any(options.spread_w) or len(wanted) == 1:
            return wanted
        middle = 0.5 * (len(wanted) - 1)
        step_w = np.array(options.spread_w)
        return [
            replace(
                shown,
                bodies={name: _moved(T_wb, (k - middle) * step_w) for name, T_wb in shown.bodies.items()},
                shift_w=(k - middle) * step_w,
                apart=True,
            )
            for k, shown in enumerate(wanted)
        ]

    def _place(self, snapshot: Snapshot, lane: LaneSnapshot, now_s: float) -> _Shown:
        """The lane at its display time, each body on the screw motion between its last two published poses.

        The first snapshot of a generation is drawn at its later pose: the earlier one may lie before the jump.
        """
        if self._first.get(lane.name, (None, 0.0))[0] != lane.generation:
            self._first[lane.name] = (lane.generation, lane.time_current_s)
        jumped = self._first[lane.name][1] == lane.time_current_s
        interval = lane.time_current_s - lane.time_previous_s
        before, now = (np.array([*b.values()]) for b in (lane.bodies_previous, lane.bodies))
        if jumped or interval <= 0 or not (np.isfinite(before).all() and np.isfinite(now).all()):
            return _Shown(lane, lane.time_current_s, lane.bodies)
        time_s = snapshot.display_time_s(lane, now_s)
        share = (time_s - lane.time_previous_s) / interval
        return _Shown(lane, time_s, dict(zip(lane.bodies, poses_between(before, now, share), strict=True)))

    def _note_force(self, lane: LaneSnapshot) -> None:
        size = float(np.linalg.norm(lane.control_wrench_b[3:]))
        key = (lane.name, lane.vehicle)
        if np.isfinite(size):
            self._largest_force_N[key] = max(self._largest_force_N.get(key, 1e-9), size)

    def _lines(self, lanes: list[_Shown]) -> tuple[Polyline, ...]:
        lines = []
        for shown in lanes:
            if outfit_of(shown.lane.vehicle).tracks is not None and not shown.lane.ghost:
                continue  # it leaves tracks on the ground
            width = 2.5 if shown.lane.ghost and not shown.apart else 4.0
            tint = _UNTINTED if min(shown.lane.tint) >= 1.0 else shown.lane.tint
            clear = 0.25 * framing_of(shown.lane.vehicle).distance_m
            trail = self._trails[shown.lane.name]
            T_wb = shown.T_wb - _shift(shown)
            line = trail.line(shown.time_s, T_wb, tint, width_px=width, clear_m=clear)
            if line is not None:
                lines.append(replace(line, points_w=line.points_w + shown.shift_w))
        return tuple(lines)

    def _surfaces(self, lanes: list[_Shown]) -> tuple[Surface, ...]:
        """What wheels have left on the ground."""
        tracks = (
            self._tracks[shown.lane.name].surface(shown.time_s, shown.T_wb - _shift(shown), shown.shift_w)
            for shown in lanes
        )
        return tuple(surface for surface in tracks if surface is not None)

    def _water_time_s(self, shown: _Shown, wall_s: float) -> float:
        """Simulated time of the picture; that of a vehicle that has ended stands still, the water about it does not."""
        name = shown.lane.name
        if shown.lane.status is LaneStatus.RUNNING:
            self._ended_wall_s.pop(name, None)
            return shown.time_s
        return shown.time_s + max(wall_s - self._ended_wall_s.setdefault(name, wall_s), 0.0)

    def _shown_wakes(self, lanes: list[_Shown]) -> tuple[Wake, ...]:
        """What solid hulls leave on the water."""
        wakes = (
            self._wakes[shown.lane.name].wake(shown.time_s, shown.T_wb - _shift(shown), shown.shift_w)
            for shown in lanes
            if shown.apart or not shown.lane.ghost
        )
        return tuple(wake for wake in wakes if wake is not None)

    def _arrows(self, shown: _Shown, options: ViewOptions) -> list[Arrow]:
        arrows: list[Arrow] = []
        R, origin = shown.T_wb[:3, :3], shown.T_wb[:3, 3]
        if options.show_forces:
            scale = _FORCE_ARROW_M / self._largest_force_N.get((shown.lane.name, shown.lane.vehicle), 1.0)
            arrows += [
                Arrow(origin, scale * R @ shown.lane.control_wrench_b[3:], _COLOURS["control"]),
                Arrow(origin, scale * R @ shown.lane.environment_wrench_b[3:], _COLOURS["environment"]),
            ]
            velocity_w = R @ shown.lane.twist_b[3:]
            if np.linalg.norm(velocity_w) > _LEAST_SPEED_MPS:
                arrows.append(Arrow(origin, 0.3 * velocity_w, _COLOURS["velocity"]))
        start = shown.lane.momentum_start_w[:3]
        held = shown.lane.pivot_w is not None
        if options.show_forces and held:
            scale = _MOMENTUM_ARROW_M / max(float(np.linalg.norm(start)), 1e-9)
            arrows.append(Arrow(origin, scale * shown.lane.momentum_w[:3], _COLOURS["momentum"]))
        if options.show_frame:
            size_m = _MOMENTUM_ARROW_M if held else _AXES_M
            arrows += [Arrow(origin, size_m * R[:, k], _COLOURS[axis]) for k, axis in enumerate("xyz")]
        return arrows


def _hanging(load: LoadPicture, carrier: _Shown) -> tuple[DrawnVehicle, Polyline]:
    return hanging(load, carrier.T_wb, carrier.time_s, carrier.shift_w)


def reach_m(links: tuple[Capsule, ...], bodies: Mapping[str, np.ndarray], place_w: np.ndarray) -> float:
    """From a place (3,) to the farthest end of what is drawn of the bodies."""
    moving = [shape for shape in links if shape.body in bodies]
    ends = (bodies[shape.body] @ (*end, 1.0) for shape in moving for end in (shape.begin_b, shape.end_b))
    return float(max(np.linalg.norm(end[:3] - place_w) for end in ends))


def _shift(shown: _Shown) -> np.ndarray:
    """(4, 4) what drawing it apart has added to its pose."""
    matrix = np.zeros((4, 4))
    matrix[:3, 3] = shown.shift_w
    return matrix


def _moved(T_wb: np.ndarray, shift_w: np.ndarray) -> np.ndarray:
    moved = T_wb.copy()
    moved[:3, 3] += shift_w
    return moved


def _pull(shown: _Shown) -> tuple[Polyline, ...]:
    """The spring between a hand and what it pulls."""
    if shown.lane.pull is None or shown.lane.pull[0] not in shown.bodies:
        return ()
    body, at_b, to_w = shown.lane.pull
    ends = np.array([(shown.bodies[body] @ (*at_b, 1.0))[:3], np.array(to_w) + shown.shift_w])
    return (Polyline(points_w=ends, colour=_HAND, alpha=np.full(2, 0.95), width_px=3.5),)


def _wreck(shown: _Shown) -> tuple[Polyline, ...]:
    if shown.lane.status is LaneStatus.RUNNING or not shown.lane.ghost:
        return ()
    size_m = 0.2 * framing_of(shown.lane.vehicle).distance_m
    return wreck_marker(shown.T_wb[:3, 3], size_m, shown.lane.tint)


def presence(T_wb: np.ndarray, flown_T_wb: np.ndarray, size_m: float) -> float:
    """How much is to be seen of a ghost of this size: little while it would only cover the flown vehicle."""
    turned = float(np.linalg.norm(rotation_log(flown_T_wb[:3, :3].T @ T_wb[:3, :3])))
    apart_m = float(np.linalg.norm(T_wb[:3, 3] - flown_T_wb[:3, 3])) + 0.5 * size_m * turned
    share = min(apart_m / (_SEEN_APART * size_m), 1.0)
    return _LEAST_PRESENCE + (1.0 - _LEAST_PRESENCE) * share * share * (3.0 - 2.0 * share)


def _with_stand(shown: _Shown) -> Mapping[str, np.ndarray]:
    """The bodies, and what stands still where it holds them."""
    if shown.lane.pivot_w is None or not shown.lane.links:
        return shown.bodies
    stand = np.eye(4)
    stand[:3, 3] = shown.lane.pivot_w + shown.shift_w
    return {**shown.bodies, STAND: stand}


def _drawn(shown: _Shown, flown: _Shown, highlight: str = "") -> DrawnVehicle:
    lane = shown.lane
    wreck = lane.status is not LaneStatus.RUNNING
    ghost = lane.name != highlight if highlight else lane.ghost and not (wreck or shown.apart)
    seen = 1.0
    if ghost and not shown.apart and np.isfinite(flown.T_wb).all():
        seen = presence(shown.T_wb, flown.T_wb, 0.5 * framing_of(lane.vehicle).distance_m)
    return DrawnVehicle(
        model=lane.vehicle,
        T_wb=shown.T_wb,
        controls=lane.controls,
        shape=lane.shape,
        parameters=lane.parameters,
        time_s=shown.time_s,
        tint=lane.tint,
        ghost=ghost,
        presence=seen,
        wreck=wreck,
        bodies=_with_stand(shown),
        observables=lane.observables,
        links=tuple(shape for shape in lane.links if shape.body != STAND) if ghost else lane.links,
    )
