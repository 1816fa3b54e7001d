"""The symplectic theta family on T*G (mechanics survey, eqs. 15-17).

With the right trivialisation carried over to body velocities: eta/h is the twist at g_theta = g exp(theta eta),
m its momentum, f the wrench there, and

    N = h f + ad(eta)' m,      mu_1 = mu_0 + N,
    Ad(exp(-theta eta))' m = dexp(-eta)' (mu_0 + N) - theta dexp(-theta eta)' N.

theta = 0 is `variational-exp` with the whole impulse at the start of the step, theta = 1 with the whole
impulse at its end; theta = 1/2 is symmetric and of second order.
"""

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from sim.groups import SO3, SO3_R3
from sim.groups.so3 import left_jacobian
from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.coordinates import conserves_energy, frames, simplest_group
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle


def _dexp(x: ca.SX) -> ca.SX:
    """Right-trivialised tangent of exp on SO(3), or SO(3) x R^3."""
    return ca.diagcat(left_jacobian(x[:3]), ca.SX.eye(x.shape[0] - 3))


@dataclass(frozen=True)
class SymplecticTheta(Integrator):
    """One member of the family."""

    name: str
    theta: float
    order: int
    doc: str
    family: str = "symplectic"
    source: str = "mechanics survey, eqs. 15-17"
    tau: str = "exp"
    force_evaluations: int = 1

    def lacks(self, vehicle: Vehicle) -> str:
        if isinstance(vehicle, HolonomicVehicle) and simplest_group(vehicle) in (SO3, SO3_R3):
            return ""
        return f"{self.name} needs SO(3), or SE(3) and a mass that is the same in all directions, unlike {vehicle.name}"

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return (self.theta,)

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ("momentum", "energy") if conserves_energy(vehicle) else ("momentum",)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, mu)."""
        group, theta = simplest_group(vehicle), self.theta
        u = inputs.at(theta)
        q, h = vehicle.symbols(inputs.p), inputs.h
        g, mu, xi = ca.SX.sym("g", group.pose_dim), ca.SX.sym("m", group.dim), ca.SX.sym("xi", group.dim)

        def moved(share: float) -> ca.SX:
            return group.compose(g, group.exp(share * h * xi)) if share else g

        middle = moved(theta)
        to_group, to_body = frames(group, middle)
        twist = to_body @ xi
        m = to_group @ vehicle.momentum(twist, q)
        force = to_group @ (vehicle.wrench(middle, twist, u, q) + inputs.w)
        change = h * force + h * group.ad(xi).T @ m
        shifted = group.Ad(group.exp(-theta * h * xi)).T @ m if theta else m
        kept = _dexp(-h * xi).T @ (mu + change)
        residual = shifted - kept + (theta * _dexp(-theta * h * xi).T @ change if theta else 0)

        here_to_group, here_to_body = frames(group, g)
        node_twist = vehicle.velocity_of(here_to_body @ mu, q)
        node_force = vehicle.wrench(g, node_twist, u, q)
        accelerated = vehicle.acceleration(g, node_twist, u, ca.SX.zeros(group.dim), q)
        first = vehicle.velocity_of(here_to_body @ mu + h / 2 * (node_force + inputs.w), q)
        start_g, start_twist = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
        return Scheme(
            inputs=inputs,
            y=ca.vertcat(g, mu),
            z=xi,
            residual=residual,
            guess=here_to_group @ first,
            y_next=ca.vertcat(moved(1.0), mu + change),
            node=ca.vertcat(g, node_twist),
            start=ca.vertcat(start_g, frames(group, start_g)[0] @ vehicle.momentum(start_twist, q)),
            free_velocity=node_twist + h * accelerated,
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}


SYMPLECTIC: tuple[SymplecticTheta, ...] = (
    SymplecticTheta(
        "symplectic-0", 0.0, 1, "theta = 0: impulse at the start of the step. Symplectic, first order."
    ),
    SymplecticTheta(
        "symplectic-half", 0.5, 2, "theta = 1/2: forces in the middle. Symplectic, second order."
    ),
    SymplecticTheta(
        "symplectic-1", 1.0, 1, "theta = 1: impulse at the end of the step. Symplectic, first order."
    ),
)
