"""The heavy top: a rigid body about a fixed point (mechanics survey, section 3.4, formulation on T*SO(3))."""

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SO3
from sim.vehicles.base import Quantities, State
from sim.vehicles.holonomic import HolonomicVehicle
from sim.vehicles.parameter import Parameter


class HeavyTop(HolonomicVehicle):
    """State: the rotation alone. Its momentum about the vertical is kept, its weight turns it."""

    name = "heavy-top"
    group = SO3
    parameters = (
        Parameter("mass", "kg", 15.0, 1e-3, 1e6, "Mass."),
        Parameter(
            "inertia",
            "kg m^2",
            (15.234375, 0.46875, 15.234375),
            1e-6,
            1e8,
            "Principal moments about the fixed point.",
        ),
        Parameter(
            "arm", "m", (0.0, 1.0, 0.0), -1e3, 1e3, "Centre of mass seen from the fixed point, body frame."
        ),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return ca.diag(q.inertia)

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        """m g z of the centre of mass."""
        return q.mass * q.gravity * (ca.reshape(g, 3, 3) @ q.arm)[2]

    def turned(self, R: ArrayLike, omega: ArrayLike) -> State:
        """State from R_wb (3, 3) and the body's angular velocity [rad/s]."""
        return self.state_of(np.asarray(R, float).T.ravel(), omega)
