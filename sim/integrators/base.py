"""What an integrator is: one step for one vehicle, as symbolic expressions.

The compiler turns a scheme into machine code, the planner takes its residual as a constraint:
there is no second copy of an update equation.
"""

from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from sim.integrators.scheme import Inputs, Scheme
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(6)
"""Of Gauss and Legendre, on -1..1."""


@dataclass(frozen=True, kw_only=True)
class InputsWithLag(Inputs):
    """As the inputs that they are made from, but for what acts in place of the controls."""

    acting: ca.SX
    """(n_controls,) at the start of the (sub)step."""
    lag_s: ca.SX

    def at(self, share: float) -> ca.SX:
        left = ca.exp(-share * self.h / self.lag_s)
        if not self.samples:
            return self.u + (self.acting - self.u) * left
        return left * self.acting + self._gathered(share)

    def _gathered(self, share: float) -> ca.SX:
        """What the controls until then have left: the integral of u exp((t - s) / lag) / lag."""
        found, a = ca.SX.zeros(self.acting.shape[0]), self.h / self.lag_s
        for point, weight in zip(_POINTS, _WEIGHTS, strict=True):
            s = share * (1 + point) / 2
            decay = share * weight / 2 * a * ca.exp((s - share) * a)
            for part, moment in zip(_parts(self.samples, s), self.samples, strict=True):
                found = found + decay * part * Inputs.at(self, moment)
        return found


def _parts(moments: tuple[float, ...], s: float) -> list[float]:
    """What the values at the moments have of their polynomial's at s (Lagrange)."""
    others = [np.delete(moments, i) for i in range(len(moments))]
    return [float(np.prod((s - o) / (m - o))) for m, o in zip(moments, others, strict=True)]


def with_actuator_lag(vehicle: Vehicle, inputs: Inputs, step: Callable[[Vehicle, Inputs], Scheme]) -> Scheme:
    """The step of a method whose controls act with a lag; what acts stands behind its private state."""
    acting = ca.SX.sym("acting", len(vehicle.controls))
    lag_s = vehicle.lag_s(vehicle.symbols(inputs.p))
    given = {name: getattr(inputs, name) for name in ("u", "w", "p", "h", "node", "samples")}
    behind = InputsWithLag(**given, acting=acting, lag_s=lag_s)
    scheme, begun = step(vehicle, behind), inputs.node[vehicle.node_layout.acting]

    def starting(expression: ca.SX | None) -> ca.SX | None:
        return None if expression is None else ca.vertcat(ca.substitute(expression, acting, begun), begun)

    start = starting(scheme.start)
    assert start is not None
    return replace(
        scheme,
        inputs=inputs,
        y=ca.vertcat(scheme.y, acting),
        y_next=ca.vertcat(scheme.y_next, behind.at(1.0)),
        node=ca.vertcat(scheme.node, acting),
        start=start,
        carried=starting(scheme.carried),
        pushed=starting(scheme.pushed),
    )


KEPT = {
    "momentum": "spatial momentum, to rounding",
    "energy": "energy, without drift",
    "free energy": "kinetic energy of free rotation, to rounding; under weight energy drifts where symmetry is lacking",
    "orbits": "coadjoint orbits, to rounding",
    "constraints": "the constraints, on every arc",
}
"""What a method may keep, in words: momentum in directions in which nothing acts, energy where no input does work."""

TREE_SOLVERS = ("riqn", "newton", "broyden")
"""How the root of a tree's variational step is found, the usual way first: the recursive impulse-based quasi-Newton
method, Newton's with exact derivatives, and the first with Broyden's update (multibody paper, sections 3 to 5)."""

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

    solver: str = ""
    """How the root of a tree's variational step is found, one of TREE_SOLVERS, where the method takes such steps."""
    alias_of: str = ""
    """The method that this is another name of, with one of its options set; empty where it is a method of its own."""

    options: tuple[str, ...] = ()
    """Fields that a user may set."""
    forms: ClassVar[Mapping[Form, Equations]] = {}
    """What a vehicle may declare -> the equations of a step: which vehicles the method serves, as data."""
    by_recursion: frozenset[Form] = frozenset()
    """What a stepper that is written by hand advances by it. Where `forms` has equations too, they are of that very
    step, for plans."""

    @property
    def settings(self) -> dict[str, float | str]:
        """Its options, as `sim.integrator` takes them; without a solver that is the usual one."""
        found = {option: getattr(self, option) for option in self.options}
        return {option: value for option, value in found.items() if value != TREE_SOLVERS[0]}

    @property
    def adaptive(self) -> bool:
        """It divides the step by itself."""
        return self.tolerance > 0

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        """Moments of a (sub)step, as shares of it, at which controls that are a function of time are evaluated."""
        return (0.5,)

    def by_scheme(self, vehicle: Vehicle) -> bool:
        """Whether its equations are what advances the vehicle, rather than a recursion written by hand."""
        return vehicle.form in self.forms and vehicle.form not in self.by_recursion

    def scheme(self, vehicle: Vehicle, *, sampled: bool = False) -> Scheme:
        """The step as expressions. Only called where `serves` answers nothing.

        sampled: with a row of controls for each of the `samples` in place of one that is held.
        """
        return self.equations(vehicle, Inputs.of(vehicle, self.samples(vehicle) if sampled else ()))

    def equations(self, vehicle: Vehicle, inputs: Inputs) -> Scheme:
        """The step in given symbols."""
        step = partial(self.forms[vehicle.form], self)
        return with_actuator_lag(vehicle, inputs, step) if vehicle.lags else step(vehicle, inputs)

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
