"""What an integrator is: one step for one vehicle, as symbolic expressions.

The compiler turns a scheme into machine code, the planner takes its residual as a constraint:
there is no second copy of an update equation.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle


@dataclass(frozen=True)
class Inputs:
    """The symbols that a step may depend on."""

    u: ca.SX
    """(n_controls,) controls at the node."""
    w: ca.SX
    """(dim,) further body wrench at the node, e.g. of the ground."""
    p: ca.SX
    """Flat parameters."""
    h: ca.SX
    """Step [s]."""
    node: ca.SX
    """Public state (pose, velocity, shape), for `start`."""

    @staticmethod
    def of(vehicle: Vehicle) -> "Inputs":
        """Fresh symbols of the vehicle's sizes."""
        return Inputs(
            ca.SX.sym("u", len(vehicle.controls)),
            ca.SX.sym("w", vehicle.group.dim),
            ca.SX.sym("p", vehicle.parameter_count),
            ca.SX.sym("h"),
            ca.SX.sym("node", vehicle.node_layout.size),
        )


@dataclass(frozen=True)
class Scheme:
    """One step y -> y_next, in the integrator's private state y.

    Implicit methods have unknowns z with residual(z) = 0, which has to become regular and explicitly
    solvable as h -> 0 so that it can be continued from there.
    """

    inputs: Inputs
    y: ca.SX
    """Private state at the start of the step."""
    z: ca.SX
    """Unknowns, possibly none."""
    residual: ca.SX
    guess: ca.SX
    """First guess of z from y and the inputs."""
    y_next: ca.SX
    """Private state at the end, from z, y and the inputs."""
    node: ca.SX
    """Public state at the start of the step: pose and node velocity, from z, y and the inputs."""
    start: ca.SX
    """Private state from `inputs.node`: the discrete Legendre transform where the method needs one."""
    free_velocity: ca.SX
    """(dim,) body velocity that the step would reach with w = 0, to first order: what contact works against."""
    substeps: tuple[float, ...] = (1.0,)
    """A step is this composition: the equations are solved with h times each of these numbers, which sum up to 1."""
    reuse_jacobian: bool = False
    """The residual is cheap beside its Jacobian, which then serves two updates of Newton's method."""
    error: ca.SX | None = None
    """Estimate of a step's error; the step h is then divided as the tolerance wants (adaptive methods)."""


class Integrator(ABC):
    """A one-step method; `order` is declared here and measured in the tests."""

    name: str
    family: str
    order: int
    doc: str
    """One or two honest sentences for a tooltip."""
    source: str
    tau: str = ""
    """Group difference map, where the method has one."""
    force_evaluations: int
    """Evaluations of the vehicle's forces per step."""
    tolerance: float = 0.0
    """Largest error estimate of a step that adaptive methods accept; others have none."""

    options: tuple[str, ...] = ()
    """Fields that a user may set."""

    @property
    def adaptive(self) -> bool:
        """It divides the step by itself."""
        return self.tolerance > 0

    @abstractmethod
    def scheme(self, vehicle: Vehicle) -> Scheme:
        """The step as expressions. Only called where `serves` answers nothing."""

    def serves(self, vehicle: Vehicle) -> str:
        """Why this method cannot integrate the vehicle, in a sentence; empty where it can."""
        return ""


def holonomic_only(name: str, vehicle: Vehicle) -> str:
    """Why a method that knows no constraints cannot integrate the vehicle; empty where it can."""
    if isinstance(vehicle, HolonomicVehicle):
        return ""
    return f"{name} needs a holonomic vehicle, {vehicle.name} is none"
