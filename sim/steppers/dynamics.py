"""Discrete dynamics: a vehicle with its parameters, the stepper that advances it, the step, and its bounds.

Which stepper advances a vehicle by a method is decided here: a compiled scheme, or a recursion that is written by hand.

Bounds are numbers that no motion of a vehicle reaches: past them it has diverged, though every number is still finite.
"""

import math
from dataclasses import field
from functools import cache, lru_cache
from pathlib import Path

import casadi as ca
import numpy as np

from sim.compiler.kernel import compile_kernel
from sim.compiler.stepper import Inline, Stepper
from sim.integrators import INTEGRATORS
from sim.integrators.base import Integrator
from sim.integrators.multibody import VariedMultibody
from sim.native.function import versions
from sim.platform.cache import source_digest
from sim.platform.values import dataclass
from sim.steppers.tree import (
    AcceleratedTreeStepper,
    TreeStepper,
    VariationalTreeStepper,
    VariedTreeStepper,
)
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import TREES

TURN_RADPS, SPEED_MPS = 1e5, 1e5
"""A hundred times what the fastest rotors turn with, and nine times what leaves the Earth."""
PLACE = 1e9
"""Of any other number of a node: places [m], thrice as far as the moon, and angles of joints and shapes [rad]."""
TURN_RAD = 1e3
"""In one step: no method follows more than a few radians."""
BLOCK = 2048
"""Nodes looked at together: as many as a processor's cache holds."""
TIMES_START = 1e3
"""What a motion begins with is no sign of divergence; this many times that is."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest numbers that still count as a motion. Entries are in SI units."""

    turn_radps: float
    """Of any component of the body's angular velocity."""
    speed_mps: float
    """Of any component of its linear velocity."""
    shape_per_s: float
    """Of any shape velocity."""
    energy_J: float = math.inf
    """Of the energy's size; inf: any finite one."""
    largest: np.ndarray = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)
    """(node size,) the same for every entry of a node."""

    @staticmethod
    def of(vehicle: Vehicle, node: np.ndarray, step_s: float, energy_J: float = math.inf) -> "Bounds":
        """For a motion that begins at a flat node and takes steps of `step_s` seconds."""
        at = vehicle.node_layout
        turning = vehicle.angular
        began = np.abs(node[at.velocity])
        turn = max(min(TURN_RADPS, TURN_RAD / step_s), TIMES_START * float(began[turning].max(initial=0.0)))
        speed = max(SPEED_MPS, TIMES_START * float(began[~turning].max(initial=0.0)))
        shape = max(TURN_RADPS, TIMES_START * float(np.abs(node[at.shape_velocity]).max(initial=0.0)))
        largest = np.full(node.size, max(PLACE, TIMES_START * float(np.abs(node[at.pose]).max(initial=0.0))))
        largest[at.acting] = np.finfo(float).max  # of the controls' own size
        largest[at.velocity] = np.where(turning, turn, speed)
        largest[at.shape_velocity] = shape
        return Bounds(turn, speed, shape, energy_J, largest)

    def hold(self, node: np.ndarray, energy_J: float) -> bool:
        """Whether a flat node is within them: asked hundreds of times a second."""
        fine = math.isfinite(energy_J) and abs(energy_J) <= self.energy_J
        return fine and bool((np.abs(node) <= self.largest).all())

    def first_beyond(
        self, vehicle: Vehicle, nodes: np.ndarray, energy_J: np.ndarray
    ) -> tuple[int, str] | None:
        """(the first of the nodes (n, node size) that is out of bounds, which quantity is), None where none is.

        energy_J: (n,). What is not finite is out of bounds.
        """
        if self._hold_all(nodes, energy_J):
            return None
        at, turning = vehicle.node_layout, vehicle.angular
        velocity = nodes[:, at.velocity]
        checks = (
            (velocity[:, turning], self.turn_radps, "angular velocity", "rad/s"),
            (velocity[:, ~turning], self.speed_mps, "velocity", "m/s"),
            (nodes[:, at.shape_velocity], self.shape_per_s, "shape velocity", "/s"),
            (energy_J[:, None], self.energy_J, "energy", "J"),
            (nodes, self.largest, "position or shape", ""),
        )
        found: tuple[int, str] | None = None
        for values, bound, name, unit in checks:
            beyond = ~(np.abs(values) <= bound) | ~np.isfinite(values)
            if not beyond.any():
                continue
            row = int(np.flatnonzero(beyond.any(axis=1))[0])
            if found is None or row < found[0]:
                bound = float(np.broadcast_to(bound, values.shape)[row][beyond[row]].max())
                past = f"{name} past {bound:.6g} {unit}" if np.isfinite(values[row]).all() else ""
                found = row, past.strip() or f"{name} not finite"
        return found

    def _hold_all(self, nodes: np.ndarray, energy_J: np.ndarray) -> bool:
        """Whether all are within: what nearly every motion is, so it costs little. Not a number is not within."""
        if not (np.abs(energy_J) <= min(self.energy_J, np.finfo(float).max)).all():
            return False
        least = self.largest.min(initial=np.inf)
        if nodes.size and nodes.max() <= least and nodes.min() >= -least:
            return True  # without a glance at which entry is what
        size = np.empty((min(BLOCK, len(nodes)), nodes.shape[1]))
        for first in range(0, len(nodes), BLOCK):
            block = nodes[first : first + BLOCK]
            if not (np.abs(block, out=size[: len(block)]) <= self.largest).all():
                return False
        return True


_NO_SHARE = 1e-9
CONTROL_PERIOD_S = 0.01
"""Controls are evaluated anew after this much simulated time, or each step where steps are longer."""


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Immutable; a swap in flight replaces it."""

    vehicle: Vehicle
    kernel: Stepper
    step_s: float
    every_step: bool = False
    """Controls are evaluated at each step, however short: as plans have it."""
    parameters: np.ndarray = field(init=False)
    """The vehicle's, flat, as the stepper takes them."""
    control_steps: int = field(init=False)
    """Steps between two evaluations of the controls."""

    def __post_init__(self) -> None:
        steps = 1 if self.every_step else max(round(CONTROL_PERIOD_S / self.step_s), 1)
        object.__setattr__(self, "parameters", self.vehicle.parameter_vector)
        object.__setattr__(self, "control_steps", steps)

    @property
    def integrator(self) -> str:
        return self.kernel.integrator.name

    @property
    def control_period_s(self) -> float:
        return self.control_steps * self.step_s

    def __str__(self) -> str:
        return f"{self.vehicle.name} under {self.integrator} at h = {self.step_s:g} s"


def between(vehicle: Vehicle, start: np.ndarray, end: np.ndarray, share: float) -> np.ndarray:
    """The node that far on the way in the vehicle's space: along geodesics of groups, the rest in proportion."""
    if share < _NO_SHARE:
        return start
    return np.array(_way(Structure.of(vehicle))(start, end, share)).ravel()


@lru_cache(maxsize=16)
def _way(structure: Structure) -> ca.Function:
    """(node, node, share) -> the node between."""
    space = structure.vehicle.space
    a, b, share = ca.SX.sym("a", space.size), ca.SX.sym("b", space.size), ca.SX.sym("share")
    return ca.Function("way", [a, b, share], [ca.densify(space.between(a, b, share))])


def tree_stepper(vehicle: Vehicle, integrator: Integrator, *, sampled: bool = False) -> TreeStepper:
    """One for all values of its parameters. sampled: controls are given at the method's own moments of every step."""
    return _of_structure(Structure.of(vehicle), integrator, sampled)


@lru_cache(maxsize=32)
def _of_structure(structure: Structure, integrator: Integrator, sampled: bool) -> TreeStepper:
    vehicle = structure.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    if isinstance(integrator, VariedMultibody):
        stepper: TreeStepper = VariedTreeStepper(vehicle, integrator)
    elif integrator.solver:
        stepper = VariationalTreeStepper(vehicle, integrator)
    else:
        stepper = AcceleratedTreeStepper(vehicle, integrator, sampled=sampled)
    stepper.warm_up()
    return stepper


def _by_impulses(vehicle: ArticulatedVehicle, integrator: Integrator) -> bool:
    """Whether impulses found in every step hold loops and springs between points."""
    springs = bool(integrator.solver) and len(vehicle.tree.arrays.springs) > 0
    return isinstance(vehicle, ClosedVehicle) or springs


def recursions_of(vehicle: Vehicle, integrator: Integrator) -> tuple[str, str, bool]:
    """(name of what the recursions of such trees leave in the cache, with a digest of their sources; arguments of
    `prepare_recursions`)."""
    assert isinstance(vehicle, ArticulatedVehicle)
    closed = _by_impulses(vehicle, integrator)
    return f"recursions_{integrator.name}_{closed}_{_recursions_digest()}", integrator.name, closed


@cache
def _recursions_digest() -> str:
    rooms = (Path(__file__).parents[1] / room for room in ("multibody", "steppers", "contact", "native"))
    return source_digest(*rooms, others=versions())


def prepare_recursions(method: str, closed: bool) -> None:
    """Have in the cache what moves trees by that method: it is the same for all of them."""
    trees = (kind for kind in VEHICLES.values() if issubclass(kind, ArticulatedVehicle))
    first = next(kind() for kind in trees if issubclass(kind, ClosedVehicle) == closed)
    tree_stepper(first, INTEGRATORS[method])


def stepper_of(
    vehicle: Vehicle, integrator: Integrator, inline: Inline | None = None, *, sampled: bool = False
) -> Stepper:
    """`inline`: what acts within every step of a compiled scheme; `sampled`: controls are given at its own moments.

    Raises InputError where the pair cannot work.
    """
    if vehicle.form in TREES and vehicle.form in integrator.by_recursion:
        return tree_stepper(vehicle, integrator, sampled=sampled)
    return compile_kernel(vehicle, integrator, inline, sampled=sampled)
