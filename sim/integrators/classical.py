"""Lie-Euler, explicit Lie-Newmark and implicit RK2: what the vehicles paper compares its variational methods with.

Lie-Euler: g <- g exp(h xi), xi <- xi + h xi' (rigid body article; mechanics survey). Lie-Newmark after Krysl and
Endres (beta = 0, gamma = 1/2), on any group as in the vehicles paper. Implicit RK2 is the implicit midpoint rule for
the velocity with explicit reconstruction.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.coordinates import QUATERNION_CHARTS
from sim.integrators.lie_group import commutator_free, explicit_scheme
from sim.integrators.nonholonomic import lie_euler_scheme
from sim.integrators.runge_kutta import no_quaternion
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Quantities


@dataclass(frozen=True)
class LieEuler(Integrator):
    """Stays on the group, but is first order and gains energy."""

    name: str = "lie-euler"
    family: str = "lie-group"
    order: int = 1
    doc: str = "Forward Euler on the group. First order; kinetic energy of a turning body grows by (h omega)^2 a step."
    source: str = "rigid body article"
    force_evaluations: int = 1
    tau: str = "exp"

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return (0.0,)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, xi)."""
        group = vehicle.group
        q, h = vehicle.symbols(inputs.p), inputs.h
        y = ca.SX.sym("y", group.pose_dim + group.dim)
        g, xi = y[: group.pose_dim], y[group.pose_dim :]
        acceleration = vehicle.acceleration(g, xi, inputs.at(0.0), inputs.w, q)
        xi_next = xi + h * acceleration
        return Scheme(
            inputs=inputs,
            y=y,
            y_next=ca.vertcat(group.compose(g, group.exp(h * xi)), xi_next),
            node=y,
            start=inputs.node[: group.pose_dim + group.dim],
            free_velocity=ca.substitute(xi_next, inputs.w, ca.SX.zeros(group.dim)),
        )

    def on_shape(self, vehicle: NonholonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, r, P, p)."""
        return lie_euler_scheme(vehicle, inputs)

    def on_flow(self, flow: Any, h: Any) -> tuple[Any, Any | None]:
        return EULER.step(flow, h), None

    def by_action(self, vehicle: ActionVehicle, inputs: Inputs) -> Scheme:
        """One step on the vehicle's own space."""
        return explicit_scheme(vehicle, inputs, EULER)

    forms: ClassVar = {
        Form.EULER_POINCARE: on_group,
        Form.REDUCED_DALEMBERT: on_shape,
        Form.GROUP_ACTION: by_action,
    }


EULER = commutator_free(((),), ((1.0,),))


@dataclass(frozen=True)
class ImplicitMidpoint(Integrator):
    """xi_m = xi + h/2 xi'(g_m, xi_m), then an explicit midpoint step of the quaternion with xi_m."""

    name: str = "implicit-rk2"
    family: str = "runge-kutta"
    order: int = 2
    doc: str = (
        "Implicit midpoint for the velocity, explicit quaternion reconstruction. Keeps the energy of a free body "
        "but not its pose at large steps. Second order."
    )
    source: str = "vehicles paper, section 3.3"
    force_evaluations: int = 1

    def lacks(self, vehicle: Vehicle) -> str:
        return no_quaternion(self.name, vehicle)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (quaternion, place, xi)."""
        chart, dim = QUATERNION_CHARTS[vehicle.group], vehicle.group.dim
        q, h, n = vehicle.symbols(inputs.p), inputs.h, chart.size
        y, middle = ca.SX.sym("y", n + dim), ca.SX.sym("z", dim)
        s, xi = y[:n], y[n:]
        halfway = chart.renormalised(s + h / 2 * chart.rate(s, xi))
        end = s + h * chart.rate(halfway, middle)
        here, w = chart.decode(s), inputs.w
        now = vehicle.acceleration(here, xi, inputs.at(0.5), w, q)
        layout = vehicle.node_layout
        return Scheme(
            inputs=inputs,
            y=y,
            z=middle,
            residual=_imbalance(vehicle, chart.decode(halfway), xi, middle, inputs, q),
            guess=xi + h / 2 * now,
            y_next=ca.vertcat(chart.renormalised(end), 2 * middle - xi),
            node=ca.vertcat(here, xi),
            start=ca.vertcat(chart.encode(inputs.node[layout.pose]), inputs.node[layout.velocity]),
            free_velocity=ca.substitute(xi + h * now, w, ca.SX.zeros(dim)),
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}


def _imbalance(
    vehicle: HolonomicVehicle, g: ca.SX, xi: ca.SX, middle: ca.SX, inputs: Inputs, q: Quantities
) -> ca.SX:
    """I (xi_m - xi) - h/2 (ad(xi_m)' mu_m + f)."""
    mu = vehicle.momentum(middle, q)
    force = vehicle.group.ad(middle).T @ mu + vehicle.wrench(g, middle, inputs.at(0.5), q) + inputs.w
    return vehicle.inertia(q) @ (middle - xi) - inputs.h / 2 * force


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
