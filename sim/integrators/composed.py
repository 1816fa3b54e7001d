"""Variational methods of order 4 and 6: symmetric compositions of the symmetric second-order step.

The step goes from node to node: half of the impulse, the arc, half of the impulse. The first half is
explicit and the second implicit in velocity-dependent forces, so each undoes the other under h -> -h and
the step is symmetric with any forces. Compositions of symmetric steps with substeps h gamma_i (vehicles
paper's step; gammas of Suzuki 1990 and of Kahan and Li 1997) keep what the step keeps: spatial momentum
exactly, symplecticity, no drift of energy. Some gammas are negative: very stiff drag is not for these.
"""

from dataclasses import dataclass

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.difference_map import CAY, DifferenceMap
from sim.integrators.trivialisation import frames, simplest_group
from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle

_S = 1 / (4 - 4 ** (1 / 3))
SUZUKI4 = (_S, _S, 1 - 4 * _S, _S, _S)
_KAHAN_LI = (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.082213596293550800230)
KAHAN_LI6 = (*_KAHAN_LI, 0.79854399093482996340, *reversed(_KAHAN_LI))


@dataclass(frozen=True)
class Composed(Integrator):
    """One composition."""

    name: str
    substeps: tuple[float, ...]
    order: int
    doc: str
    chart: DifferenceMap = CAY
    family: str = "variational"
    source: str = "vehicles paper, eqs. 9-10, composed"

    @property
    def tau(self) -> str:  # type: ignore[override]
        return self.chart.name

    @property
    def force_evaluations(self) -> int:  # type: ignore[override]
        return len(self.substeps) + 1

    def serves(self, vehicle: Vehicle) -> str:
        if not isinstance(vehicle, HolonomicVehicle):
            return f"{self.name} needs a holonomic vehicle, {vehicle.name} is none"
        return ""

    def scheme(self, vehicle: Vehicle) -> Scheme:
        assert isinstance(vehicle, HolonomicVehicle)
        inputs, group, chart = Inputs.of(vehicle), simplest_group(vehicle), self.chart
        q, h = vehicle.symbols(inputs.p), inputs.h
        g, mu, xi = ca.SX.sym("g", group.pose_dim), ca.SX.sym("m", group.dim), ca.SX.sym("xi", group.dim)

        def wrench(pose: ca.SX, twist: ca.SX) -> ca.SX:
            total = vehicle.wrench(pose, twist, inputs.u, q) + inputs.w
            return frames(group, pose)[0] @ total

        to_group, to_body = frames(group, g)
        twist = vehicle.velocity_of(to_body @ mu, q)
        leaving = mu + h / 2 * wrench(g, twist)
        momentum = to_group @ vehicle.momentum(to_body @ xi, q)
        arc = chart.inverse_differential(group, h * xi).T @ momentum - leaving
        g_next = group.compose(g, chart.tau(group, h * xi))
        arriving = chart.inverse_differential(group, -h * xi).T @ momentum

        last = ca.SX.sym("last", group.dim)
        resisted = ca.depends_on(vehicle.wrench(g, last, inputs.u, q), last)
        _, next_to_body = frames(group, g_next)
        end = arriving + h / 2 * wrench(g_next, last if resisted else ca.SX.zeros(group.dim))
        z, residual = xi, arc
        first = vehicle.velocity_of(to_body @ leaving, q)
        straight = to_group @ first
        turned = 2 * leaving - group.tln_inv(h * straight).T @ to_group @ vehicle.momentum(first, q)
        guess = to_group @ vehicle.velocity_of(to_body @ turned, q)
        if resisted:
            imbalance = vehicle.momentum(last, q) - next_to_body @ end
            z, residual = ca.vertcat(xi, last), ca.vertcat(arc, imbalance)
            guess = ca.vertcat(guess, first)
        start_g, start_twist = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
        accelerated = vehicle.acceleration(g, twist, inputs.u, ca.SX.zeros(group.dim), q)
        return Scheme(
            inputs=inputs,
            y=ca.vertcat(g, mu),
            z=z,
            residual=residual,
            guess=guess,
            y_next=ca.vertcat(g_next, end),
            node=ca.vertcat(g, twist),
            start=ca.vertcat(start_g, frames(group, start_g)[0] @ vehicle.momentum(start_twist, q)),
            free_velocity=twist + h * accelerated,
            substeps=self.substeps,
        )


COMPOSED: tuple[Composed, ...] = (
    Composed(
        "variational-4",
        SUZUKI4,
        4,
        "Five variational steps composed to fourth order: exact momentum and no drift, with accuracy.",
    ),
    Composed(
        "variational-6",
        KAHAN_LI6,
        6,
        "Nine variational steps composed to sixth order: for long runs that have to be right to many digits.",
    ),
)
