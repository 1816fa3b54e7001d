"""Adaptive methods: a Lie group method with a second one of lower order in its stages (mechanics survey, section 4).

The outer step stays what the user asks for; inside it as many steps are taken as the tolerance wants,

    h <- theta (tol / e)^(1/4) h,

and a step whose error estimate e is above the tolerance is repeated. The exponent and theta = 0.85 are
those of the survey's own program; its text gives 1/5 for the 5(4) pair.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca

from sim.errors import InputError
from sim.groups import SE3, SO3
from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.flow import FLOWS, Flow
from sim.integrators.lie_group import Method, explicit_scheme, kept_by_exponentials, weighted
from sim.integrators.lie_group_methods import DORMAND_PRINCE_A, DORMAND_PRINCE_B
from sim.integrators.tableau import distinct
from sim.vehicles.base import Vehicle
from sim.vehicles.form import Form

Pair = Callable[[Flow, ca.SX], tuple[ca.SX, ca.SX]]
"""(flow, h) -> the state one step later, and the difference of the two results."""

DORMAND_PRINCE_AUXILIARY = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)


def dormand_prince(flow: Flow, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """RKMK 5(4): both solutions live in the Lie algebra, where they can be subtracted."""
    slopes: list[ca.SX] = []
    for row in (*DORMAND_PRINCE_A, DORMAND_PRINCE_B):
        sigma = h * weighted(row, slopes, flow.dim)
        end = flow.moved(flow.y, sigma) if row else flow.y
        rate = flow.rate(end, sum(row))
        slopes.append(flow.dexp_inv(sigma, rate) if row else rate)
    difference = tuple(b - a for b, a in zip((*DORMAND_PRINCE_B, 0.0), DORMAND_PRINCE_AUXILIARY, strict=True))
    return end, flow.estimate(end, h * weighted(difference, slopes, flow.dim))


def commutator_free_43(flow: Flow, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """CF4 with one further stage for a third-order result (mechanics survey, eq. 34)."""

    def moved(y: ca.SX, share: float, x: ca.SX) -> ca.SX:
        return flow.moved(y, h * share * x)

    x1 = flow.rate(flow.y, 0.0)
    half = moved(flow.y, 1 / 2, x1)
    x2 = flow.rate(half, 0.5)
    x3 = flow.rate(moved(flow.y, 1 / 2, x2), 0.5)
    x4 = flow.rate(moved(half, 1.0, x3 - x1 / 2), 1.0)
    shared = 2 * (x2 + x3)
    end = moved(moved(flow.y, 1 / 12, 3 * x1 + shared - x4), 1 / 12, shared + 3 * x4 - x1)

    x5 = flow.rate(moved(flow.y, 3 / 4, x2), 0.75)
    lower = moved(moved(flow.y, 1 / 3, x1), 1 / 9, 3 * x2 + 4 * x5 - x1)
    return end, flow.apart(lower, end)


@dataclass(frozen=True)
class Adaptive(Integrator):
    """An embedded pair; `tolerance` bounds the error estimate of a step, in rad, m, rad/s and m/s together."""

    name: str
    pair: Pair
    moments: tuple[float, ...]
    """Of the stages, as shares of the inner step."""
    order: int
    force_evaluations: int
    doc: str
    source: str
    family: str = "adaptive"
    tau: str = "exp"
    tolerance: float = 1e-8
    options: tuple[str, ...] = ("tolerance",)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tolerance) and self.tolerance > 0):
            raise InputError(
                f"{self.name}: tolerance = {self.tolerance!r} cannot be kept; allowed: above 0, e.g. 1e-8"
            )

    def lacks(self, vehicle: Vehicle) -> str:
        if vehicle.form is Form.EULER_POINCARE and vehicle.group not in (SE3, SO3):
            return f"{self.name} measures its error on SE(3) and SO(3); {vehicle.name} moves on {vehicle.group.name}"
        return ""

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return kept_by_exponentials(vehicle)

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return distinct(self.moments)

    def by_flow(self, vehicle: Vehicle, inputs: Inputs) -> Scheme:
        """One inner step of the pair on the vehicle's flow."""
        errors: list[ca.SX] = []

        def step(flow: Flow, h: ca.SX) -> ca.SX:
            end, difference = self.pair(flow, h)
            errors.append(ca.sqrt(ca.dot(difference, difference)))
            return end

        plain = explicit_scheme(vehicle, inputs, Method(step, self.moments))
        return replace(plain, error=errors[0])

    forms: ClassVar = dict.fromkeys(FLOWS, by_flow)


ADAPTIVE: tuple[Adaptive, ...] = (
    Adaptive(
        "rkmk54",
        dormand_prince,
        (*(sum(row) for row in DORMAND_PRINCE_A), 1.0),
        5,
        7,
        "Dormand-Prince pair of Runge-Kutta-Munthe-Kaas methods: divides the step until its error estimate is "
        "below the tolerance. The reference of the comparisons.",
        "mechanics survey, section 4.1",
    ),
    Adaptive(
        "cf43",
        commutator_free_43,
        (0.0, 0.5, 0.75, 1.0),
        4,
        5,
        "Commutator-free method of fourth order with a third-order companion: divides the step by tolerance.",
        "mechanics survey, section 4.2.2",
    ),
)
