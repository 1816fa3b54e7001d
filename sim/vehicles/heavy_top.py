"""The heavy top: a rigid body about a fixed point (mechanics survey, section 3.4, formulation on T*SO(3))."""

from collections.abc import Mapping

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SO3
from sim.symbolic import shift
from sim.vehicles.forms.form import Observable, State
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities

SPIN_RADPS = 30.0
LEAN_RAD = 0.8
UPRIGHT_RAD = 1e-3
"""Nearer to the vertical its axis has no direction to precess in."""
_SHORTEST_M = 1e-9
_UPRIGHT = 1.0 - 1e-9


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

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """How its axis moves, which leads from the fixed point through the centre of mass, and what its weight keeps.

        The momentum about the vertical is kept, that about the axis where the top is symmetric.
        """
        at, R = self.node_layout, ca.reshape(node[self.node_layout.pose], 3, 3)
        omega_b = node[at.velocity]
        axis_b = unit_or_up(q.arm)
        axis_w, momentum_w = R @ axis_b, R @ self.momentum(omega_b, q)
        level = ca.sqrt(axis_w[0] ** 2 + axis_w[1] ** 2)
        rate_w = R @ ca.cross(omega_b, axis_b)
        round_vertical = axis_w[0] * rate_w[1] - axis_w[1] * rate_w[0]
        leaning = level > UPRIGHT_RAD
        precession = ca.if_else(leaning, round_vertical / ca.if_else(leaning, level**2, 1), ca.SX.nan())
        return (
            Observable("lean", "rad", ca.atan2(level, axis_w[2])),
            Observable("spin", "rad/s", ca.dot(omega_b, axis_b)),
            Observable("precession", "rad/s", precession),
            Observable("momentum_vertical", "kg m^2/s", momentum_w[2]),
            Observable("momentum_axial", "kg m^2/s", ca.dot(momentum_w, axis_w)),
            Observable("axis", "1", axis_w, traced=True, direction=True),
        )

    def default_state(self) -> State:
        """Let go leaning along x while it spins about its axle: it nutates and precesses."""
        c, s = np.cos(LEAN_RAD), np.sin(LEAN_RAD)
        return self.state(R=[[c, 0, s], [0, 1, 0], [-s, 0, c]], omega=(0.0, 0.0, SPIN_RADPS))

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """Put down upright and at rest it starts as by itself, with that heading."""
        R_wb, own = T_wb[:3, :3], self.default_state()
        if R_wb[2, 2] < _UPRIGHT or np.any(twist_b[:3]):
            return self.state(R=R_wb, omega=twist_b[:3])
        return self.state_of(self.group.from_matrix(R_wb @ own.pose), own.velocity)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The top, with its origin at the fixed point, and the same frame at its centre of mass."""
        body = super().bodies(node, q)["body"]
        return {"body": body, "centre": body @ shift(q.arm[0], q.arm[1], q.arm[2])}

    def state(  # type: ignore[override]
        self, *, R: ArrayLike | None = None, omega: ArrayLike = (0.0, 0.0, 0.0)
    ) -> State:
        """State from R_wb (3, 3) and the body's angular velocity [rad/s].

        Raises InputError for wrong shapes, numbers that are not finite, and an R that is no rotation.
        """
        rotation = self._rotation("R", np.eye(3) if R is None else R)
        return self.state_of(rotation.T.ravel(), self._finite("omega", omega, (3,)))


def unit_or_up(arm_b: ca.SX) -> ca.SX:
    """The direction of a vector, body z where it has none."""
    length = ca.sqrt(ca.dot(arm_b, arm_b))
    long = length > _SHORTEST_M
    return ca.if_else(long, arm_b / ca.if_else(long, length, 1), ca.SX([0, 0, 1]))
