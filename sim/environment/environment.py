"""What surrounds the vehicle of a lane, by one protocol: ground, water, or nothing that acts."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import inf
from typing import Any, ClassVar

import numpy as np

from sim.compiler.stepper import Inline
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import State, Support
from sim.world import World

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
