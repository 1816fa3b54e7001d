"""The heavy top: a rigid body about a fixed point (mechanics survey, section 3.4, formulation on T*SO(3))."""

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SO3
from sim.vehicles.base import Quantities, State
from sim.vehicles.holonomic import HolonomicVehicle
from sim.vehicles.parameter import Control, Parameter

SPIN_RADPS = 30.0
LEAN_RAD = 0.8


class HeavyTop(HolonomicVehicle):
    """A top whose tip stands on a fixed point: its weight turns it, its momentum about the vertical stays.

    The state is the rotation alone. The defaults are those of a brass flywheel of 0.25 m radius on a steel axle
    along body z.
    """

    name = "heavy-top"
    group = SO3
    parameters = (
        Parameter("mass", "kg", 24.0, 1e-3, 1e6, "Mass."),
        Parameter(
            "inertia", "kg m^2", (2.1, 2.1, 1.1), 1e-6, 1e8, "Principal moments about the fixed point."
        ),
        Parameter(
            "arm", "m", (0.0, 0.0, 0.25), -1e3, 1e3, "Centre of mass seen from the fixed point, body frame."
        ),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )
    controls = tuple(
        Control(f"torque_{axis}", "N m", -20.0, 20.0, f"Torque of a hand about body {axis}.")
        for axis in "xyz"
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return ca.diag(q.inertia)

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        """m g z of the centre of mass."""
        return q.mass * q.gravity * (ca.reshape(g, 3, 3) @ q.arm)[2]

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return u

    def default_state(self) -> State:
        """Let go leaning along x while it spins about its axle: it nutates and precesses."""
        c, s = np.cos(LEAN_RAD), np.sin(LEAN_RAD)
        return self.state(R=[[c, 0, s], [0, 1, 0], [-s, 0, c]], omega=(0.0, 0.0, SPIN_RADPS))

    def state(  # type: ignore[override]
        self, *, R: ArrayLike | None = None, omega: ArrayLike = (0.0, 0.0, 0.0)
    ) -> State:
        """State from R_wb (3, 3) and the body's angular velocity [rad/s].

        Raises InputError for wrong shapes, numbers that are not finite, and an R that is no rotation.
        """
        rotation = self._rotation("R", np.eye(3) if R is None else R)
        return self.state_of(rotation.T.ravel(), self._finite("omega", omega, (3,)))
