"""Implicit RK2 as in the vehicles paper: implicit midpoint rule for the velocity, explicit reconstruction."""

from dataclasses import dataclass

import casadi as ca

from sim.groups.se3 import pose, position_of, rotation_of
from sim.groups.so3 import quaternion_of
from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.chart import normalised, quaternion_rate, rotation_of_quaternion
from sim.vehicles.base import Quantities, Vehicle
from sim.vehicles.holonomic import HolonomicVehicle


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

    def serves(self, vehicle: Vehicle) -> str:
        if not isinstance(vehicle, HolonomicVehicle) or vehicle.group.name != "SE3":
            return f"{self.name} stores a quaternion and needs a holonomic vehicle on SE(3); {vehicle.name} is none"
        return ""

    def scheme(self, vehicle: Vehicle) -> Scheme:
        assert isinstance(vehicle, HolonomicVehicle)
        inputs = Inputs.of(vehicle)
        q, h = vehicle.symbols(inputs.p), inputs.h
        y, middle = ca.SX.sym("y", 13), ca.SX.sym("z", 6)
        s, xi = y[:7], y[7:]
        halfway = s + h / 2 * _rate(s, xi)
        halfway = ca.vertcat(normalised(halfway[:4]), halfway[4:])
        end = s + h * _rate(halfway, middle)
        here, w = _pose(s), inputs.w
        now = vehicle.acceleration(here, xi, inputs.u, w, q)
        free = ca.substitute(xi + h * now, w, ca.SX.zeros(6))
        g0 = inputs.node[:12]
        return Scheme(
            inputs=inputs,
            y=y,
            z=middle,
            residual=_imbalance(vehicle, _pose(halfway), xi, middle, inputs, q),
            guess=xi + h / 2 * now,
            y_next=ca.vertcat(normalised(end[:4]), end[4:], 2 * middle - xi),
            node=ca.vertcat(here, xi),
            start=ca.vertcat(quaternion_of(rotation_of(g0)), position_of(g0), inputs.node[12:18]),
            free_velocity=free,
        )


def _imbalance(
    vehicle: HolonomicVehicle, g: ca.SX, xi: ca.SX, middle: ca.SX, inputs: Inputs, q: Quantities
) -> ca.SX:
    """I (xi_m - xi) - h/2 (ad(xi_m)' mu_m + f)."""
    mu = vehicle.momentum(middle, q)
    force = vehicle.group.ad(middle).T @ mu + vehicle.wrench(g, middle, inputs.u, q) + inputs.w
    return vehicle.inertia(q) @ (middle - xi) - inputs.h / 2 * force


def _rate(s: ca.SX, xi: ca.SX) -> ca.SX:
    quaternion = normalised(s[:4])
    return ca.vertcat(quaternion_rate(quaternion, xi[:3]), rotation_of_quaternion(quaternion) @ xi[3:])


def _pose(s: ca.SX) -> ca.SX:
    return pose(rotation_of_quaternion(normalised(s[:4])), s[4:])
