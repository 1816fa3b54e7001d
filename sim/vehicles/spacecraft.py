"""The spacecraft of the rigid body article: torques about three axes and an engine along the body's axis."""

import dataclasses

import casadi as ca

from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from sim.vehicles.rigid_body import GRAVITY, INERTIA, MASS, rigid_inertia, weight_potential


class Spacecraft(HolonomicVehicle):
    """Turned by thrusters, pushed along x by its engine; coasts through space otherwise."""

    name = "spacecraft"
    parameters = (
        dataclasses.replace(MASS, default=4000.0),
        dataclasses.replace(INERTIA, default=(4000.0, 11000.0, 12500.0)),
        Parameter("thrust", "N", 24000.0, 0.0, 1e7, "Of the engine at full throttle, along body x."),
        GRAVITY,
    )
    controls = (
        Control("pitch", "N m", -6000.0, 6000.0, "Torque, positive nose down."),
        Control("yaw", "N m", -6000.0, 6000.0, "Torque, positive nose right."),
        Control("roll", "N m", -4000.0, 4000.0, "Torque, positive right side down."),
        Control("thrust", "", 0.0, 1.0, "Throttle: share of the engine's thrust."),
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return rigid_inertia(q)

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        return weight_potential(g, q)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """z is up and y left: nose down is a turn about +y, nose right one about -z."""
        pitch, yaw, roll, throttle = ca.vertsplit(u)
        return ca.vertcat(roll, pitch, -yaw, throttle * q.thrust, ca.SX(2, 1))
