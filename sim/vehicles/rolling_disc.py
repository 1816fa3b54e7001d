"""A disc that rolls on the ground and may lean: a coin, a hoop, a unicycle's wheel.

The group is SE(2), the pose of the contact frame: origin at the point of contact, x along the rim.
Lean and roll are shape, so the motion of the disc in space is derived from a planar declaration.
The formulas are rigid body kinematics: with d the unit vector from contact to centre, the centre moves
with v + R (omega_z e_z + lean' e_x) x d, and the disc turns about its axis with roll' + omega_z sin(lean).
"""

from collections.abc import Mapping

import casadi as ca

from sim.symbolic import shift, turn_about
from sim.vehicles.forms.form import Observable
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities, ShapeCoordinate


class RollingDisc(NonholonomicVehicle):
    """Shape: lean about body x (positive falls to the right), roll about the axle (positive runs forward)."""

    name = "rolling-disc"
    parameters = (
        Parameter("mass", "kg", 20.0, 1e-3, 1e6, "Mass."),
        Parameter("radius", "m", 0.5, 1e-3, 50.0, "Radius of the rim."),
        Parameter(
            "axial_inertia",
            "kg m^2",
            2.5,
            1e-6,
            1e8,
            "Moment about the axle; m r^2/2 for a disc, m r^2 for a hoop.",
        ),
        Parameter("diametral_inertia", "kg m^2", 1.25, 1e-6, 1e8, "Moment about a diameter."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )
    controls = (
        Control("f_lean", "N m", -100.0, 100.0, "Torque that leans the disc to the right."),
        Control("f_roll", "N m", -50.0, 50.0, "Torque that rolls it forward."),
    )
    shape_coordinates = (
        ShapeCoordinate("lean", "rad", "Lean from the vertical.", -1.4, 1.4),
        ShapeCoordinate("roll", "rad", "Angle rolled."),
    )

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        s, c, R = ca.sin(r[0]), ca.cos(r[0]), q.radius
        centre = (xi[1] + R * s * xi[0]) ** 2 + (xi[2] - R * c * u[0]) ** 2 + (R * s * u[0]) ** 2
        turning = (
            q.diametral_inertia * (u[0] ** 2 + (c * xi[0]) ** 2) + q.axial_inertia * (u[1] + s * xi[0]) ** 2
        )
        return (q.mass * centre + turning) / 2 - q.mass * q.gravity * R * c

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """The material point at the contact stands still."""
        return ca.vertcat(ca.horzcat(0, -q.radius, 0, 1, 0), ca.horzcat(0, 0, 0, 0, 1))

    def connection(self, r: ca.SX, q: Quantities) -> ca.SX:
        """Rolling straight on, simpler than without momentum about the contact; there it may pivot."""
        return ca.vertcat(ca.SX(1, 2), ca.horzcat(0, -q.radius), ca.SX(1, 2))

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The contact frame, and the disc with its origin in its middle and y along the axle."""
        body, r = super().bodies(node, q)["body"], node[self.node_layout.shape]
        disc = body @ turn_about("x", r[0]) @ shift(0, 0, q.radius) @ turn_about("y", r[1])
        return {"body": body, "disc": disc}

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        r = node[self.node_layout.shape]
        return (
            Observable("lean", "rad", r[0]),
            Observable("roll", "rad", r[1]),
            *super().observables(node, u, q),
        )

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        return controls
