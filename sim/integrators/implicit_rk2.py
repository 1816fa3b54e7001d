"""Implicit RK2 as in the vehicles paper: implicit midpoint rule for the velocity, explicit reconstruction."""

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.chart import QUATERNION_CHARTS
from sim.integrators.runge_kutta import no_quaternion
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Quantities


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
