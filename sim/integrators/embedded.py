"""Adaptive methods: a Lie group method with a second one of lower order in its stages (mechanics survey, section 4).

The outer step stays what the user asks for; inside it as many steps are taken as the tolerance wants,

    h <- theta (tol / e)^(1/4) h,

and a step whose error estimate e is above the tolerance is repeated. The exponent and theta = 0.85 are
those of the survey's own program; its text gives 1/5 for the 5(4) pair.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import casadi as ca

from sim.groups import SE3, SO3
from sim.integrators.base import Inputs, Integrator, Scheme, distinct
from sim.integrators.flow import FLOWS, Flow
from sim.integrators.lie_group import (
    CF3A_STAGES,
    CF3A_UPDATE,
    CF3B_STAGES,
    CF3B_UPDATE,
    DORMAND_PRINCE_A,
    DORMAND_PRINCE_B,
    ExplicitStep,
    TableauRow,
    explicit_scheme,
    found_rates,
    kept_by_exponentials,
    reached,
    weighted,
)
from sim.platform.errors import number
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form

Pair = Callable[[Flow, ca.SX], tuple[ca.SX, ca.SX]]
"""(flow, h) -> the state one step later, and the difference of the two results."""

DORMAND_PRINCE_AUXILIARY: TableauRow = (
    5179 / 57600,
    0.0,
    7571 / 16695,
    393 / 640,
    -92097 / 339200,
    187 / 2100,
    1 / 40,
)

_DIFFERENCE = tuple(b - a for b, a in zip((*DORMAND_PRINCE_B, 0.0), DORMAND_PRINCE_AUXILIARY, strict=True))


def dormand_prince(flow: Flow, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """RKMK 5(4): both solutions live in the Lie algebra, where they can be subtracted."""
    slopes: list[ca.SX] = []
    end = flow.y
    for row in (*DORMAND_PRINCE_A, DORMAND_PRINCE_B):
        if not row:
            slopes.append(flow.rate(flow.y, 0.0))
            continue
        sigma = h * weighted(row, slopes)
        end = flow.moved(flow.y, sigma)
        slopes.append(flow.dexp_inv(sigma, flow.rate(end, sum(row))))
    return end, flow.estimate(end, h * weighted(_DIFFERENCE, slopes))


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


def commutator_free_32(
    stages: tuple[tuple[TableauRow, ...], ...], update: tuple[TableauRow, ...], auxiliary: TableauRow
) -> Pair:
    """A commutator-free method of third order; one exponential gives a second-order result (section 4.2.1)."""

    def pair(flow: Flow, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        found = found_rates(flow, h, stages)
        end, lower = reached(flow, h, found, update), reached(flow, h, found, (auxiliary,))
        return end, flow.apart(lower, end)

    return pair


def embedded_dormand_prince(flow: Flow, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """The same pair on the numbers of a point: it leaves the space, as ODE45 does."""
    slopes: list[ca.SX] = []
    end = flow.y
    for row in (*DORMAND_PRINCE_A, DORMAND_PRINCE_B):
        end = flow.y + h * weighted(row, slopes) if row else flow.y
        slopes.append(flow.tangent(end, flow.rate(end, sum(row))))
    return end, h * weighted(_DIFFERENCE, slopes)


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
        number(f"{self.name}: tolerance", self.tolerance, above=0.0)

    def lacks(self, vehicle: Vehicle) -> str:
        if vehicle.form is Form.EULER_POINCARE and vehicle.group not in (SE3, SO3):
            return f"{self.name} measures its error on SE(3) and SO(3); {vehicle.name} moves on {vehicle.group.name}"
        return ""

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return kept_by_exponentials(vehicle)

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return distinct(self.moments)

    def on_flow(self, flow: Any, h: Any) -> tuple[Any, Any | None]:
        return self.pair(flow, h)

    def by_flow(self, vehicle: Vehicle, inputs: Inputs) -> Scheme:
        """One inner step of the pair on the vehicle's flow."""
        errors: list[ca.SX] = []

        def step(flow: Flow, h: ca.SX) -> ca.SX:
            end, difference = self.pair(flow, h)
            errors.append(ca.sqrt(ca.dot(difference, difference)))
            return end

        plain = explicit_scheme(vehicle, inputs, ExplicitStep(step, self.moments))
        return replace(plain, error=errors[0])

    forms: ClassVar = dict.fromkeys(FLOWS, by_flow)


@dataclass(frozen=True)
class EmbeddedPair(Adaptive):
    """On the numbers of a point, for what a group moves: nothing keeps it on its space."""

    family: str = "runge-kutta"
    tau: str = ""

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ()

    forms: ClassVar = {Form.GROUP_ACTION: Adaptive.by_flow}


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
    Adaptive(
        "cf32a",
        commutator_free_32(CF3A_STAGES, CF3A_UPDATE, (0.0, 1 / 2, 1 / 2)),
        (0.0, 1 / 3, 2 / 3),
        3,
        3,
        "Commutator-free method of third order with a second-order companion: divides the step by tolerance.",
        "mechanics survey, section 4.2.1, first pair",
    ),
    Adaptive(
        "cf32b",
        commutator_free_32(CF3B_STAGES, CF3B_UPDATE, (1 / 4, 0.0, 3 / 4)),
        (0.0, 2 / 3),
        3,
        3,
        "Commutator-free method of third order that reuses its third stage, with a second-order companion.",
        "mechanics survey, section 4.2.1, second pair",
    ),
    EmbeddedPair(
        "dopri54",
        embedded_dormand_prince,
        (*(sum(row) for row in DORMAND_PRINCE_A), 1.0),
        5,
        7,
        "Dormand and Prince's pair on the bare numbers of a point, as ODE45 has it: unit vectors lose their length.",
        "mechanics survey, section 5.3, comparator",
        tolerance=1e-6,
    ),
)
