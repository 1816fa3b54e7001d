"""A step of a method for a vehicle, as symbolic expressions of its symbols; Runge-Kutta tableaux."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import casadi as ca

from sim.vehicles.forms.base import Vehicle

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
    error: ca.SX | None = None
    """Estimate of a step's error; the step h is then divided as the tolerance wants (adaptive methods)."""


@dataclass(frozen=True)
class Tableau:
    """Butcher tableau of an explicit method: strictly lower a, weights b."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    @property
    def c(self) -> tuple[float, ...]:
        """Moments of the stages, as shares of the step."""
        return tuple(sum(row) for row in self.a)

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
