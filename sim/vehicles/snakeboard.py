"""The snakeboard (vehicles paper, section 5.2.2): both axles steer against each other, a rotor above turns."""

from collections.abc import Mapping

import casadi as ca

from sim.symbolic import shift, turn_about
from sim.vehicles.forms.form import Observable
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities, ShapeCoordinate


class Snakeboard(NonholonomicVehicle):
    """Body origin in the middle. Shape: rotor angle psi (the rider's torso); phi steers the back axle, -phi the front.

    Board, rider and wheels together have the yaw inertia m l^2. Where cos(phi) = 0 both axles stand across
    and the symmetry direction vanishes; stops keep phi well away from there.
    """

    name = "snakeboard"
    parameters = (
        Parameter("mass", "kg", 60.0, 1e-3, 1e5, "Mass m with rider."),
        Parameter("rotor_inertia", "kg m^2", 2.5, 1e-6, 1e6, "Inertia I of the rotor; less than m l^2."),
        Parameter("wheel_inertia", "kg m^2", 0.1, 1e-6, 1e5, "Inertia J of each steering axle."),
        Parameter("half_length", "m", 0.35, 1e-2, 20.0, "Distance l of the axles from the middle."),
    )
    controls = (
        Control("f_psi", "N m", -200.0, 200.0, "Torque between board and rotor."),
        Control(
            "f_phi", "N m", -20.0, 20.0, "Torque that steers the axles, positive turns the back axle left."
        ),
    )
    shape_coordinates = (
        ShapeCoordinate("psi", "rad", "Rotor angle relative to the board."),
        ShapeCoordinate(
            "phi", "rad", "Steering angle of the back axle; the front has the opposite one.", -1.3, 1.3
        ),
    )

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        rotor = q.rotor_inertia * (u[0] ** 2 + 2 * u[0] * xi[0])
        yaw = q.mass * q.half_length**2 * xi[0] ** 2
        return (rotor + 2 * q.wheel_inertia * u[1] ** 2 + yaw + q.mass * (xi[1] ** 2 + xi[2] ** 2)) / 2

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """No sideways slip of the back axle, nor of the front axle."""
        s, c, length = ca.sin(r[1]), ca.cos(r[1]), q.half_length
        return ca.vertcat(ca.horzcat(0, 0, -length * c, -s, c), ca.horzcat(0, 0, length * c, s, c))

    def connection(self, r: ca.SX, q: Quantities) -> ca.SX:
        s, c, length = ca.sin(r[1]), ca.cos(r[1]), q.half_length
        share = q.rotor_inertia / (q.mass * length**2)
        return ca.vertcat(ca.horzcat(share * s * s, 0), ca.horzcat(-share * length * s * c, 0), ca.SX(1, 2))

    def symmetry_basis(self, r: ca.SX, q: Quantities) -> ca.SX:
        """Rotation about the point where the axles meet (eq. 19)."""
        s, c = ca.sin(r[1]), ca.cos(r[1])
        return ca.vertcat(2 * s * c, -2 * q.half_length * c * c, 0)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        body, r = super().bodies(node, q)["body"], node[self.node_layout.shape]
        return {
            "body": body,
            "rotor": body @ turn_about("z", r[0]),
            "back_axle": body @ shift(-q.half_length, 0, 0) @ turn_about("z", r[1]),
            "front_axle": body @ shift(q.half_length, 0, 0) @ turn_about("z", -r[1]),
        }

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        r = node[self.node_layout.shape]
        return (
            Observable("steering", "rad", r[1]),
            Observable("rotor", "rad", r[0]),
            *super().observables(node, u, q),
        )

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        return controls
