"""The rigid body: the free system of the vehicles paper's comparisons, with gravity and a body wrench if wanted."""

import casadi as ca

from sim.groups.se3 import position_of
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities

MASS = Parameter("mass", "kg", 1.0, 1e-3, 1e6, "Mass.")
INERTIA = Parameter(
    "inertia", "kg m^2", (1.0, 2.0, 3.0), 1e-6, 1e8, "Principal moments about the centre of mass."
)
GRAVITY = Parameter("gravity", "m/s^2", 0.0, 0.0, 100.0, "Downward acceleration.", optional=True)


def rigid_inertia(q: Quantities) -> ca.SX:
    """diag(J, m, m, m) about the centre of mass."""
    return ca.diagcat(ca.diag(q.inertia), q.mass * ca.SX.eye(3))


def weight_potential(g: ca.SX, q: Quantities) -> ca.SX:
    """m g z."""
    return q.mass * q.gravity * position_of(g)[2]


class RigidBody(HolonomicVehicle):
    """A body with principal axes along its frame."""

    name = "rigid-body"
    parameters = (MASS, INERTIA, GRAVITY)
    controls = tuple(
        Control(f"{kind}_{axis}", unit, -1e7, 1e7, f"{what} along body {axis}")
        for kind, unit, what in (("torque", "N m", "Torque"), ("force", "N", "Force"))
        for axis in "xyz"
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return rigid_inertia(q)

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        return weight_potential(g, q)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return u
