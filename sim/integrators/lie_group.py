"""Explicit Lie group methods: Runge-Kutta-Munthe-Kaas, commutator-free, Crouch-Grossman (mechanics survey, 2.2).

They are written for any group that moves the state (`flow.py`), so one line serves the pose and momentum of a body
and a point of a sphere's tangent bundle. The survey's groups act from the left, bodies with body velocities are moved
from the right, which turns the sign of every commutator: the flow knows.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme, distinct
from sim.integrators.flow import FLOWS, Flow, flow_of
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form

TableauRow = tuple[float, ...]


@dataclass(frozen=True)
class ExplicitStep:
    """An explicit step, and the moments at which it evaluates the forces."""

    step: Callable[[Flow, ca.SX], ca.SX]
    """(flow, h) -> the state one step later."""
    moments: tuple[float, ...]
    """Of the stages, as shares of the step."""


def weighted(weights: TableauRow, terms: list[ca.SX]) -> ca.SX:
    """The sum of what has a weight; there is at least one."""
    chosen = [w * t for w, t in zip(weights, terms, strict=False) if w]
    return sum(chosen[1:], chosen[0])


def commutator_free(
    stages: tuple[tuple[TableauRow, ...], ...], update: tuple[TableauRow, ...]
) -> ExplicitStep:
    """Each stage and the update are products of exponentials; a row holds the weights of the velocities so far.

    Rows stand in the order in which their exponentials act. An exponential that two products share is
    computed once.
    """

    def step(flow: Flow, h: ca.SX) -> ca.SX:
        return reached(flow, h, found_rates(flow, h, stages), update)

    return ExplicitStep(step, tuple(_moment(rows) for rows in stages))


def found_rates(flow: Flow, h: ca.SX, stages: tuple[tuple[TableauRow, ...], ...]) -> list[ca.SX]:
    """Velocities at the stages."""
    found: list[ca.SX] = []
    for rows in stages:
        found.append(flow.rate(reached(flow, h, found, rows), _moment(rows)))
    return found


def reached(flow: Flow, h: ca.SX, found: list[ca.SX], rows: tuple[TableauRow, ...]) -> ca.SX:
    """From the start of the step by one exponential after the other."""
    y = flow.y
    for row in rows:
        y = flow.moved(y, h * weighted(row, found))
    return y


def _moment(rows: tuple[TableauRow, ...]) -> float:
    return sum(sum(row) for row in rows)


def munthe_kaas(a: tuple[TableauRow, ...], b: TableauRow, *, cayley: bool = False) -> ExplicitStep:
    """A Runge-Kutta method on sigma' = dexp^-1_sigma f with the exact differential; y = exp(sigma) . y0.

    cayley: the same with cay in place of exp, which is rational.
    """

    def step(flow: Flow, h: ca.SX) -> ca.SX:
        moved, inverse = (flow.moved_by_cayley, flow.dcay_inv) if cayley else (flow.moved, flow.dexp_inv)
        slopes: list[ca.SX] = []
        for row in a:
            if not row:
                slopes.append(flow.rate(flow.y, 0.0))
                continue
            sigma = h * weighted(row, slopes)
            slopes.append(inverse(sigma, flow.rate(moved(flow.y, sigma), sum(row))))
        return moved(flow.y, h * weighted(b, slopes))

    return ExplicitStep(step, tuple(sum(row) for row in a))


def _two_commutators(flow: Flow, h: ca.SX) -> ca.SX:
    """Kutta's method with two commutators in place of dexp^-1 (mechanics survey, section 2.2)."""

    def at(sigma: ca.SX, moment: float) -> ca.SX:
        return h * flow.rate(flow.moved(flow.y, sigma), moment)

    k1 = h * flow.rate(flow.y, 0.0)
    k2 = at(k1 / 2, 0.5)
    k3 = at(k2 / 2 + flow.bracket(k1, k2) / 8, 0.5)
    k4 = at(k3, 1.0)
    return flow.moved(flow.y, (k1 + 2 * k2 + 2 * k3 + k4 + flow.bracket(k1, k4) / 2) / 6)


TWO_COMMUTATORS = ExplicitStep(_two_commutators, (0.0, 0.5, 1.0))


@dataclass(frozen=True)
class LieGroupMethod(Integrator):
    """An explicit method of this file."""

    name: str
    method: ExplicitStep
    order: int
    force_evaluations: int
    doc: str
    source: str
    family: str = "lie-group"
    tau: str = "exp"

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return kept_by_exponentials(vehicle)

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return distinct(self.method.moments)

    def on_flow(self, flow: Any, h: Any) -> tuple[Any, Any | None]:
        return self.method.step(flow, h), None

    def by_flow(self, vehicle: Vehicle, inputs: Inputs) -> Scheme:
        """One step of the method on the vehicle's flow."""
        return explicit_scheme(vehicle, inputs, self.method)

    forms: ClassVar = dict.fromkeys(FLOWS, by_flow)


def kept_by_exponentials(vehicle: Vehicle) -> tuple[str, ...]:
    """By all methods that move the state by exponentials."""
    return ("momentum", "orbits") if vehicle.form is Form.EULER_POINCARE else ()


def explicit_scheme(vehicle: Vehicle, inputs: Inputs, method: ExplicitStep) -> Scheme:
    """One step of a method."""
    flow = flow_of(vehicle, inputs)
    return Scheme(
        inputs=inputs,
        y=flow.y,
        y_next=method.step(flow, inputs.h),
        node=flow.node,
        start=flow.start,
        free_velocity=flow.free_velocity,
    )


# Dormand and Prince's 5(4) pair.
DORMAND_PRINCE_A: tuple[TableauRow, ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
DORMAND_PRINCE_B: TableauRow = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)

KUTTA_4: tuple[tuple[TableauRow, ...], TableauRow] = (
    ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
)

CF3A_STAGES: tuple[tuple[TableauRow, ...], ...] = ((), ((1 / 3,),), ((0.0, 2 / 3),))
CF3A_UPDATE: tuple[TableauRow, ...] = ((1 / 3,), (-1 / 12, 0.0, 3 / 4))
CF3B_STAGES: tuple[tuple[TableauRow, ...], ...] = ((), ((2 / 3,),), ((5 / 12, 1 / 4),))
CF3B_UPDATE: tuple[TableauRow, ...] = ((5 / 12, 1 / 4), (-1 / 6, -1 / 2, 1.0))
CF4_STAGES: tuple[tuple[TableauRow, ...], ...] = (
    (),
    ((1 / 2,),),
    ((0.0, 1 / 2),),
    ((1 / 2,), (-1 / 2, 0.0, 1.0)),
)
CF4_UPDATE: tuple[TableauRow, ...] = (
    (3 / 12, 2 / 12, 2 / 12, -1 / 12),
    (-1 / 12, 2 / 12, 2 / 12, 3 / 12),
)

_SURVEY = "mechanics survey, section 2.2"

LIE_GROUP: tuple[LieGroupMethod, ...] = (
    LieGroupMethod(
        "lie-heun",
        commutator_free(((), ((1.0,),)), ((1 / 2, 1 / 2),)),
        2,
        2,
        "Lie-Euler-Heun: mean of the velocities at both ends of an Euler step. Second order, explicit.",
        _SURVEY,
    ),
    LieGroupMethod(
        "ralston",
        commutator_free(((), ((2 / 3,),)), ((1 / 4, 3 / 4),)),
        2,
        2,
        "Ralston's method with exponentials: second order with the smallest error bound of its kind.",
        "rigid body article",
    ),
    LieGroupMethod(
        "rkmk3",
        munthe_kaas(((), (1 / 2,), (-1.0, 2.0)), (1 / 6, 2 / 3, 1 / 6)),
        3,
        3,
        "Runge-Kutta-Munthe-Kaas on Kutta's third-order method, exact dexp^-1.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk4",
        munthe_kaas(*KUTTA_4),
        4,
        4,
        "Runge-Kutta-Munthe-Kaas on the classical method, exact dexp^-1: fourth order and on the group.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk4-cay",
        munthe_kaas(*KUTTA_4, cayley=True),
        4,
        4,
        "The same in coordinates of the Cayley map: rational, no sines, so plans of it are found fastest.",
        "Engo 2000; vehicles paper, eqs. 12-14",
        tau="cay",
    ),
    LieGroupMethod(
        "rkmk4-2c",
        TWO_COMMUTATORS,
        4,
        4,
        "The same with two commutators in place of dexp^-1: cheaper, fourth order.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk5",
        munthe_kaas(DORMAND_PRINCE_A, DORMAND_PRINCE_B),
        5,
        6,
        "Runge-Kutta-Munthe-Kaas on Dormand and Prince's fifth-order method.",
        "mechanics survey, section 4.1",
    ),
    LieGroupMethod(
        "cf4",
        commutator_free(CF4_STAGES, CF4_UPDATE),
        4,
        4,
        "Commutator-free, five exponentials of which one is reused: fourth order.",
        "mechanics survey, eq. 9",
    ),
    LieGroupMethod(
        "cf3a",
        commutator_free(CF3A_STAGES, CF3A_UPDATE),
        3,
        3,
        "Commutator-free of third order that reuses its second stage.",
        "mechanics survey, section 4.2.1, first pair",
    ),
    LieGroupMethod(
        "cf3b",
        commutator_free(CF3B_STAGES, CF3B_UPDATE),
        3,
        3,
        "Commutator-free of third order that reuses its third stage.",
        "mechanics survey, section 4.2.1, second pair",
    ),
    LieGroupMethod(
        "crouch-grossman3",
        commutator_free(
            ((), ((3 / 4,),), ((119 / 216,), (0.0, 17 / 108))),
            ((13 / 51,), (0.0, -2 / 3), (0.0, 0.0, 24 / 17)),
        ),
        3,
        3,
        "Crouch and Grossman: one exponential for every velocity. Third order.",
        "mechanics survey, section 2.2",
    ),
)
