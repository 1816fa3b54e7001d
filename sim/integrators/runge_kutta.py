"""Explicit Runge-Kutta methods on a quaternion and a vector, as the vehicles paper compares against.

The quaternion is renormalised inside every stage and after every step. Nothing about the group is
kept by the method itself; position is driven by the body velocity. Tableaux are data.
"""

from dataclasses import dataclass

import casadi as ca

from sim.groups.se3 import pose, position_of, rotation_of
from sim.groups.so3 import quaternion_of
from sim.integrators.base import Inputs, Integrator, Scheme
from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle


@dataclass(frozen=True)
class Tableau:
    """Butcher tableau of an explicit method: strictly lower a, weights b."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]


MIDPOINT = Tableau(((), (1 / 2,)), (0.0, 1.0))
KUTTA4 = Tableau(((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))


def normalised(q: ca.SX) -> ca.SX:
    """Unit quaternion."""
    return q / ca.sqrt(ca.dot(q, q))


def rotation_of_quaternion(q: ca.SX) -> ca.SX:
    """R of a unit quaternion (w, x, y, z)."""
    w, x, y, z = ca.vertsplit(q)
    return ca.vertcat(
        ca.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        ca.horzcat(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        ca.horzcat(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def quaternion_rate(q: ca.SX, omega: ca.SX) -> ca.SX:
    """q' = q (0, omega)/2, omega in the body frame."""
    return ca.vertcat(-ca.dot(q[1:], omega), q[0] * omega + ca.cross(q[1:], omega)) / 2


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
        if not isinstance(vehicle, HolonomicVehicle) or vehicle.group.name != "SE3":
            return f"{self.name} stores a quaternion and needs a holonomic vehicle on SE(3); {vehicle.name} is none"
        return ""

    def scheme(self, vehicle: Vehicle) -> Scheme:
        assert isinstance(vehicle, HolonomicVehicle)
        inputs = Inputs.of(vehicle)
        q, h = vehicle.symbols(inputs.p), inputs.h
        y = ca.SX.sym("y", 13)

        def rate(s: ca.SX) -> ca.SX:
            quaternion, xi = normalised(s[:4]), s[7:]
            R = rotation_of_quaternion(quaternion)
            acceleration = vehicle.acceleration(pose(R, s[4:7]), xi, inputs.u, inputs.w, q)
            return ca.vertcat(quaternion_rate(quaternion, xi[:3]), R @ xi[3:], acceleration)

        stages: list[ca.SX] = []
        for row in self.tableau.a:
            stages.append(rate(_combined(y, h, row, stages)))
        end = _combined(y, h, self.tableau.b, stages)
        end = ca.vertcat(normalised(end[:4]), end[4:])

        g0 = inputs.node[:12]
        start = ca.vertcat(quaternion_of(rotation_of(g0)), position_of(g0), inputs.node[12:18])
        free = y[7:] + h * ca.substitute(stages[0][7:], inputs.w, ca.SX.zeros(6))
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


def _combined(y: ca.SX, h: ca.SX, weights: tuple[float, ...], stages: list[ca.SX]) -> ca.SX:
    terms = [b * k for b, k in zip(weights, stages, strict=True) if b]
    return y + h * sum(terms[1:], terms[0]) if terms else y


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
