"""Variational integrators; of holonomic vehicles here (vehicles paper, eqs. 9-10), of others in `nonholonomic.py`.

The step from node k solves, for the velocity xi_k of the arc to node k+1,

    C(h xi_k)' mu_k = C(-h xi_{k-1})' mu_{k-1} + h f_k,      g_{k+1} = g_k tau(h xi_k)

with mu = I xi and C = d tau^-1. Its private state is (g_k, p_k), p_k = C(-h xi_{k-1})' mu_{k-1}: the
momentum that arrives at the node. Half of the impulse h f_k belongs to the arriving, half to the
leaving arc, so the momentum *at* the node is the mean of p_k and C(h xi_k)' mu_k. That mean is what
a user sees as velocity, it is where velocity-dependent forces are taken (drag is implicit, second
order and does not blow up), and it gives the start: p_0 = I xi(0) - h f_0/2. Starting with the full
impulse would make every method of this family first order.
"""

from dataclasses import dataclass

import casadi as ca

from sim.errors import InputError
from sim.groups import SO3_R3, LieGroup
from sim.integrators.base import Inputs, Integrator, Scheme, holonomic_only
from sim.integrators.difference_map import CAY, CAY_TLN, CCSK, EXP, EXP_TLN, DifferenceMap
from sim.integrators.nonholonomic import nonholonomic_scheme
from sim.integrators.trivialisation import frames, isotropic_mass
from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle
from sim.vehicles.nonholonomic import NonholonomicVehicle


def holonomic_scheme(vehicle: HolonomicVehicle, chart: DifferenceMap, group: LieGroup) -> Scheme:
    """Expressions of one step; `group` is the vehicle's own, or SO(3) x R^3 for the split form."""
    inputs = Inputs.of(vehicle)
    q, h = vehicle.symbols(inputs.p), inputs.h
    g, arriving, xi = ca.SX.sym("g", group.pose_dim), ca.SX.sym("m", group.dim), ca.SX.sym("xi", group.dim)
    to_group, to_body = frames(group, g)

    mu = vehicle.momentum(xi, q)
    leaving = chart.momentum_before(group, h * xi, mu)
    node_xi = vehicle.velocity_of(to_body @ ((arriving + leaving) / 2), q)
    force = to_group @ (vehicle.wrench(g, node_xi, inputs.u, q) + inputs.w)
    g_next = group.compose(g, chart.tau(group, h * xi))
    arriving_next = chart.momentum_after(group, h * xi, mu)

    arrival_xi = vehicle.velocity_of(to_body @ arriving, q)
    explicit_force = to_group @ (vehicle.wrench(g, arrival_xi, inputs.u, q) + inputs.w)
    sure = arriving + h * explicit_force
    first = vehicle.velocity_of(sure, q)
    turned = 2 * sure - group.tln_inv(h * first).T @ vehicle.momentum(first, q)

    start_g, start_xi = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
    start_to_group, _ = frames(group, start_g)
    start_force = vehicle.wrench(start_g, start_xi, inputs.u, q) + inputs.w
    start_momentum = start_to_group @ (vehicle.momentum(start_xi, q) - h / 2 * start_force)

    free = vehicle.velocity_of(to_body @ ca.substitute(sure, inputs.w, ca.SX.zeros(group.dim)), q)
    return Scheme(
        inputs=inputs,
        y=ca.vertcat(g, arriving),
        z=xi,
        residual=leaving - arriving - h * force,
        guess=vehicle.velocity_of(turned, q),
        y_next=ca.vertcat(g_next, arriving_next),
        node=ca.vertcat(g, node_xi),
        start=ca.vertcat(start_g, start_momentum),
        free_velocity=free,
    )


@dataclass(frozen=True)
class Variational(Integrator):
    """One member of the family."""

    name: str
    chart: DifferenceMap
    doc: str
    split: bool = False
    alpha: float = 0.5
    """Quadrature point of vehicles with a shape, in [0, 1]; second order only at 1/2."""
    order: int = 2
    family: str = "variational"
    source: str = "vehicles paper, eqs. 9-10 and 16-17"
    options: tuple[str, ...] = ("alpha",)

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"{self.name}: alpha = {self.alpha!r} is no quadrature point; allowed: 0 to 1")

    force_evaluations: int = 1

    @property
    def tau(self) -> str:  # type: ignore[override]
        return self.chart.name

    def serves(self, vehicle: Vehicle) -> str:
        if isinstance(vehicle, NonholonomicVehicle) and not self.split and self.chart.odd:
            return ""
        if self.split and isinstance(vehicle, HolonomicVehicle) and not isotropic_mass(vehicle):
            return f"{self.name} needs SE(3) and a mass that is the same in all directions; {vehicle.name} has none"
        return holonomic_only(self.name, vehicle)

    def scheme(self, vehicle: Vehicle) -> Scheme:
        if isinstance(vehicle, NonholonomicVehicle):
            return nonholonomic_scheme(vehicle, self.chart, self.alpha)
        assert isinstance(vehicle, HolonomicVehicle)
        return holonomic_scheme(vehicle, self.chart, SO3_R3 if self.split else vehicle.group)


class OnShape(Variational):
    """A member that differs from `variational` only where a vehicle has a shape."""

    def serves(self, vehicle: Vehicle) -> str:
        if not isinstance(vehicle, NonholonomicVehicle):
            return f"{self.name} places the shape's quadrature point; {vehicle.name} has no shape"
        return super().serves(vehicle)


_ALPHA = "Shape taken at the {at} of the step (alpha = {alpha}). First order; `variational` has alpha = 1/2."

VARIATIONAL: tuple[Variational, ...] = (
    Variational(
        "variational",
        CAY_TLN,
        "Cayley map, inverse differential truncated after its linear term: the vehicles paper's recommendation. "
        "Second order, robust at large steps; kinetic energy of a free body is exact. Planar vehicles move by the "
        "third Pade approximant of exp instead, of which the Cayley map is the first: as cheap, with the right angle.",
    ),
    Variational(
        "variational-cay",
        CAY,
        "Cayley map with its exact inverse differential: spatial momentum is kept to rounding. Second order.",
    ),
    Variational(
        "variational-exp",
        EXP,
        "Exponential map with its exact inverse differential: spatial momentum is kept to rounding. Second order; "
        "beyond half a turn a step its equation may have no solution.",
    ),
    Variational(
        "variational-exp-tln",
        EXP_TLN,
        "Exponential map, truncated inverse differential. Second order; drifts more in position than cay.",
    ),
    Variational(
        "variational-split",
        CAY,
        "Cayley map on SO(3) x R^3 with the velocity in the world frame: free flight is exact. Second order.",
        split=True,
    ),
    Variational(
        "variational-ccsk",
        CCSK,
        "Canonical coordinates of the second kind on SO(3) x R^3. They are not symmetric, so first order only, and "
        "singular at a quarter turn about y in one step; spatial momentum is kept to rounding.",
        split=True,
        order=1,
    ),
    OnShape("variational-alpha0", CAY_TLN, _ALPHA.format(at="start", alpha=0), alpha=0.0, order=1),
    OnShape("variational-alpha1", CAY_TLN, _ALPHA.format(at="end", alpha=1), alpha=1.0, order=1),
)
