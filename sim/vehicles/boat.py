"""A boat on calm water: it moves in the plane, two thrusters push it, hull drag and wind act on it.

The thrusters are those of the vehicles paper (section 4.3.2): a thrust u along body x at a body point
c is the wrench (c x e_x, e_x) u, of which the torque about the vertical and the forces act in the plane.
"""

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SE2
from sim.groups.se2 import heading_of, plane_rotation
from sim.vehicles.forms.form import State
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities


class Boat(HolonomicVehicle):
    """Body origin at the centre of mass. Drag is linear in the velocity through the water, which is at rest."""

    name = "boat"
    group = SE2
    parameters = (
        Parameter("mass", "kg", 120.0, 1e-3, 1e8, "Mass, with the water that moves along."),
        Parameter(
            "inertia",
            "kg m^2",
            (30.0, 60.0, 60.0),
            1e-6,
            1e10,
            "Principal moments; on calm water the last counts.",
        ),
        Parameter(
            "thruster_left", "m", (-1.2, 0.5, -0.2), -100.0, 100.0, "Where the left thruster pushes, body."
        ),
        Parameter(
            "thruster_right", "m", (-1.2, -0.5, -0.2), -100.0, 100.0, "Where the right thruster pushes, body."
        ),
        Parameter(
            "drag", "N s/m, N m s", (40.0, 200.0, 80.0), 0.0, 1e6, "Hull drag ahead, sideways and in turning."
        ),
        Parameter("wind", "m/s", (0.0, 0.0), -60.0, 60.0, "Velocity of the air in the world, x and y."),
        Parameter("wind_drag", "N s/m", 6.0, 0.0, 1e4, "Force of the air per relative velocity."),
        Parameter(
            "wind_offset", "m", -0.3, -50.0, 50.0, "Where the wind's force acts ahead of the centre of mass."
        ),
    )
    controls = (
        Control("u_left", "N", -75.0, 150.0, "Thrust of the left thruster, ahead."),
        Control("u_right", "N", -75.0, 150.0, "Thrust of the right thruster, ahead."),
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return ca.diagcat(q.inertia[2], q.mass, q.mass)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """Both thrusts, -c_y u about the vertical."""
        turning = -q.thruster_left[1] * u[0] - q.thruster_right[1] * u[1]
        return ca.vertcat(turning, u[0] + u[1], 0)

    def dissipative_wrench(self, g: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        water = -ca.vertcat(q.drag[2] * xi[0], q.drag[0] * xi[1], q.drag[1] * xi[2])
        through_air = plane_rotation(heading_of(g)).T @ q.wind - xi[1:]
        force = q.wind_drag * through_air
        return water + ca.vertcat(q.wind_offset * force[1], force)

    def state(  # type: ignore[override]
        self,
        *,
        theta: float = 0.0,
        x: float = 0.0,
        y: float = 0.0,
        omega: float = 0.0,
        v: ArrayLike = (0.0, 0.0),
    ) -> State:
        """State on the water.

        theta [rad], x, y [m]: heading and position; omega [rad/s], v (2,) [m/s]: turn rate and body velocity.
        Raises InputError for wrong shapes and numbers that are not finite.
        """
        velocity = np.r_[float(omega), self._finite("v", v, (2,))]
        return self.state_of((theta, x, y), velocity)
