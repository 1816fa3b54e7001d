"""What an integrator is: one step for one vehicle, as symbolic expressions.

The compiler turns a scheme into machine code, the planner takes its residual as a constraint:
there is no second copy of an update equation.
"""

from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from sim.vehicles.base import Vehicle
from sim.vehicles.form import Form

SAME = 1e-9
"""Moments of a step this near, as shares of it, are one."""

KEPT = {
    "momentum": "spatial momentum, to rounding",
    "energy": "energy, without drift",
    "free energy": "kinetic energy of free rotation, to rounding; under weight energy drifts where symmetry is lacking",
    "orbits": "coadjoint orbits, to rounding",
    "constraints": "the constraints, on every arc",
}
"""What a method may keep, in words: momentum in directions in which nothing acts, energy where no input does work."""


@dataclass(frozen=True)
class Inputs:
    """The symbols that a step may depend on.

    A row of controls is held over its step. For controls that are a function of time there is a second variant
    of every step, which takes one row for each of the moments at which the method samples them.
    """

    u: ca.SX
    """(n_controls,) controls held over the step; with `samples` their rows one after the other."""
    w: ca.SX
    """(dim,) further body wrench, e.g. of the ground: its impulse h w acts at the node where the step starts."""
    p: ca.SX
    """Flat parameters."""
    h: ca.SX
    """Step [s]."""
    node: ca.SX
    """Public state (pose, velocity, shape), for `start`."""
    samples: tuple[float, ...] = ()
    """Moments of the rows of `u` as shares of the (sub)step; none where one row is held."""

    def at(self, share: float) -> ca.SX:
        """(n_controls,) controls at a moment of the (sub)step, which is one of the samples."""
        if not self.samples:
            return self.u
        size = self.u.shape[0] // len(self.samples)
        k = min(range(len(self.samples)), key=lambda i: abs(self.samples[i] - share))
        assert abs(self.samples[k] - share) < SAME, f"no sample at {share} of the step"
        return self.u[k * size : (k + 1) * size]

    @property
    def first(self) -> ca.SX:
        """(n_controls,) of the first sample."""
        return self.at(self.samples[0] if self.samples else 0.0)

    @staticmethod
    def of(vehicle: Vehicle, samples: tuple[float, ...] = ()) -> "Inputs":
        """Fresh symbols of the vehicle's sizes."""
        return Inputs(
            ca.SX.sym("u", len(vehicle.controls) * max(len(samples), 1)),
            ca.SX.sym("w", vehicle.wrench_size),
            ca.SX.sym("p", vehicle.parameter_count),
            ca.SX.sym("h"),
            ca.SX.sym("node", vehicle.node_layout.size),
            samples,
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
    carried: ca.SX | None = None
    """As `start`, of what the ground carries: half of the forces' impulse has arrived and waits for contact's."""
    pushed: ca.SX | None = None
    """As `start`, where the wrench w acts in the step that begins there; None: y does not depend on it."""
    substeps: tuple[float, ...] = (1.0,)
    """A step is this composition: the equations are solved with h times each of these numbers, which sum up to 1."""
    reuse_jacobian: bool = False
    """The residual is cheap beside its Jacobian, which then serves two updates of Newton's method."""
    error: ca.SX | None = None
    """Estimate of a step's error; the step h is then divided as the tolerance wants (adaptive methods)."""


Equations = Callable[[Any, Any, Inputs], Scheme]
"""(integrator, vehicle, symbols) -> a step."""


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
    forms: ClassVar[Mapping[Form, Equations]] = {}
    """What a vehicle may declare -> the equations of a step: which vehicles the method serves, as data."""
    by_recursion: frozenset[Form] = frozenset()
    """What it serves besides, by a stepper that is written by hand: there are no equations of a step."""

    @property
    def adaptive(self) -> bool:
        """It divides the step by itself."""
        return self.tolerance > 0

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        """Moments of a (sub)step, as shares of it, at which controls that are a function of time are evaluated."""
        return (0.5,)

    def scheme(self, vehicle: Vehicle, *, sampled: bool = False) -> Scheme:
        """The step as expressions. Only called where `serves` answers nothing.

        sampled: with a row of controls for each of the `samples` in place of one that is held.
        """
        return self.equations(vehicle, Inputs.of(vehicle, self.samples(vehicle) if sampled else ()))

    def equations(self, vehicle: Vehicle, inputs: Inputs) -> Scheme:
        """The step in given symbols."""
        return self.forms[vehicle.form](self, vehicle, inputs)

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        """What of a vehicle's mechanics is kept at any number of steps: names of `KEPT`."""
        return ()

    def on_flow(self, flow: Any, h: Any) -> tuple[Any, Any | None]:
        """The state one step later, and its difference from the result of lower order where the method is adaptive.

        Of methods that serve what a group moves; arithmetic of `flow` may write loops in place of expressions.
        """
        raise TypeError(f"{self.name} is not written on flows")

    def serves(self, vehicle: Vehicle) -> str:
        """Why this method cannot integrate the vehicle, in a sentence; empty where it can."""
        if vehicle.form not in self.forms and vehicle.form not in self.by_recursion:
            served = ", or ".join(form.value for form in (*self.forms, *self.by_recursion))
            return f"{self.name} serves what has {served}; {vehicle.name} has {vehicle.form.value}"
        return self.lacks(vehicle)

    def lacks(self, vehicle: Vehicle) -> str:
        """What it needs beyond the form and a vehicle of that form has not, in a sentence; empty: nothing."""
        return ""
