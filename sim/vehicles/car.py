"""The car with simple dynamics (vehicles paper, section 5.2.1): rear wheels roll and drive, front wheels steer."""

from collections.abc import Mapping
from typing import ClassVar

import casadi as ca

from sim.symbolic import shift, turn_about
from sim.vehicles.forms.form import Observable
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities, ShapeCoordinate


class Car(NonholonomicVehicle):
    """Body origin in the middle of the rear axle. Shape: roll angle psi of the rear wheels, sigma = tan(steering).

    No axle slips sideways, so a locked car cannot move at all: a Chaplygin system without symmetry directions. Its
    connection (eq. 18) follows from the constraints.
    """

    name = "car"
    parameters: tuple[Parameter, ...] = (
        Parameter("mass", "kg", 800.0, 1e-3, 1e6, "Mass."),
        Parameter("wheel_inertia", "kg m^2", 2.0, 1e-6, 1e4, "Rotational inertia I of the driven wheels."),
        Parameter(
            "yaw_inertia", "kg m^2", 900.0, 1e-6, 1e8, "Inertia K about the vertical through the rear axle."
        ),
        Parameter("wheelbase", "m", 2.4, 1e-2, 20.0, "Distance l of the axles."),
        Parameter("wheel_radius", "m", 0.32, 1e-3, 5.0, "Radius rho of the wheels."),
    )
    controls = (
        Control("f_psi", "N m", -3000.0, 3000.0, "Torque on the rear wheels."),
        Control(
            "u_sigma", "1/s", -4.0, 4.0, "Rate of the tangent of the steering angle, positive to the left."
        ),
    )
    shape_coordinates: tuple[ShapeCoordinate, ...] = (
        ShapeCoordinate("psi", "rad", "Roll angle of the rear wheels."),
        ShapeCoordinate("sigma", "1", "Tangent of the steering angle.", -2.0, 2.0),
    )
    commanded: ClassVar = {"sigma": "u_sigma"}

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        return (
            q.wheel_inertia * u[0] ** 2 + q.yaw_inertia * xi[0] ** 2 + q.mass * (xi[1] ** 2 + xi[2] ** 2)
        ) / 2

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """Rolling of the rear wheels, no sideways slip of the rear axle, none of the front axle."""
        return ca.vertcat(
            ca.horzcat(-q.wheel_radius, 0, 0, 1, 0),
            ca.horzcat(0, 0, 0, 0, 1),
            ca.horzcat(0, 0, q.wheelbase, -r[1], 1),
        )

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The front axle follows the steering angle; each axle's wheels have its middle as origin and roll with it."""
        body, r = super().bodies(node, q)["body"], node[self.node_layout.shape]
        roll, steering = turn_about("y", r[0]), turn_about("z", ca.atan(r[1]))
        return {
            "body": body,
            "rear_wheels": body @ roll,
            "front_wheels": body @ shift(q.wheelbase, 0, 0) @ steering @ roll,
        }

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        r = node[self.node_layout.shape]
        return (
            Observable("steering", "rad", ca.atan(r[1])),
            Observable("wheel_roll", "rad", r[0]),
            *super().observables(node, u, q),
        )

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(controls[0], 0)
