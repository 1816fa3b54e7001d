"""What the simulation thread publishes: immutable pictures of the lanes at one moment.

A snapshot is published by assigning one attribute; readers never see a half-written one and
never write to its arrays. The renderer interpolates on the group between the last two published
poses of a lane, so the picture runs one publishing interval behind the simulation and is smooth
at any step and any frame rate.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from sim.control.mpc import MpcStatus
from sim.control.pilot import ControllerPilot
from sim.controllers import Controller, gain_values, plotted_by
from sim.groups.numeric import poses_along
from sim.platform.progress import Preparation
from sim.platform.values import dataclass
from sim.recordings.take import LaneStatus
from sim.scene.layout import Layout
from sim.scene.race import LAPPED, PLANNED, Standing
from sim.vehicle_config import VehicleConfig
from sim.vehicles.forms.parameters import Value
from sim.water.ocean.field import SeaState

if TYPE_CHECKING:
    from sim.contact.obstacles.blows import Blow
    from sim.multibody.shapes import Cord, Link
    from sim.recordings import Take
    from sim.vehicles import Vehicle

MEASURED = "measured"
"""Stands for the integrator of a lane that is not simulated, but shows what was measured; of a race's rivals PLANNED or
LAPPED does."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a lane is from the reference solution at the same simulated time."""

    position_m: float
    rotation_rad: float
    """Angle of the rotation between the two attitudes, 0..pi."""
    energy_J: float
    """Signed: lane minus reference."""
    momentum: float
    """Norm of the difference of the spatial momenta."""


@dataclass(frozen=True, slots=True)
class LaneSnapshot:
    """One vehicle under one integrator, at its last two published moments."""

    name: str
    """Unique among the lanes of a snapshot."""
    vehicle: str
    """Registry name, which also selects the model that is drawn."""
    config: VehicleConfig
    """How that vehicle is flown, read and drawn."""
    integrator: str
    step_s: float
    tint: tuple[float, float, float]
    """Linear RGB by which lanes are told apart."""
    ghost: bool
    """Drawn translucent: a comparison lane, not the one that is flown."""
    generation: int
    """Grows at every discontinuity (reset, teleport, swap): never interpolate, never connect a trail across."""
    time_previous_s: float
    time_current_s: float
    bodies_previous: Mapping[str, np.ndarray]
    """Name -> (4, 4) body-to-world pose at `time_previous_s`."""
    bodies: Mapping[str, np.ndarray]
    """Name -> (4, 4) body-to-world pose at `time_current_s`; the main body comes first."""
    twist_b: np.ndarray
    """(6,) twist (omega [rad/s], v [m/s]) of the main body at the node, in its frame."""
    shape: np.ndarray
    """(n_shape,) shape coordinates, e.g. wheel roll and steering [rad]."""
    controls: np.ndarray
    """(n_controls,) in the vehicle's order and units."""
    control_wrench_b: np.ndarray
    """(6,) wrench of the controls (torque [N m], force [N]), body frame."""
    environment_wrench_b: np.ndarray
    """(6,) mean wrench of ground contact and the like over the last step, body frame."""
    energy_J: float
    energy_start_J: float
    momentum_w: np.ndarray
    """(6,) spatial momentum Ad*_{g^-1} mu, angular then linear; zero where the vehicle's group has no such part."""
    momentum_start_w: np.ndarray
    newton_iterations: float
    """Mean Newton iterations per step since the last snapshot (0 for explicit methods)."""
    step_cost_s: float
    """Wall time per step of the compiled kernel, smoothed."""
    height_above_ground_m: float
    """Of the lowest contact point, counted from the water where that stands over the ground; nan without either."""
    on_ground: bool
    status: LaneStatus
    status_text: str
    """One sentence: which quantity failed and when; or the impact speed. Empty while running."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    """Of the vehicle, by name."""
    controller: "ControllerSnapshot | None" = None
    """That flies it; None where none does."""
    own_pilot: bool = True
    """Flown by a pilot of its own; else it gets the flown lane's controls."""
    deviation: Deviation | None = None
    """None without a reference, and for comparison lanes that have other inputs."""
    observables: Mapping[str, float | np.ndarray] = field(default_factory=dict)
    """Of the vehicle, besides energy and momentum: name -> number or column, in the units that it declares."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Of the observables."""
    observables_start: Mapping[str, float | np.ndarray] = field(default_factory=dict)
    """When energy and momentum were those of the start; what belongs to a step is nan."""
    trails: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Name -> (n, 1 + k) rows (time [s], value): the start of the generation, then the latest part of the trail.

    `omega` [rad/s] of the main body in its frame, and the observables whose trails are kept.
    """
    pivot_w: np.ndarray | None = None
    """(3,) m: the fixed point of what is held at one."""
    pull: tuple[str | int, tuple[float, float, float], tuple[float, float, float]] | None = None
    """Of a hand: the body, or a prop's number, its point in that frame, and where it is pulled to in the world [m]."""
    links: "tuple[Link, ...]" = ()
    """What is drawn of bodies that have no model."""
    cords: "tuple[Cord, ...]" = ()
    """Straight from body to body."""
    sea: SeaState | None = None
    """The waves that carry it; None on land and on still water."""
    aground: bool = False
    """It floats, and bed or shore bears some of it."""
    momentum_account_w: np.ndarray | None = None
    """(2, 6) spatial momentum, angular then linear, that since `KeepAccount` was put in by the controls, and lost by
    the method; None without one, and where the vehicle is not a single body that moves freely."""
    borne_Ns: float = math.nan
    """Normal impulses of all its contacts, with ground, obstacles, props and itself, summed up from step to step; only
    differences mean something. nan where it is not simulated."""
    slip_mps: float = math.nan
    """How fast the fastest contact that bore in the last step moves along what it touches; 0 where none did."""
    blows: "tuple[Blow, ...]" = ()
    """What its own bodies have struck lately, the latest last; of the flown one alone."""
    twist_before_b: np.ndarray = field(default_factory=lambda: np.zeros(6))
    """(6,) of the main body before the blow that has ended it, in its frame; of the past at its end alone."""
    node: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(node size,) configuration and velocity, as the vehicle lays them out; empty where it is not simulated."""
    held: Mapping[str, float] = field(default_factory=dict)
    """Controls that stay at a value whoever flies."""
    mechanics: "Vehicle | None" = None
    """The vehicle itself, with its parameters; None where it is not simulated."""

    @property
    def T_wb(self) -> np.ndarray:
        """(4, 4) pose of the main body at `time_current_s`."""
        return next(iter(self.bodies.values()))

    @property
    def T_wb_previous(self) -> np.ndarray:
        """(4, 4) pose of the main body at `time_previous_s`."""
        return next(iter(self.bodies_previous.values()))

    def pose_at(self, time_s: float) -> np.ndarray:
        """(4, 4) pose of the main body at a moment about the two: on the screw motion between them, and on along it.

        What has stopped stays where it stopped.
        """
        before, now, interval_s = self.T_wb_previous, self.T_wb, self.time_current_s - self.time_previous_s
        if self.status is not LaneStatus.RUNNING or not interval_s > 0.0 or time_s == self.time_current_s:
            return now
        share = (time_s - self.time_previous_s) / interval_s
        pose: np.ndarray = poses_along(before[None], now[None], share)[0]
        return pose

    def distance_m(self, other: "LaneSnapshot") -> float:
        """Between both main bodies at the same time, the earlier one of the two: lanes end at steps of their own."""
        running = [lane.time_current_s for lane in (self, other) if lane.status is LaneStatus.RUNNING]
        time_s = min(running, default=self.time_current_s)
        return float(np.linalg.norm(self.pose_at(time_s)[:3, 3] - other.pose_at(time_s)[:3, 3]))

    @property
    def measured(self) -> bool:
        """It is not simulated."""
        return self.integrator in (MEASURED, PLANNED, LAPPED)

    def scalar(self, name: str) -> float:
        """A scalar observable; nan where the vehicle has none of that name."""
        value = self.observables.get(name, math.nan)
        return float(value) if np.ndim(value) == 0 else math.nan

    def change(self, name: str) -> float:
        """By how much a scalar observable differs from the start."""
        start = self.observables_start.get(name, math.nan)
        return self.scalar(name) - float(start) if np.ndim(start) == 0 else math.nan


def outcome(lane: LaneSnapshot) -> str:
    """What has become of a lane, in a few words."""
    if lane.status is not LaneStatus.RUNNING:
        cause = lane.status_text.partition(": ")[2] or lane.status_text
        return f"{lane.status.value}, {cause}"
    if lane.deviation is None:
        return "holds"
    return f"holds, {off_text(lane)}"


def off_text(lane: LaneSnapshot) -> str:
    """How far a lane is from the reference; nothing without one."""
    off = lane.deviation
    return "" if off is None else f"{length_text(off.position_m)} and {off.rotation_rad:.2g} rad off"


def length_text(metres: float) -> str:
    """With the prefix that suits it."""
    for size, unit in ((1.0, "m"), (1e-3, "mm"), (1e-6, "\N{MICRO SIGN}m"), (1e-9, "nm")):
        if metres >= size:
            return f"{metres / size:.2g} {unit}" if metres < 100.0 * size else f"{metres / size:.0f} {unit}"
    return "under 1 nm"


@dataclass(frozen=True, slots=True, eq=False)
class ControllerSnapshot:
    """A controller as it was at a moment."""

    kind: type[Controller]
    gains: Mapping[str, float]
    """By name, in the order in which they are declared."""
    shown: Mapping[str, tuple[float, str]]
    """(number, unit) of what it wants plotted."""
    fault: str
    """What went wrong, in one line; empty: nothing."""
    late: str
    """How its calls fail to keep up; empty: they do."""

    @classmethod
    def of(cls, pilot: ControllerPilot) -> "ControllerSnapshot":
        """Of who flies now."""
        kind, own = type(pilot.controller), pilot.controller
        return cls(kind, gain_values(own), dict(plotted_by(own)), pilot.fault, pilot.late)

    def plotted(self) -> tuple[dict[str, float], dict[str, str]]:
        """Numbers and units by name."""
        numbers = {name: value for name, (value, _) in self.shown.items()}
        return numbers, {name: unit for name, (_, unit) in self.shown.items()}


@dataclass(frozen=True, slots=True)
class LookBack:
    """What is shown instead of the present, which waits."""

    opened: str
    """Title of a take that does not come from the present flight; empty: the present flight, earlier."""
    begin_s: float
    end_s: float
    time_s: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """A command whose kernel is being compiled; until it is there nothing changes."""

    command: object
    title: str
    """What is compiled."""
    job: Preparation | None
    """How far it is; None before its turn has come."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All lanes on one clock."""

    scene: str
    lanes: tuple[LaneSnapshot, ...]
    """At least one; the first is the one that is flown and followed by the cameras."""
    clock_s: float
    """Simulated time that has been asked for; lanes are at most one step behind it."""
    wall_s: float
    """`time.perf_counter()` when this was published."""
    paused: bool
    speed: float
    """Simulated seconds per wall second asked for (1/32 .. 8)."""
    real_time_factor: float
    """Achieved / asked for, 1 when the machine keeps up; nan while paused."""
    flight_mode: str
    flight_modes: tuple[str, ...]
    """Modes that the flown vehicle has."""
    demo: bool
    """The autopilot flies."""
    message: str
    """Last thing worth telling the user (refused command, mode change); empty if none."""
    answers: int = 0
    """How many such things there have been: two may be told in the same words."""
    reference: bool = False
    """A tight integration runs alongside; lanes tell their deviation from it."""
    accounts: bool = False
    """What steps do to momentum is summed up."""
    plan_flies: bool = False
    """The controls are those of a plan."""
    mpc: MpcStatus | None = None
    """Plans that are made while one flies; None where none are, and while the past is shown."""
    plan_outcome: str = ""
    """How the last flight of a plan ended; empty before its end."""
    recorded_s: tuple[float, float] = (0.0, 0.0)
    """From when to when the flown lane's motion is remembered."""
    look_back: LookBack | None = None
    """The lanes are those of a recording; `clock_s` is the moment of it."""
    former: tuple["Take", ...] = ()
    """Recordings of flights that have begun anew, the latest last."""
    waiting: tuple[Waiting, ...] = ()
    """What was asked for and waits for its kernel."""
    ready_ahead: bool = False
    """The usual methods of what is flown wait for nothing: their kernels are there."""
    race: Standing | None = None
    """Where the scene has one."""
    layout: Layout | None = None
    """Where start, gates and goals are by now."""
    target_path_w: np.ndarray | None = None
    """(n, 3) m: along which the target of the load is led; None where it is not."""
    samples: tuple[tuple[LaneSnapshot, ...], ...] = ()
    """All lanes at the last moments before this one, the latest last, for curves over time: at even distances of
    simulated time, however seldom somebody looks."""
    read: Mapping[str, tuple[LaneSnapshot, ...]] = field(default_factory=dict)
    """By lane, while a take is shown that nobody has flown here, or a ghost by the same inputs: what it shows at even
    distances of time, as far as it has been read."""
    environment: object = None
    """Picture of what moves by itself and is coupled to the flown lane; None without, and while the past is shown."""
    beside: Mapping[str, object] = field(default_factory=dict)
    """The same of comparison lanes, by their names: each has bodies of its own."""

    @property
    def sails(self) -> bool:
        """Whether plans take it to a berth, or have."""
        return self.mpc is not None and self.mpc.berth is not None

    def display_time_s(self, lane: LaneSnapshot, now_s: float) -> float:
        """Simulated time to draw `lane` at, for wall time `now_s` (`time.perf_counter()`)."""
        run_on = 0.0 if self.paused else (now_s - self.wall_s) * self.speed
        interval = lane.time_current_s - lane.time_previous_s
        return min(max(self.clock_s + run_on - interval, lane.time_previous_s), lane.time_current_s)


@dataclass(frozen=True, slots=True)
class LaneLook:
    """A lane's name and colour, and whether it is the flown one or beside it."""

    name: str
    tint: tuple[float, float, float]
    """Linear RGB."""
    ghost: bool


Tint = tuple[float, float, float]
"""Linear RGB, 0 to 1."""

TINTS: tuple[Tint, ...] = (
    (0.12, 0.55, 0.90),
    (0.35, 0.75, 0.20),
    (0.85, 0.20, 0.55),
    (0.90, 0.70, 0.10),
    (0.45, 0.30, 0.85),
    (0.10, 0.70, 0.65),
    (0.90, 0.08, 0.05),
)
"""None is orange: that is the flown lane's, which has no tint of its own."""
_GAMMA = 1.0 / 2.2


def next_tint(used: Iterable[Tint]) -> Tint:
    """The one that differs most from those in use; of equally different ones the first."""
    seen = np.array(list(used)).reshape(-1, 3) ** _GAMMA

    def least_difference(tint: Tint) -> float:
        apart = np.linalg.norm(seen - np.array(tint) ** _GAMMA, axis=1)
        return round(float(apart.min(initial=np.inf)), 3)

    return max(TINTS, key=least_difference)
