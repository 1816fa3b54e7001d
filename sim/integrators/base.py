"""What an integrator is: one step for one vehicle, as symbolic expressions; Runge-Kutta tableaux.

The compiler turns a scheme into machine code, the planner takes its residual as a constraint:
there is no second copy of an update equation.
"""

from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from sim.groups import LieGroup
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form

SAME = 1e-9
"""Moments of a step this near, as shares of it, are one."""


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

    def at(self, share: float | ca.SX) -> ca.SX:
        """(n_controls,) controls at a moment of the (sub)step, which is one of the samples where there are any."""
        if not self.samples:
            return self.u
        size = self.u.shape[0] // len(self.samples)
        moment = float(share)
        k = min(range(len(self.samples)), key=lambda i: abs(self.samples[i] - moment))
        assert abs(self.samples[k] - moment) < SAME, f"no sample at {share} of the step"
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


def _nothing() -> ca.SX:
    return ca.SX(0, 1)


@dataclass(frozen=True)
class Scheme:
    """One step y -> y_next, in the integrator's private state y.

    Implicit methods have unknowns z with residual(z) = 0, which has to become regular and explicitly
    solvable as h -> 0 so that it can be continued from there.
    """

    inputs: Inputs
    y: ca.SX
    """Private state at the start of the step."""
    y_next: ca.SX
    """Private state at the end, from z, y and the inputs."""
    node: ca.SX
    """Public state at the start of the step: pose and node velocity, from z, y and the inputs."""
    start: ca.SX
    """Private state from `inputs.node`: the discrete Legendre transform where the method needs one."""
    free_velocity: ca.SX
    """(dim,) body velocity that the step would reach with w = 0, to first order: what contact works against."""
    z: ca.SX = field(default_factory=_nothing)
    """Unknowns; explicit methods have none, and neither residual nor guess."""
    residual: ca.SX = field(default_factory=_nothing)
    guess: ca.SX = field(default_factory=_nothing)
    """First guess of z from y and the inputs."""
    carried: ca.SX | None = None
    """As `start`, of what the ground carries: half of the forces' impulse has arrived and waits for contact's."""
    pushed: ca.SX | None = None
    """As `start`, where the wrench w acts in the step that begins there; None: y does not depend on it."""
    substeps: tuple[float, ...] = (1.0,)
    """A step is this composition: the equations are solved with h times each of these numbers, which sum up to 1."""
    updates_per_jacobian: int = 1
    """Of Newton's method, at most: more where the residual is cheap beside its Jacobian."""
    parts: ca.SX = field(default_factory=_nothing)
    """Numbers that no step makes negative, as gaps at its end and forces of contact; plans alone solve for these."""
    touches: tuple["Touch", ...] = ()
    """Which of the parts belong to one contact."""
    error: ca.SX | None = None
    """Estimate of a step's error; the step h is then divided as the tolerance wants (adaptive methods)."""
    stages: "Stages | None" = None
    """How `y_next` comes out of one expression, where the step is explicit stages of it; it is not another step."""

    @property
    def contact_forces(self) -> int:
        """How many its contacts have, those that part and those along."""
        return sum(1 + len(touch.spares) for touch in self.touches)


@dataclass(frozen=True)
class Touch:
    """The parts of one contact of a scheme, by their numbers."""

    gap: int
    force: int
    spares: tuple[tuple[int, int], ...]
    """What friction leaves of the force along, on either side: of each way along, one on a plane, two in space."""
    slips: tuple[tuple[int, ...], ...]
    """Speeds ahead and back along each way; or one speed of any sign, of what sticks where it bears."""

    @property
    def slides(self) -> bool:
        """Whether it may slip while it bears."""
        return len(self.slips[0]) > 1

    @property
    def either(self) -> tuple[tuple[int, int], ...]:
        """Of which two parts one is nothing."""
        found = [(self.gap, self.force)]
        for (ahead, *back), (one, other) in zip(self.slips, self.spares, strict=True):
            found += [(ahead, back[0]), (ahead, one), (back[0], other)] if back else [(self.force, ahead)]
        return tuple(found)

    @property
    def signed(self) -> tuple[int, ...]:
        """Parts that have any sign."""
        return () if self.slides else tuple(slip for slips in self.slips for slip in slips)

    @property
    def parts(self) -> list[int]:
        """All of them, in growing order."""
        return sorted({self.gap, self.force, *sum(self.spares, ()), *sum(self.slips, ())})


@dataclass(frozen=True)
class Stages:
    """Explicit stages, each from the one before alone, whose rates are one expression: a loop may go over them."""

    tableau: "Tableau"
    state: ca.SX
    """(n,) symbols of where a rate is taken; the first n of the private state."""
    moment: ca.SX
    """Symbol of the share of the step at which it is taken."""
    rate: ca.SX
    """(n,) of these and of what the step depends on."""
    after: ca.SX
    """Private state after the step, the end of the stages standing at `state`."""


@dataclass(frozen=True)
class Tableau:
    """Butcher tableau of an explicit method: strictly lower a, weights b."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    @property
    def c(self) -> tuple[float, ...]:
        """Moments of the stages, as shares of the step."""
        return tuple(sum(row) for row in self.a)

    @property
    def subdiagonal(self) -> tuple[float, ...]:
        """What each stage takes of the one before; empty where one takes of others."""
        lower = [row[:-1] for row in self.a if row]
        return () if any(map(any, lower)) else (0.0, *(row[-1] for row in self.a if row))

    def step(self, rate: Callable[[ca.SX, float], ca.SX], y: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        """y after a step of y' = rate(y, moment), and the first stage's rate."""
        stages: list[ca.SX] = []
        for row, moment in zip(self.a, self.c, strict=True):
            stages.append(rate(_combined(y, h, row, stages), moment))
        return _combined(y, h, self.b, stages), stages[0]


def _combined(y: ca.SX, h: ca.SX, weights: tuple[float, ...], stages: list[ca.SX]) -> ca.SX:
    terms = [b * k for b, k in zip(weights, stages, strict=True) if b]
    return y + h * sum(terms[1:], terms[0]) if terms else y


def distinct(moments: Iterable[float]) -> tuple[float, ...]:
    """In ascending order, each once."""
    found: list[float] = []
    for moment in sorted(moments):
        if not found or moment - found[-1] > SAME:
            found.append(moment)
    return tuple(found)


EULER = Tableau(((),), (1.0,))


MIDPOINT = Tableau(((), (1 / 2,)), (0.0, 1.0))


_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(6)
"""Of Gauss and Legendre, on -1..1."""


@dataclass(frozen=True, kw_only=True)
class InputsWithLag(Inputs):
    """As the inputs that they are made from, but for what acts in place of the controls."""

    acting: ca.SX
    """(n_controls,) at the start of the (sub)step."""
    lag_s: ca.SX

    def at(self, share: float | ca.SX) -> ca.SX:
        left = ca.exp(-share * self.h / self.lag_s)
        if not self.samples:
            return self.u + (self.acting - self.u) * left
        return left * self.acting + self._gathered(float(share))

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

    start, stages, arrived = starting(scheme.start), scheme.stages, behind.at(1.0)
    assert start is not None
    return replace(
        scheme,
        inputs=inputs,
        y=ca.vertcat(scheme.y, acting),
        y_next=ca.vertcat(scheme.y_next, arrived),
        stages=stages and replace(stages, after=ca.vertcat(stages.after, arrived)),
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


@dataclass(frozen=True)
class Arc:
    """How a method that keeps momentum goes from one node to the next, and where on that way it puts impulses in."""

    group: LieGroup
    """Whose pose the arc moves."""
    tau: str
    """Map from velocities to displacements: `cay`, else the exponential one."""
    forces_at: tuple[tuple[float, float], ...]
    """(share of the step, weight): in space the momentum changes by these impulses, to rounding."""


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
    looks: int = 0
    """At where a tree's step ends, at most, until contact with the ground holds there; 0: it holds by velocities where
    the step begins."""
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

    def arc_of(self, vehicle: Any) -> Arc | None:
        """Of a step of a holonomic vehicle; None where the method has no momentum theorem of its own."""
        return None

    def on_flow(self, flow: Any, h: Any) -> tuple[Any, Any | None]:
        """The state one step later, and its difference from the result of lower order where the method is adaptive.

        Of methods that serve what a group moves; arithmetic of `flow` may write loops in place of expressions.
        """
        raise TypeError(f"{self.name} is not written on flows")

    def serves(self, vehicle: Vehicle) -> str:
        """Why this method cannot integrate the vehicle, in a sentence; empty where it can."""
        if vehicle.form not in self.forms and vehicle.form not in self.by_recursion:
            served = ", or ".join(dict.fromkeys(form.value for form in (*self.forms, *self.by_recursion)))
            return f"{self.name} serves what has {served}; {vehicle.name} has {vehicle.form.value}"
        return self.lacks(vehicle)

    def lacks(self, vehicle: Vehicle) -> str:
        """What it needs beyond the form and a vehicle of that form has not, in a sentence; empty: nothing."""
        return ""
