"""What lanes have done, as arrays: the one form that glTF, USD and tables are written from."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from sim.contact.obstacles import PropsPicture
from sim.groups.numeric import poses_of
from sim.integrators import Integrator
from sim.multibody.shapes import Link
from sim.platform.errors import InputError, quote
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.recordings.take import LaneStatus
from sim.simulation.lanes.placing import in_world
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot, outcome
from sim.simulation.runs.reference import Ghosts
from sim.steppers.trajectory import Trajectory
from sim.vehicle_config import VehicleConfig, config_of
from sim.vehicles import VEHICLES, State, Vehicle
from sim.vehicles.forms.observation import Observed, layout_of
from sim.vehicles.forms.parameters import Value

if TYPE_CHECKING:
    from sim.world import World

Columns = Mapping[str, np.ndarray]
EVERY_S = 1.0 / 30.0
"""Between the moments of a motion at least, if nothing else is said: one a picture."""
STEPS_S = 1.0 / 200.0
"""The same for files that want every step."""


@dataclass(frozen=True, eq=False)
class SolidsMotion:
    """Bodies of a scene that no lane flies, at moments that increase."""

    time: np.ndarray
    """(n,) s."""
    poses_w: np.ndarray
    """(n, bodies, 4, 4) of their principal axes."""
    look: PropsPicture
    """What they are, and where these axes are in their shapes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LaneMotion:
    """One lane at n moments that increase."""

    name: str
    vehicle: str
    """Registry name, which selects the model."""
    config: VehicleConfig
    """How the parts of that model move."""
    time: np.ndarray
    """(n,) s."""
    bodies: Columns
    """Name -> (n, 4, 4) body to world; the main body comes first."""
    twist: np.ndarray
    """(n, 6) of the main body in its frame: omega [rad/s], v [m/s]."""
    controls: np.ndarray
    """(n, n_controls)."""
    shape: np.ndarray
    """(n, n_shape)."""
    energy: np.ndarray
    """(n,) J."""
    observables: Columns = field(default_factory=dict)
    """Name -> (n,) or (n, k)."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Of the observables."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    wreck: np.ndarray
    """(n,) whether it has ended by then."""
    fall: "Fall | None" = None
    """Of what a crash at its end has thrown."""
    forces_w: Columns = field(default_factory=dict)
    """Who exerts it (control, environment) -> (n, 3) N on the main body, in the world, where that is known."""
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)
    ghost: bool = False
    pivot_w: tuple[float, ...] = (0.0, 0.0, 0.0)
    """m: where the stand of what is held has its place."""
    links: tuple[Link, ...] = ()
    """What its bodies look like that have no model."""
    origin: "Origin | None" = None
    """What it is a motion of, where that is known."""
    solids: "SolidsMotion | None" = None
    """Bodies of what surrounds it."""
    outcome: str = ""
    """What has become of it, in a few words, where that is known."""

    @property
    def main(self) -> np.ndarray:
        """(n, 4, 4) poses of the main body."""
        return next(iter(self.bodies.values()))

    @property
    def end_s(self) -> float:
        """When nothing of it moves any more."""
        return float((self.time if self.fall is None else self.fall.time)[-1])

    def fallen(self) -> "LaneMotion":
        """With its fall as a part of the motion: the main body goes with the hull, all else stays as it was."""
        if self.fall is None:
            return self
        time, hull_w = self.fall.time, self.fall.moves_w[""]

        def held(rows: np.ndarray) -> np.ndarray:
            return np.concatenate([rows, np.repeat(rows[-1:], len(time), axis=0)])

        bodies = {name: held(poses) for name, poses in self.bodies.items()}
        main = next(iter(bodies))
        bodies[main] = np.concatenate([self.main, hull_w @ self.main[-1]])
        return replace(
            self,
            time=np.concatenate([self.time, time]),
            bodies=bodies,
            controls=held(self.controls),
            shape=held(self.shape),
            observables={name: held(column) for name, column in self.observables.items()},
            wreck=held(self.wreck),
        )


@dataclass(frozen=True, eq=False)
class Fall:
    """What a crash has thrown, at moments after a lane's end."""

    time: np.ndarray
    """(n,) s."""
    moves_w: Columns
    """Node of the main body's model, "" for all others -> (n, 4, 4) by which it has moved since, in the world."""
    beside: tuple["LaneMotion", ...]
    """Of what nobody sees before: chips, and who was thrown off."""
    absent: frozenset[str]
    """Nodes of the model that are seen no more: of who was thrown off."""


@dataclass(frozen=True, eq=False)
class Origin:
    """What moved: a vehicle by a method, from a state."""

    vehicle: Vehicle
    integrator: Integrator
    step_s: float
    start: State

    @property
    def about(self) -> str:
        """For captions."""
        return f"{self.vehicle.name} under {self.integrator.name}, steps of {1e3 * self.step_s:.4g} ms"


def motion_of_trajectory(trajectory: Trajectory, name: str = "") -> LaneMotion:
    """What `sim.simulate` gave, up to where it diverged."""
    last = (
        len(trajectory.time) - 1
        if trajectory.diverged_at is None
        else round(trajectory.diverged_at / trajectory.step_s)
    )
    kept = slice(0, last + 1)
    controls = np.vstack([trajectory.controls, trajectory.controls[-1:]])
    if not len(controls):
        controls = trajectory.vehicle.neutral_controls[None]
    observed = Observed(trajectory.observed.layout, trajectory.observed.rows[kept])
    vehicle = trajectory.vehicle
    made = _motion(
        name or vehicle.name, vehicle, trajectory.time[kept], trajectory.nodes[kept], controls[kept], observed
    )
    origin = Origin(vehicle, trajectory.integrator, trajectory.step_s, trajectory.initial)
    return replace(made, origin=origin)


def motion_of_take(
    take: Take,
    *,
    every_s: float = EVERY_S,
    world: "World | None" = None,
    name: str = "",
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0),
    ghost: bool = False,
    solids: object = None,
) -> LaneMotion:
    """A take at steps `every_s` apart; `world`: the take's own, where it is there already.

    solids: the picture of the bodies that its scene has; else they are left out.
    """
    seen = take.playback(None if world is None else lambda: world).samples(every_s, felt=True)
    made = _motion(
        name or take.name, take.vehicle, seen.time, seen.nodes, seen.controls, seen.observed,
        pivot_w=take.segments[0].pivot_w, world=world, tint=tint, ghost=ghost, felt_b=seen.environment_wrench_b,
    )  # fmt: skip
    made.wreck[-1] = take.status is not LaneStatus.RUNNING
    last = take.segments[-1]
    start = last.vehicle.state_at_node(seen.nodes[0])
    origin = Origin(last.vehicle, last.integrator, last.step_s, start)
    return replace(made, origin=origin, solids=_solids_of(take, seen.time, solids))


def _solids_of(take: Take, time: np.ndarray, look: object) -> SolidsMotion | None:
    if not isinstance(look, PropsPicture) or any(segment.solids is None for segment in take.segments):
        return None
    playback, rows = take.playback(), []
    for time_s in time.tolist():
        segment = playback.segment_at(time_s)
        assert segment.solids is not None
        rows.append(segment.solids.at(segment.step_at(time_s)))
    if {len(row) for row in rows} != {len(look.shapes)}:
        return None
    return SolidsMotion(time, np.array([poses_of(row) for row in rows]), look)


def motions_of_takes(
    takes: Sequence[tuple[LaneSnapshot, Take]],
    world: "World",
    *,
    every_s: float = EVERY_S,
    solids: object = None,
) -> list[LaneMotion]:
    """Lanes side by side, as they are seen at last, each with its take; in this world where it is theirs.

    solids: the picture of the bodies that the scene has, which the first one moves among.
    """
    found: list[LaneMotion] = []
    for lane, take in takes:
        here = world if (world.name, world.seed) == (take.world, take.seed) else None
        motion = motion_of_take(
            take, every_s=every_s, world=here, name=lane.name, tint=lane.tint, ghost=lane.ghost,
            solids=None if found else solids,
        )  # fmt: skip
        found.append(replace(motion, outcome=outcome(lane)))
    return found


def motions_of_ghosts(ghosts: Ghosts, flown: LaneSnapshot, time: np.ndarray) -> list[LaneMotion]:
    """What was measured, at moments of a motion that it is shown beside."""
    pictures = [ghosts.pictures(flown, time_s) for time_s in time.tolist()]
    return [_recorded(rows[0].name, list(rows)) for rows in zip(*pictures, strict=True)]


def _motion(
    name: str,
    vehicle: Vehicle,
    time: np.ndarray,
    nodes: np.ndarray,
    controls: np.ndarray,
    observed: Observed,
    *,
    pivot_w: tuple[float, ...] | None = None,
    world: "World | None" = None,
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0),
    ghost: bool = False,
    felt_b: np.ndarray | None = None,
) -> LaneMotion:
    bodies = observed.bodies
    if pivot_w is not None or world is not None:
        place = None if pivot_w is None else np.array(pivot_w)
        poses = np.stack(list(bodies.values()), axis=1)
        placed = [in_world(vehicle, row, world, place) for row in poses]  # type: ignore[arg-type]
        bodies = dict(zip(bodies, np.moveaxis(np.array(placed), 1, 0), strict=True))
    R_wb = next(iter(bodies.values()))[:, :3, :3]
    wrenches_b = {"control": observed.rows[:, observed.layout.control_wrench] @ vehicle.twist_embedding.T}
    if felt_b is not None:
        wrenches_b["environment"] = felt_b
    return LaneMotion(
        name=name,
        vehicle=vehicle.name,
        config=config_of(vehicle),
        time=time,
        bodies=bodies,
        twist=observed.rows[:, observed.layout.twist],
        controls=controls,
        shape=nodes[:, vehicle.node_layout.shape],
        energy=observed.energy,
        observables=observed.observables,
        units=observed.layout.units,
        parameters=vehicle.values,
        wreck=np.zeros(len(time), bool),
        forces_w=_forces_w(R_wb, wrenches_b),
        tint=tint,
        ghost=ghost,
        pivot_w=pivot_w or (0.0, 0.0, 0.0),
        links=vehicle.links,
    )


def _forces_w(R_wb: np.ndarray, wrenches_b: Columns) -> Columns:
    """Forces (n, 3) in the world, of wrenches (n, 6) in the body's frame."""
    return {who: (R_wb @ each[:, 3:, None])[..., 0] for who, each in wrenches_b.items()}


def named_apart(motions: Sequence[LaneMotion]) -> list[LaneMotion]:
    """Motions of which the second of one name is "NAME 2", and so on. Raises InputError for no list of motions."""
    if not isinstance(motions, list | tuple) or not all(isinstance(motion, LaneMotion) for motion in motions):
        raise InputError(f"motions = {quote(motions)} are refused; allowed: a list of motions")
    if not motions:
        raise InputError("nothing to export; allowed: one motion or more")
    taken: set[str] = set()
    found = []
    for motion in motions:
        name, count = motion.name, 1
        while name in taken:
            count += 1
            name = f"{motion.name} {count}"
        taken.add(name)
        found.append(motion if name == motion.name else replace(motion, name=name))
    return found


class MotionRecorder:
    """Gathers snapshots of a run; lanes that diverge stay with what they had."""

    def __init__(self) -> None:
        self._rows: dict[str, list[LaneSnapshot]] = {}
        self._solids: list[tuple[float, PropsPicture]] = []

    def add(self, snapshot: Snapshot) -> None:
        """The lanes at a moment later than the last; after a jump back in time a lane begins anew."""
        for lane in snapshot.lanes:
            rows = self._rows.setdefault(lane.name, [])
            if rows and (lane.vehicle, lane.generation) != (rows[-1].vehicle, rows[-1].generation):
                rows.clear()
            if not rows or lane.time_current_s > rows[-1].time_current_s:
                rows.append(lane)
        around, seen = snapshot.environment, self._solids
        if isinstance(around, PropsPicture) and around.shapes:
            if seen and (snapshot.clock_s < seen[-1][0] or len(around.shapes) != len(seen[-1][1].shapes)):
                seen.clear()
            if not seen or snapshot.clock_s > seen[-1][0]:
                seen.append((snapshot.clock_s, around))

    def motions(self) -> tuple[LaneMotion, ...]:
        """One a lane, in their order; the first has the bodies about it."""
        found = [_recorded(name, rows) for name, rows in self._rows.items() if rows]
        if self._solids and found:
            time = np.array([time_s for time_s, _ in self._solids])
            poses_w = np.array([picture.poses_w for _, picture in self._solids])
            found[0] = replace(found[0], solids=SolidsMotion(time, poses_w, self._solids[-1][1]))
        return tuple(found)


def _recorded(name: str, rows: list[LaneSnapshot]) -> LaneMotion:
    rows = [row for row in rows if np.isfinite(row.T_wb).all()] or rows[:1]
    last = rows[-1]
    kind = VEHICLES[last.vehicle]
    count = len(kind.controls)
    wrenches_b = {
        "control": np.array([row.control_wrench_b for row in rows]),
        "environment": np.array([row.environment_wrench_b for row in rows]),
    }
    told = {key: np.array([row.observables.get(key, np.nan) for row in rows]) for key in last.observables}
    return LaneMotion(
        name=name,
        vehicle=last.vehicle,
        config=last.config,
        time=np.array([row.time_current_s for row in rows]),
        bodies={body: np.array([row.bodies[body] for row in rows]) for body in last.bodies},
        twist=np.array([row.twist_b for row in rows]),
        controls=np.array([row.controls[:count] for row in rows]).reshape(len(rows), -1),
        shape=np.array([row.shape for row in rows]).reshape(len(rows), -1),
        energy=np.array([row.energy_J for row in rows]),
        observables=told,
        units=layout_of(kind(**last.parameters)).units if told else {},
        parameters=last.parameters,
        wreck=np.array([row.status is not LaneStatus.RUNNING for row in rows]),
        forces_w=_forces_w(np.array([row.T_wb[:3, :3] for row in rows]), wrenches_b),
        tint=last.tint,
        ghost=last.ghost,
        pivot_w=(0.0, 0.0, 0.0) if last.pivot_w is None else tuple(last.pivot_w.tolist()),
        links=last.links,
        outcome="" if last.measured else outcome(last),
    )
