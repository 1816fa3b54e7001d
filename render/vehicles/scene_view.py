"""From snapshots to pictures: what is drawn, where, at the wall time of the frame."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from render.frame import Arrow, DrawnSea, DrawnVehicle, Frame, Polyline, Surface, View
from render.land.birds import Birds
from render.vehicles.crash_film import CrashFilm
from render.vehicles.left_behind import LeftBehind, stream_of
from render.vehicles.links import (
    chosen_body,
    contact_shapes,
    inertia_ellipsoids,
    inertia_rings,
    joint_axes,
)
from render.vehicles.shown import (
    CORD,
    LaneArrows,
    ShownLane,
    contact_arrows,
    cords,
    drawn,
    middle_m,
    moved,
    props_drawn,
    pull,
    reach_m,
    wreck,
)
from render.vehicles.struck import splashes_of, thrown_up
from sim.contact.obstacles import ObstaclesPicture, PropsPicture
from sim.contact.obstacles.blows import Blow
from sim.groups.numeric import poses_between
from sim.platform.values import dataclass
from sim.scene.race import Standing
from sim.scene.tables import Swell
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.vehicle_config import VehicleConfig
from sim.water.picture import BoxPicture
from sim.world import World

_DUE, _THEN, _OTHER = (1.0, 0.62, 0.05), (0.9, 0.85, 0.7), (0.35, 0.36, 0.38)
"""Linear RGB: the next gate, the one after it, and all others."""
_WIDTHS_PX = (6.0, 4.0, 2.0)
_WITHIN = 0.10
_ARROW = 0.35
"""Half size of the arrow on the ground of the opening, by its half width."""


def gates_drawn(standing: Standing) -> tuple[tuple[Polyline, ...], tuple[Surface, ...]]:
    """Lines and panes, from the race as it stands."""
    course = standing.course
    due = standing.due % len(course.gates)
    then = (due + 1) % len(course.gates) if course.closed or due + 1 < len(course.gates) else -1
    lines: list[Polyline] = []
    panes: list[Surface] = []
    for index, gate in enumerate(course.gates):
        place = 0 if index == due else 1 if index == then else 2
        colour = (_DUE, _THEN, _OTHER)[place]
        corners = gate.corners_w()
        lines.append(_line(np.vstack([corners, corners[:1]]), colour, _WIDTHS_PX[place]))
        if place == 0:
            ahead, left, _ = gate.frame()
            foot, half = 0.5 * (corners[0] + corners[3]), _ARROW * gate.half_width_m
            head = np.array(
                [foot - half * ahead + half * left, foot + half * ahead, foot - half * ahead - half * left]
            )
            lines.append(_line(head, colour, _WIDTHS_PX[0]))
            pane = corners[[0, 1, 2, 0, 2, 3]]
            panes.append(Surface(pane, np.tile(-ahead, (6, 1)), colour, _WITHIN))
    return tuple(lines), tuple(panes)


def _line(points_w: np.ndarray, colour: tuple[float, float, float], width_px: float) -> Polyline:
    return Polyline(points_w, colour, np.ones(len(points_w)), width_px)


_COLOUR, _CASING = (1.0, 0.80, 0.32), (0.01, 0.012, 0.015)
"""Linear RGB: brass, as the cross at the target."""
_WIDTH_PX, _CASING_PX = 3.0, 5.0


def target_path(places_w: np.ndarray | None) -> tuple[Polyline, ...]:
    """Through places (n, 3) m; nothing where there is none."""
    if places_w is None:
        return ()
    alpha = np.ones(len(places_w))
    return (
        Polyline(places_w, _CASING, 0.5 * alpha, _CASING_PX),
        Polyline(places_w, _COLOUR, alpha, _WIDTH_PX),
    )


Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """What is shown besides the vehicles."""

    show_trail: bool = True
    show_forces: bool = False
    """Control and environment force, and velocity; of a top its angular momentum."""
    show_frame: bool = False
    """Body axes: x red, y green, z blue."""
    show_inertia: bool = False
    """Centre of mass and ellipsoid of inertia of each body that tells its mass and its moments."""
    show_joints: bool = False
    """Axes of hinges and slides."""
    show_contacts: bool = False
    """What touches the ground."""
    chosen: str = ""
    """A body of the flown vehicle that is marked; empty: none."""
    solo: str = ""
    """The only lane that is drawn; empty: all."""
    highlight: str = ""
    """The lane that is drawn solid in its tint, all others as ghosts; empty: as the lanes say."""
    spread_w: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Step (3,) m by which the lanes are drawn apart, in a row about their true place."""


@dataclass(frozen=True, slots=True)
class FlownSubject:
    """The flown vehicle at the moment of the frame: what a camera follows."""

    config: VehicleConfig
    T_wb: np.ndarray
    """(4, 4); upright for what turns about a fixed point."""
    twist_b: np.ndarray
    """(6,) (omega, v)."""
    generation: int
    reach_m: float = 0.0
    """How far what is drawn of its bodies reaches from there as it set out; 0 where its config tells its size."""
    held: bool = False
    """By a fixed point, below which it hangs."""


class SceneView:
    """Keeps what a picture needs beyond one snapshot: what lanes leave behind, and the scale of force arrows."""

    def __init__(
        self, world: World | None = None, *, swell: Swell | None = None, replays: bool = False
    ) -> None:
        """`world`: in which it takes place. `swell`: on its sea, where that carries nothing. `replays`: whether the
        last seconds before a crash are shown again."""
        level_m = None if world is None else world.water_level_m
        self._world = world
        self._swell = None if swell is None or level_m is None else swell.state(level_m)
        self.film = CrashFilm(world, replays=replays)
        self._birds = Birds(world)
        self._left: dict[str, LeftBehind] = {}
        self._arrows = LaneArrows()
        self._shown: tuple[ShownLane, ...] = ()
        self._first: dict[str, tuple[int, float]] = {}
        self._environment: object = None
        self._beside: Mapping[str, object] = {}
        self._race: Standing | None = None
        self._target_path_w: np.ndarray | None = None
        self._reach: tuple[tuple[str, int] | None, float, float] = (None, 0.0, 0.0)

    def observe(self, snapshot: Snapshot, now_s: float) -> FlownSubject:
        """Place every lane at the wall time `now_s` (`time.perf_counter()`); returns the flown one."""
        self._shown = tuple(self._place(snapshot, lane, now_s) for lane in snapshot.lanes)
        self.film.observe(snapshot)
        filmed = self.film.shown()
        self._environment = self.film.surroundings(snapshot.environment)
        self._beside = snapshot.beside
        self._race = snapshot.race
        self._target_path_w = snapshot.target_path_w
        names = [lane.name for lane in snapshot.lanes]
        self._left = {name: self._left.get(name) or LeftBehind(self._world) for name in names}
        for shown in self._shown:
            self._left[shown.lane.name].extend(shown)
            self._arrows.note(shown.lane)
        if filmed is not None:
            self._shown = (filmed, *self._shown[1:])
        flown = self._shown[0]
        T_wb, twist_b = flown.T_wb, flown.lane.twist_b
        if flown.lane.pivot_w is not None:
            # A camera that turned with a top would show the world spinning.
            T_wb, twist_b = np.eye(4), np.zeros(6)
            T_wb[:3, 3] = flown.lane.pivot_w
        key = flown.lane.vehicle, flown.lane.generation
        held, links = flown.lane.pivot_w is not None, flown.lane.links
        if links and self._reach[0] != key:
            lift_m = flown.lane.config.camera.lift_m
            middle = middle_m(links, flown.bodies, T_wb[:3, 3], lift_m) if held else 0.0
            about_w = T_wb[:3, 3] + np.array([0.0, 0.0, middle])
            self._reach = key, reach_m(links, flown.bodies, about_w), middle
        _, reach, middle = self._reach if links else (key, 0.0, 0.0)
        strayed_w = flown.T_wb[:3, 3] - T_wb[:3, 3]
        strayed_m = float(np.linalg.norm(strayed_w))
        if held and links and strayed_m > reach:  # it slides or rolls away: the camera goes along
            T_wb[:3, 3] += (1.0 - reach / strayed_m) * strayed_w
        if middle:
            T_wb[2, 3] += middle
            held = False
        return FlownSubject(flown.lane.config, T_wb, twist_b, flown.lane.generation, reach, held)

    def places_w(self, options: ViewOptions | None = None) -> dict[str, np.ndarray]:
        """(3,) m by lane name: where each lane was last observed, or is drawn under these options."""
        return {shown.lane.name: shown.T_wb[:3, 3] for shown in self._arranged(options or ViewOptions())}

    def bodies_w(self) -> dict[str, dict[str, np.ndarray]]:
        """(4, 4) by name of lane and body: where each was last observed, not where it is drawn apart."""
        return {shown.lane.name: dict(shown.bodies) for shown in self._shown}

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
        arranged = self._arranged(options)
        finite = [shown for shown in arranged if np.isfinite(shown.T_wb).all()]
        left = [(self._left[shown.lane.name], shown) for shown in finite]
        trailed = left if options.show_trail else []
        shells, cross = chosen_body(self._shown[0], options.chosen)
        gate_lines, gate_panes = ((), ()) if self._race is None else gates_drawn(self._race)
        return Frame(
            view=view,
            vehicles=(
                *(vehicle for shown in finite for vehicle in self._drawn(shown, options)),
                *self._props(arranged, options.highlight),
            ),
            lines=(
                *_there(marks.line(shown) for marks, shown in trailed),
                *(line for shown in finite for line in wreck(shown)),
                *(line for shown in finite for line in pull(shown, dict(enumerate(self._prop_poses)))),
                *(line for shown in finite for line in cords(shown)),
                *(Polyline(ends, CORD, np.ones(2), width_px=3.0) for ends in self._cords_w),
                *gate_lines,
                *target_path(self._target_path_w),
                *(line for shown in finite if options.show_inertia for line in inertia_rings(shown)),
                *(line for shown in finite if options.show_joints for line in joint_axes(shown)),
                *cross,
            ),
            arrows=(
                *(
                    arrow
                    for shown in finite
                    for arrow in self._arrows.of(shown, forces=options.show_forces, frame=options.show_frame)
                ),
                *(self._contact_arrows() if options.show_forces else ()),
            ),
            surfaces=(
                *_there(marks.surface(shown) for marks, shown in trailed),
                *gate_panes,
                *self._birds.surfaces(self._shown[0].time_s, view.eye_w),
                *self.film.dust(view),
                *thrown_up(self._blows, self._shown[0].time_s, view),
                *thrown_up(self.film.blows, self.film.wreck_age_s, view),
                *(each for shown in finite if options.show_inertia for each in inertia_ellipsoids(shown)),
                *(each for shown in finite if options.show_contacts for each in contact_shapes(shown)),
                *shells,
            ),
            water_box=self._environment_as(BoxPicture),
            cones=self._cones,
            wakes=_there(marks.wake(shown) for marks, shown in left),
            splashes=(
                *(splash for marks, shown in left for splash in marks.splashes(shown, wall_s)),
                *splashes_of(self._blows, self._shown[0].time_s, stream_of(self._world)),
                *splashes_of(self.film.blows, self.film.wreck_age_s, stream_of(self._world)),
            ),
            sea=self._sea,
            wall_s=wall_s,
            exposure=exposure,
        )

    def _drawn(self, shown: ShownLane, options: ViewOptions) -> tuple[DrawnVehicle, ...]:
        vehicle = drawn(shown, self._shown[0], options.highlight)
        if not vehicle.ghost and (way := self._left[shown.lane.name].way(shown)) is not None:
            vehicle = replace(vehicle, way=way)
        return self.film.broken(vehicle) if shown is self._shown[0] and not shown.apart else (vehicle,)

    def _environment_as(self, kind: type[Thing]) -> Thing | None:
        """What the moving environment shows, where it is of this kind."""
        return self._environment if isinstance(self._environment, kind) else None

    @property
    def _cones(self) -> ObstaclesPicture | None:
        props = self._environment_as(PropsPicture)
        return self._environment_as(ObstaclesPicture) if props is None else props.obstacles

    @property
    def _prop_poses(self) -> np.ndarray:
        props = self._environment_as(PropsPicture)
        return np.zeros((0, 4, 4)) if props is None else props.poses_w

    @property
    def props_corners_w(self) -> np.ndarray | None:
        """(5, 3) m: the rectangle in which the props that move stood at first, and between its corners what is flown,
        where it is now; None without any."""
        props = self._environment_as(PropsPicture)
        moving = (
            [] if props is None else [one.prop.shape.middle_w for one in props.placed if one.prop.mass_kg]
        )
        if not moving:
            return None
        low, high = np.min(moving, axis=0), np.max(moving, axis=0)
        corners = [
            (x, y, low[2]) for x, y in ((low[0], low[1]), (high[0], low[1]), high[:2], (low[0], high[1]))
        ]
        return np.array([*corners[:2], self._shown[0].T_wb[:3, 3], *corners[2:]])

    @property
    def _cords_w(self) -> np.ndarray:
        props = self._environment_as(PropsPicture)
        return np.zeros((0, 2, 3)) if props is None else props.cords_w

    @property
    def _blows(self) -> tuple[Blow, ...]:
        props = self._environment_as(PropsPicture)
        return (*(() if props is None else props.blows), *self._shown[0].lane.blows)

    def _contact_arrows(self) -> list[Arrow]:
        solids, flown = self._environment_as(PropsPicture), self._shown[0].lane
        return [] if solids is None else contact_arrows(solids.contacts, flown.config.camera.distance_m)

    def _props(self, arranged: list[ShownLane], highlight: str) -> tuple[DrawnVehicle, ...]:
        """Props of the lanes that are to be seen; nothing where the scene has none."""
        flown = self._shown[0]
        about = {**self._beside, flown.lane.name: self._environment}
        pairs = ((shown, about.get(shown.lane.name)) for shown in arranged)
        piles = [(shown, own) for shown, own in pairs if isinstance(own, PropsPicture) and len(own.shapes)]
        return props_drawn(piles, flown, highlight)

    @property
    def _sea(self) -> DrawnSea | None:
        """About the flown vehicle, at the moment at which it is drawn."""
        flown = self._shown[0]
        sea = self._swell if flown.lane.sea is None else flown.lane.sea
        return None if sea is None else DrawnSea(sea, flown.time_s)

    def moment(self, lane: LaneSnapshot, options: ViewOptions) -> DrawnVehicle:
        """A lane as it was at a moment, where that lane is drawn now."""
        shifts_w = {shown.lane.name: shown.shift_w for shown in self._arranged(options)}
        shift_w = shifts_w.get(lane.name, np.zeros(3))
        flown = self._shown[0]
        return drawn(
            _shifted(ShownLane(lane, lane.time_current_s, lane.bodies), shift_w), _shifted(flown, shift_w)
        )

    def _arranged(self, options: ViewOptions) -> list[ShownLane]:
        """The lanes that are to be seen, where they are to be seen."""
        wanted = [shown for shown in self._shown if options.solo in ("", shown.lane.name)] or list(
            self._shown
        )
        if not any(options.spread_w) or len(wanted) == 1:
            return wanted
        middle = 0.5 * (len(wanted) - 1)
        step_w = np.array(options.spread_w)
        return [replace(_shifted(shown, (k - middle) * step_w), apart=True) for k, shown in enumerate(wanted)]

    def _place(self, snapshot: Snapshot, lane: LaneSnapshot, now_s: float) -> ShownLane:
        """The lane at its display time, each body on the screw motion between its last two published poses.

        The first snapshot of a generation is drawn at its later pose: the earlier one may lie before the jump.
        """
        if self._first.get(lane.name, (None, 0.0))[0] != lane.generation:
            self._first[lane.name] = (lane.generation, lane.time_current_s)
        jumped = self._first[lane.name][1] == lane.time_current_s
        interval = lane.time_current_s - lane.time_previous_s
        before, now = (np.array([*b.values()]) for b in (lane.bodies_previous, lane.bodies))
        if jumped or interval <= 0 or not (np.isfinite(before).all() and np.isfinite(now).all()):
            return ShownLane(lane, lane.time_current_s, lane.bodies)
        time_s = snapshot.display_time_s(lane, now_s)
        share = (time_s - lane.time_previous_s) / interval
        return ShownLane(lane, time_s, dict(zip(lane.bodies, poses_between(before, now, share), strict=True)))


def _there(things: Iterable[Thing | None]) -> tuple[Thing, ...]:
    return tuple(thing for thing in things if thing is not None)


def _shifted(shown: ShownLane, shift_w: np.ndarray) -> ShownLane:
    """The lane drawn apart from its true place by (3,) m."""
    bodies = {name: moved(T_wb, shift_w) for name, T_wb in shown.bodies.items()}
    return replace(shown, bodies=bodies, shift_w=shift_w)
