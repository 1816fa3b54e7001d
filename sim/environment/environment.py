"""What surrounds the vehicle of a lane, by one protocol: ground, water, or nothing that acts; and what has a state
of its own, coupled by impulses on a fixed grid of moments."""

from collections.abc import Mapping
from dataclasses import field
from functools import cache
from importlib import import_module
from math import inf
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from sim.compiler.stepper import Inline
from sim.platform.values import dataclass
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State, Support
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.observation import ObservationLayout
from sim.world import World


@dataclass(frozen=True, slots=True, eq=False)
class TowedState:
    """A body whose motion another one's decides, as an environment sees it."""

    T_wb: np.ndarray
    """(4, 4) body to world."""
    by_twist: np.ndarray
    """(6, 6) its twist in its own frame by the other's."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyState:
    """A body as an environment sees it."""

    T_wb: np.ndarray
    """(4, 4) body to world."""
    twist_b: np.ndarray
    """(6,) omega [rad/s], v [m/s], body frame."""
    inertia_b: np.ndarray
    """(6, 6) by which its twist answers an impulse [kg m^2, kg], body frame."""
    towed: Mapping[str, TowedState] = field(default_factory=dict)
    """Bodies by name that go as it does."""


@dataclass(frozen=True, slots=True, eq=False)
class JointedState:
    """Bodies that share velocities, as an environment sees them: a tree of joints."""

    poses_w: np.ndarray
    """(k + 1, 4, 4) bodies to world; of the last one, which holds the tree, nothing moves."""
    jacobian_w: np.ndarray
    """(k + 1, 6, nv) of their twists (omega, v) about their places, in the world."""
    mobility: np.ndarray
    """(nv, nv) by which mean velocities over the time to come answer generalised impulses now."""
    velocity: np.ndarray
    """(nv,) mean over that time, if nothing is met."""
    tried: np.ndarray
    """(nv,) mean velocities of a try, by which it is known what way joints carry the bodies;"""
    ahead_w: np.ndarray
    """(k + 1, 4, 4) where that has led them at the end of the time."""
    grounded: bool
    """Whether there is a ground that bears it, by itself."""
    untouched: np.ndarray | None = None
    """(nv,) mean velocities of a try in which nothing was met, if that is another one than `velocity`."""


@dataclass(frozen=True, slots=True)
class Grip:
    """A hand at a body of an environment."""

    body: int
    at_b: tuple[float, float, float]
    """Of the body, in its principal axes [m]."""
    to_w: tuple[float, float, float]
    """Where it is pulled to, in the world [m]."""


class Touch(NamedTuple):
    """What contacts do to a vehicle in an exchange."""

    impulse_Ns: float = 0.0
    """Sum of their normal impulses."""
    slip_mps: float = 0.0
    """How fast the fastest of those that bear moves along what it touches."""


BORNE = 9
"""Numbers of a contact at a vehicle: its body, place and normal in the world, normal impulse [N s], and of what it is
with (0: the ground; else as `sim.contact.obstacles.blows.SURFACES`; below 0: of what moves itself)."""
NONE_BORNE = np.zeros((0, BORNE))


@runtime_checkable
class StruckEnvironment(Protocol):
    """One that knows where it is touched."""

    def borne(self) -> np.ndarray:
        """(k, BORNE) contacts at the vehicle that bore in the last exchange, as it was before that."""


class CoupledEnvironment(Protocol):
    """Something with a state of its own that bodies push and are pushed by."""

    def exchange(
        self, time_s: float, dt_s: float, bodies: Mapping[str, BodyState]
    ) -> Mapping[str, np.ndarray]:
        """Go on by dt_s from a moment of the grid; impulses (6,) (torque [N m s], force [N s]) on bodies, body frame.

        They act on the bodies at `time_s`, at once; what acts on the environment is their opposite.
        """

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        """The vehicle has these numbers from then on."""

    def within_reach(self, T_wb: np.ndarray, twist_b: np.ndarray, dt_s: float) -> bool:
        """Whether it has to know of a body (pose (4, 4) to world, twist (6,) in body frame) in the next dt."""

    def take_impact_mps(self) -> float:
        """Greatest speed at which a body met something that stays in place since the last call; else 0."""

    def touch(self) -> Touch:
        """In the last exchange; nothing of what is no contact."""

    def checkpoint(self) -> np.ndarray:
        """(k,) float64: its whole state; k may differ from one to the next."""

    def restore(self, checkpoint: np.ndarray) -> None:
        """Back to a state that `checkpoint` gave; zeros may follow it, which say nothing."""

    def picture(self) -> object:
        """What is to be drawn: immutable."""


class CoupledSpec(Protocol):
    """A coupled environment as a scene says it, before there is a world."""

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> CoupledEnvironment:
        """As it is when the vehicle's main body starts at (4, 4) T_wb. Raises InputError where it cannot be."""


@runtime_checkable
class JointedEnvironment(CoupledEnvironment, Protocol):
    """One that trees of joints push as well, and are pushed by."""

    def near(self, poses_w: np.ndarray, twists_w: np.ndarray, dt_s: float) -> bool:
        """Whether bodies at poses (k + 1, 4, 4), as `JointedState` has them, with twists (k + 1, 6) (omega, v) in the
        world, may meet anything or each other within dt."""

    def meet(self, time_s: float, dt_s: float, jointed: JointedState | None) -> np.ndarray | None:
        """As `exchange`: the generalised impulse (nv,) on what is jointed; None where nothing is met."""


@runtime_checkable
class SolidsEnvironment(CoupledEnvironment, Protocol):
    """One of bodies that takes and exports hold."""

    @property
    def bodies(self) -> int:
        """How many there are."""

    def solids(self) -> np.ndarray:
        """(n, 7) float32: where they are, place [m] and quaternion (w, x, y, z)."""

    def picture_of(self, solids: np.ndarray) -> object:
        """As `picture`, with the bodies (n, 7) elsewhere."""

    def take_over(self, other: "SolidsEnvironment") -> None:
        """Have bodies that both have be where they are there, moving as they do."""

    def hold(self, grip: Grip | None) -> None:
        """A hand pulls a body from now on; None: none does. It is no part of a checkpoint."""


def can_be_met(vehicle: Vehicle) -> bool:
    """Whether bodies of an environment may touch it."""
    return can_be_coupled(vehicle) or isinstance(vehicle, ArticulatedVehicle)


def can_be_coupled(vehicle: Vehicle) -> bool:
    """Whether its main body answers impulses by itself, within what its wheels allow."""
    return isinstance(vehicle, HolonomicVehicle | NonholonomicVehicle)


KINDS = {
    "none": ("sim.environment.environment", "Environment"),
    "ground": ("sim.contact.ground", "GroundContact"),
    "impulsive-ground": ("sim.contact.impulsive_ground", "ImpulsiveGround"),
    "tree-ground": ("sim.contact.trees", "TreeGround"),
    "water": ("sim.water.water", "Afloat"),
}
"""Name that a vehicle gives (`Vehicle.environment`) -> module and class, imported when such a vehicle is met."""


TOLD = 2
"""Numbers at the end of a report that nothing goes on from, so that no checkpoint holds them: the running sum of the
normal impulses of all contacts [N s], and how fast the fastest of those that bore in the last step slips [m/s]."""


@dataclass(frozen=True, slots=True)
class Impact:
    """The worst touch since the last look [m/s]; zero without one."""

    skids_mps: float
    hull_mps: float


class Environment:
    """The null object: of what stands on its ground by definition, hangs from a fixed point, or moves in free space.

    Others override what they do. All of them remember what they have to in `report`, whose first four numbers are the
    running greatest speed of a touch [m/s], how many contacts carried load in the last step, the lowest height [m], and
    the running greatest speed of a touch that breaks [m/s]; its last TOLD are what contact has borne.
    """

    inline: ClassVar[Inline | None] = None
    """What kernels have within."""
    lasting: ClassVar[int] = 0
    """How many numbers of a checkpoint a start at another state keeps: contact forgets, a sea goes on."""
    acts: ClassVar[bool] = False
    """Whether there is anything that the vehicle may touch."""

    def __init__(
        self, vehicle: Vehicle, report: np.ndarray | None = None, wrench_b: np.ndarray | None = None
    ) -> None:
        self.vehicle = vehicle
        self.report = np.zeros(0) if report is None else report
        self.wrench_b = np.zeros(6) if wrench_b is None else wrench_b
        """(6,) mean wrench of the last step (torque [N m], force [N]), body frame."""

    @classmethod
    def of(cls, vehicle: Vehicle, world: World | None) -> "Environment":
        """About a vehicle with its parameters. Raises InputError for a vehicle that lacks what this needs."""
        return cls(vehicle)

    @staticmethod
    def start(vehicle: Vehicle) -> State:
        """Where the vehicle rests, or its default state."""
        return vehicle.default_state()

    @staticmethod
    def settled(vehicle: Vehicle, T_wb: np.ndarray) -> np.ndarray:
        """(4, 4) body to world at rest, of a vehicle that is put at a pose."""
        return T_wb

    @property
    def env(self) -> tuple[Any, ...]:
        """What a kernel takes; empty where nothing acts within steps."""
        return ()

    @property
    def touching(self) -> bool:
        """Whether anything carried load in the last step."""
        return self.report[1] > 0.0 if self.report.size else self.vehicle.support is not Support.NOTHING

    @property
    def borne_Ns(self) -> float:
        """Sum of the normal impulses of all contacts so far."""
        return float(self.report[-2]) if self.report.size else 0.0

    @property
    def slip_mps(self) -> float:
        """How fast the fastest contact that bore in the last step moves along what it touches."""
        return float(self.report[-1]) if self.report.size else 0.0

    @property
    def aground(self) -> bool:
        """Whether what floats touches bed or shore."""
        return False

    @property
    def water(self) -> Any:
        """The `SeaState` that carries it; None on land and on still water."""
        return None

    def clearance_m(self, node: np.ndarray) -> float:
        """Height of the lowest contact point above the ground, of the fixed point, or over the water's mean level."""
        return self.vehicle.stand_m if self.vehicle.support is Support.STAND else 0.0

    def load_clearance_m(self, node: np.ndarray) -> float:
        """Height of what hangs from it above the ground; inf where nothing does."""
        return inf

    def submerged(self, node: np.ndarray) -> bool:
        """Whether a point that bears no touch is below the surface of water that carries nothing."""
        return False

    def impulse(self, node: np.ndarray, dt_s: float) -> np.ndarray | None:
        """(impulse_size,) that acts between steps, at moments `dt_s` apart; None where there is none."""
        return None

    def borne(self, poses_w: np.ndarray) -> np.ndarray:
        """(k, BORNE) contacts that bore in the last step, with the vehicle's bodies at poses (n, 4, 4)."""
        return NONE_BORNE

    def told(self, layout: ObservationLayout, rows: np.ndarray) -> np.ndarray:
        """What is observed, rows (..., size), with what only the surroundings know; the rows given stay as they are."""
        return rows

    def lift_out(self, node: np.ndarray) -> np.ndarray:
        """The node, in place, raised out of the ground where it was in it."""
        return node

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        """From now on, at that time, the same vehicle with other parameters."""
        self.vehicle = vehicle

    def take_impact(self) -> Impact:
        """The worst touch since the last call."""
        if not self.report.size:
            return Impact(0.0, 0.0)
        impact = Impact(float(self.report[0]), float(self.report[3]))
        self.report[0] = self.report[3] = 0.0
        return impact

    def forget(self) -> None:
        """The vehicle was put somewhere else: clear what contact remembers."""
        self.report[:] = 0.0

    def checkpoint(self) -> np.ndarray:
        """What it goes on from; how hard was touched so far is no part of that. Empty where nothing acts."""
        kept = self.report[:-TOLD].copy()
        if kept.size:
            kept[0] = kept[3] = 0.0
        return kept

    def restore(self, checkpoint: np.ndarray) -> None:
        """Go on from a checkpoint of such an environment; from nothing where that is empty."""
        if self.report.size:
            self.report[:-TOLD] = checkpoint if checkpoint.size else 0.0

    def probe(self) -> "Environment":
        """The same, to look a step ahead without changing what is remembered."""
        return self


@cache
def _kind(name: str) -> type[Environment]:
    module, kind = KINDS[name]
    found: type[Environment] = getattr(import_module(module), kind)
    return found


def kind_of(vehicle: Vehicle) -> type[Environment]:
    """What such a vehicle is surrounded by in a world."""
    return _kind(vehicle.environment)


def environment_of(vehicle: Vehicle, world: World | None = None) -> Environment:
    """About a vehicle in a world; without a world what floats has open water about it, all else free space.

    Raises InputError for a vehicle that lacks what its environment needs, as a hull.
    """
    return kind_of(vehicle).of(vehicle, world)


def default_start(vehicle: Vehicle) -> State:
    """A vehicle's default state; of what floats, in equilibrium in still water about z = 0."""
    return kind_of(vehicle).start(vehicle)
