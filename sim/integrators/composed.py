"""Variational methods of order 4 and 6: symmetric compositions of the symmetric second-order step.

The step goes from node to node: half of the impulse, the arc, half of the impulse. The first half is
explicit and the second implicit in velocity-dependent forces, so each undoes the other under h -> -h and
the step is symmetric with any forces. Compositions of symmetric steps with substeps h gamma_i keep what
the step keeps: spatial momentum exactly, symplecticity, no drift of energy. They raise the order of the
forces' part; that of the arc is higher already (`arc.py`) where the body allows it. Some gammas are
negative: very stiff drag is not for these.
"""

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from sim.integrators.arc import free_arc
from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.trivialisation import conserves_energy, frames, simplest_group
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle


def suzuki(pairs: int) -> tuple[float, ...]:
    """Fourth order by 2 `pairs` equal substeps around one that goes back (Suzuki 1990): more are smaller, too."""
    gamma = 1 / (2 * pairs - (2 * pairs) ** (1 / 3))
    return (*[gamma] * pairs, 1 - 2 * pairs * gamma, *[gamma] * pairs)


_KAHAN_LI = (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.082213596293550800230)
KAHAN_LI6 = (*_KAHAN_LI, 0.79854399093482996340, *reversed(_KAHAN_LI))
"""Sixth order (Kahan and Li 1997)."""


@dataclass(frozen=True)
class Composed(Integrator):
    """One composition."""

    name: str
    substeps: tuple[float, ...]
    order: int
    doc: str
    family: str = "variational"
    source: str = "vehicles paper, eqs. 9-10, composed"
    tau: str = "cay"

    @property
    def force_evaluations(self) -> int:  # type: ignore[override]
        return len(self.substeps) + 1

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ("momentum", "energy") if conserves_energy(vehicle) else ("momentum",)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """Node to node: half of the impulse, the arc, half of the impulse."""
        group = simplest_group(vehicle)
        q, h = vehicle.symbols(inputs.p), inputs.h
        g, mu, xi = ca.SX.sym("g", group.pose_dim), ca.SX.sym("m", group.dim), ca.SX.sym("xi", group.dim)

        def wrench(pose: ca.SX, twist: ca.SX) -> ca.SX:
            total = vehicle.wrench(pose, twist, inputs.at(0.5), q) + inputs.w
            return frames(group, pose)[0] @ total

        _, to_body = frames(group, g)
        twist = vehicle.velocity_of(to_body @ mu, q)
        leaving = mu + h / 2 * wrench(g, twist)
        arc = free_arc(vehicle, group, g, xi, h, q)
        g_next = group.compose(g, arc.displacement)

        last = ca.SX.sym("last", group.dim)
        resisted = ca.depends_on(vehicle.wrench(g, last, inputs.at(0.5), q), last)
        _, next_to_body = frames(group, g_next)
        end = leaving - arc.lost + h / 2 * wrench(g_next, last if resisted else ca.SX.zeros(group.dim))
        z, residual, guess = xi, arc.leaving - leaving, arc.guess(leaving)
        if resisted:
            imbalance = vehicle.momentum(last, q) - next_to_body @ end
            z, residual = ca.vertcat(xi, last), ca.vertcat(residual, imbalance)
            guess = ca.vertcat(guess, vehicle.velocity_of(to_body @ leaving, q))
        start_g, start_twist = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
        accelerated = vehicle.acceleration(g, twist, inputs.at(0.5), ca.SX.zeros(group.dim), q)
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
            updates_per_jacobian=2,
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}


COMPOSED: tuple[Composed, ...] = (
    Composed(
        "variational-4",
        suzuki(3),
        4,
        "Seven variational steps composed to fourth order: exact momentum and no drift, with accuracy. A free body "
        "without a rotor turns to sixth order.",
    ),
    Composed(
        "variational-6",
        KAHAN_LI6,
        6,
        "Nine variational steps composed to sixth order: for long runs that have to be right to many digits.",
    ),
)
