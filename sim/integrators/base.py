"""What an integrator is: one step for one vehicle, as symbolic expressions.

The compiler turns a scheme into machine code, the planner takes its residual as a constraint:
there is no second copy of an update equation.
"""

from abc import ABC
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from sim.integrators.lagging import lagging
from sim.integrators.scheme import Inputs, Scheme
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form

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
    """What it serves besides, by a stepper that is written by hand: there are no equations of a step."""

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

    def scheme(self, vehicle: Vehicle, *, sampled: bool = False) -> Scheme:
        """The step as expressions. Only called where `serves` answers nothing.

        sampled: with a row of controls for each of the `samples` in place of one that is held.
        """
        return self.equations(vehicle, Inputs.of(vehicle, self.samples(vehicle) if sampled else ()))

    def equations(self, vehicle: Vehicle, inputs: Inputs) -> Scheme:
        """The step in given symbols."""
        step = partial(self.forms[vehicle.form], self)
        return lagging(vehicle, inputs, step) if vehicle.lags else step(vehicle, inputs)

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
