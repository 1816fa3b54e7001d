"""Explicit Lie-Newmark after Krysl and Endres (beta = 0, gamma = 1/2), on any group as in the vehicles paper."""

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle


@dataclass(frozen=True)
class LieNewmark(Integrator):
    """g_{k+1} = g_k exp(h xi_k + h^2/2 xi'_k); xi_{k+1} by the trapezoidal rule, implicit in itself only."""

    name: str = "newmark"
    family: str = "lie-group"
    order: int = 2
    doc: str = (
        "Lie-Newmark: exponential of velocity and acceleration, trapezoidal rule for the velocity. Second order; "
        "position drifts more than with the variational methods."
    )
    source: str = "Krysl and Endres 2005, as in the vehicles paper, section 3.3"
    force_evaluations: int = 2
    tau: str = "exp"

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, xi)."""
        group = vehicle.group
        q, h, inertia = vehicle.symbols(inputs.p), inputs.h, vehicle.inertia(vehicle.symbols(inputs.p))
        y, end = ca.SX.sym("y", group.pose_dim + group.dim), ca.SX.sym("z", group.dim)
        g, xi = y[: group.pose_dim], y[group.pose_dim :]

        def force(pose: ca.SX, velocity: ca.SX) -> ca.SX:
            turning = group.ad(velocity).T @ vehicle.momentum(velocity, q)
            return turning + vehicle.wrench(pose, velocity, inputs.at(0.5), q) + inputs.w

        acceleration = vehicle.acceleration(g, xi, inputs.at(0.5), inputs.w, q)
        g_next = group.compose(g, group.exp(h * (xi + h / 2 * acceleration)))
        return Scheme(
            inputs=inputs,
            y=y,
            z=end,
            residual=inertia @ (end - xi) - h / 2 * (force(g, xi) + force(g_next, end)),
            guess=xi + h * acceleration,
            y_next=ca.vertcat(g_next, end),
            node=y,
            start=inputs.node[: group.pose_dim + group.dim],
            free_velocity=ca.substitute(xi + h * acceleration, inputs.w, ca.SX.zeros(group.dim)),
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}
