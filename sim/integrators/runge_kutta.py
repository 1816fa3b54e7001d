"""Explicit Runge-Kutta methods on a quaternion and a vector, as the vehicles paper compares against.

The quaternion is renormalised inside every stage and after every step. Nothing about the group is
kept by the method itself; position is driven by the body velocity. Tableaux are data.
"""

from dataclasses import dataclass

import casadi as ca

from sim.groups.se3 import pose, position_of, rotation_of
from sim.groups.so3 import quaternion_of
from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.chart import normalised, quaternion_rate, rotation_of_quaternion
from sim.integrators.nonholonomic_momentum import runge_kutta_scheme
from sim.integrators.tableau import KUTTA4, MIDPOINT, Tableau
from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle
from sim.vehicles.nonholonomic import NonholonomicVehicle


@dataclass(frozen=True)
class QuaternionRungeKutta(Integrator):
    """Stages on (q, x, xi) with the vehicle's own continuous equations."""

    name: str
    tableau: Tableau
    order: int
    doc: str
    family: str = "runge-kutta"
    source: str = "vehicles paper, section 4, comparators"

    @property
    def force_evaluations(self) -> int:  # type: ignore[override]
        return len(self.tableau.b)

    def serves(self, vehicle: Vehicle) -> str:
        if isinstance(vehicle, NonholonomicVehicle):
            return ""
        if not isinstance(vehicle, HolonomicVehicle) or vehicle.group.name != "SE3":
            return f"{self.name} stores a quaternion and needs a holonomic vehicle on SE(3); {vehicle.name} is none"
        return ""

    def scheme(self, vehicle: Vehicle) -> Scheme:
        if isinstance(vehicle, NonholonomicVehicle):
            return runge_kutta_scheme(vehicle, self.tableau)
        assert isinstance(vehicle, HolonomicVehicle)
        inputs = Inputs.of(vehicle)
        q, h = vehicle.symbols(inputs.p), inputs.h
        y = ca.SX.sym("y", 13)

        def rate(s: ca.SX) -> ca.SX:
            quaternion, xi = normalised(s[:4]), s[7:]
            R = rotation_of_quaternion(quaternion)
            acceleration = vehicle.acceleration(pose(R, s[4:7]), xi, inputs.u, inputs.w, q)
            return ca.vertcat(quaternion_rate(quaternion, xi[:3]), R @ xi[3:], acceleration)

        end, first = self.tableau.step(rate, y, h)
        end = ca.vertcat(normalised(end[:4]), end[4:])

        g0 = inputs.node[:12]
        start = ca.vertcat(quaternion_of(rotation_of(g0)), position_of(g0), inputs.node[12:18])
        free = y[7:] + h * ca.substitute(first[7:], inputs.w, ca.SX.zeros(6))
        none = ca.SX(0, 1)
        return Scheme(
            inputs=inputs,
            y=y,
            z=none,
            residual=none,
            guess=none,
            y_next=end,
            node=ca.vertcat(pose(rotation_of_quaternion(normalised(y[:4])), y[4:7]), y[7:]),
            start=start,
            free_velocity=free,
        )


RUNGE_KUTTA: tuple[QuaternionRungeKutta, ...] = (
    QuaternionRungeKutta(
        "rk2", MIDPOINT, 2, "Explicit midpoint on a renormalised quaternion. Blows up early at large steps."
    ),
    QuaternionRungeKutta(
        "rk4",
        KUTTA4,
        4,
        "Classical Runge-Kutta on a renormalised quaternion. The most accurate at small steps and short times; "
        "loses energy, and blows up where h |omega| is large.",
    ),
)
