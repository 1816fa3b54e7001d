"""Adaptive methods: a Lie group method with a second one of lower order in its stages (mechanics survey, section 4).

The outer step stays what the user asks for; inside it as many steps are taken as the tolerance wants,

    h <- theta (tol / e)^(1/4) h,

and a step whose error estimate e is above the tolerance is repeated. The exponent and theta = 0.85 are
those of the survey's own program; its text gives 1/5 for the 5(4) pair.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca

from sim.errors import InputError
from sim.integrators.base import Inputs, Integrator, Scheme, holonomic_only
from sim.integrators.lie_group import Mechanics, Method, Stages, explicit_scheme, weighted
from sim.integrators.lie_group_methods import DORMAND_PRINCE_A, DORMAND_PRINCE_B
from sim.integrators.tableau import distinct
from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle

Pair = Callable[[Mechanics, ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX, ca.SX]]
"""(mechanics, g, pi, h) -> g and pi one step later, and the difference of the two results as (pose, twist)."""

DORMAND_PRINCE_AUXILIARY = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)


def dormand_prince(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """RKMK 5(4): both solutions live in the Lie algebra, where they can be subtracted."""
    group = mechanics.group
    found = Stages([], [])
    for row in (*DORMAND_PRINCE_A, DORMAND_PRINCE_B):
        sigma = h * weighted(row, found.xi, group.dim)
        pose = group.compose(g, group.exp(sigma)) if row else g
        momentum = pi + h * weighted(row, found.force, group.dim)
        xi, force = mechanics.rate(pose, momentum, sum(row))
        found.xi.append(group.dexp_inv(-sigma) @ xi if row else xi)
        found.force.append(force)
    difference = tuple(b - a for b, a in zip((*DORMAND_PRINCE_B, 0.0), DORMAND_PRINCE_AUXILIARY, strict=True))
    lower = momentum - h * weighted(difference, found.force, group.dim)
    twist = mechanics.body_velocity(pose, momentum) - mechanics.body_velocity(pose, lower)
    return pose, momentum, ca.vertcat(h * weighted(difference, found.xi, group.dim), twist)


def commutator_free_43(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """CF4 with one further stage for a third-order result (mechanics survey, eq. 34)."""
    group = mechanics.group

    def moved(pose: ca.SX, xi: ca.SX) -> ca.SX:
        return group.compose(pose, group.exp(h * xi))

    x1, f1 = mechanics.rate(g, pi, 0.0)
    half = moved(g, x1 / 2)
    x2, f2 = mechanics.rate(half, pi + h / 2 * f1, 0.5)
    x3, f3 = mechanics.rate(moved(g, x2 / 2), pi + h / 2 * f2, 0.5)
    x4, f4 = mechanics.rate(moved(half, x3 - x1 / 2), pi + h * f3, 1.0)
    middle = moved(g, (3 * x1 + 2 * x2 + 2 * x3 - x4) / 12)
    pose = moved(middle, (-x1 + 2 * x2 + 2 * x3 + 3 * x4) / 12)
    momentum = pi + h / 6 * (f1 + 2 * f2 + 2 * f3 + f4)

    x5, f5 = mechanics.rate(moved(g, 3 / 4 * x2), pi + h * 3 / 4 * f2, 0.75)
    lower_pose = moved(moved(g, x1 / 3), (-x1 + 3 * x2 + 4 * x5) / 9)
    lower = pi + h / 9 * (2 * f1 + 3 * f2 + 4 * f5)
    apart = group.compose(group.inverse(lower_pose), pose)
    # Twice the antisymmetric part is a distance that, unlike the logarithm, has no branch; it is small here.
    R, x = ca.reshape(apart[:9], 3, 3), apart[9:]
    turn = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2
    twist = mechanics.body_velocity(pose, momentum) - mechanics.body_velocity(pose, lower)
    return pose, momentum, ca.vertcat(turn, x, twist)


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

    def serves(self, vehicle: Vehicle) -> str:
        if isinstance(vehicle, HolonomicVehicle) and vehicle.group.name not in ("SE3", "SO3"):
            return f"{self.name} measures its error on SE(3) and SO(3); {vehicle.name} moves on {vehicle.group.name}"
        return holonomic_only(self.name, vehicle)

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ("momentum", "orbits")

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return distinct(self.moments)

    def equations(self, vehicle: Vehicle, inputs: Inputs) -> Scheme:
        assert isinstance(vehicle, HolonomicVehicle)
        errors: list[ca.SX] = []

        def method(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
            pose, momentum, difference = self.pair(mechanics, g, pi, h)
            errors.append(ca.sqrt(ca.dot(difference, difference)))
            return pose, momentum

        plain = explicit_scheme(vehicle, inputs, Method(method, self.moments))
        return replace(plain, error=errors[0])


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
