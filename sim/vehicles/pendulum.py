"""The spherical pendulum on TS^2, moved by SE(3) (mechanics survey, section 5, with one link)."""

from collections.abc import Mapping

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.errors import InputError
from sim.spaces import TangentBundle
from sim.spaces.action import motions_of_tangent_bundle
from sim.symbolic import shift
from sim.vehicles.acted import ActionVehicle
from sim.vehicles.base import Quantities, State
from sim.vehicles.observable import Observable
from sim.vehicles.parameter import Control, Parameter

DIRECTION = (0.6, 0.0, -0.8)
OMEGA_RADPS = (0.0, 0.0, 1.4)
_LEAST = 1e-12


class Pendulum(ActionVehicle):
    """A bob on a light rod that turns freely about a fixed point.

    The state is (q, omega): the unit vector q from the fixed point to the bob, and its angular velocity at right
    angles to it, both in the world. With the force F on the bob q' = omega x q, omega' = q x (G + F/m)/L.
    """

    name = "pendulum"
    parameters = (
        Parameter("mass", "kg", 4.0, 1e-3, 1e6, "Mass of the bob."),
        Parameter("length", "m", 1.2, 1e-2, 1e3, "From the fixed point to the middle of the bob."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
        Parameter("drag", "N s/m", 0.0, 0.0, 1e3, "Of the air on the bob, linear.", optional=True),
    )
    controls = tuple(
        Control(f"push_{axis}", "N", -20.0, 20.0, f"Force of a hand on the bob along world {axis}.")
        for axis in "xy"
    )
    action = motions_of_tangent_bundle(TangentBundle())
    in_space = np.eye(6)[:, :3]
    stand_m = 1.8

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        """(omega, direction x omega'): its motion is (omega x direction, omega')."""
        at = self.named(point)
        direction, omega = at["direction"], at["omega"]
        force = ca.vertcat(u, -q.mass * q.gravity) - q.drag * q.length * ca.cross(omega, direction)
        turning = ca.cross(direction, force) / (q.mass * q.length)
        return ca.vertcat(omega, ca.cross(direction, turning))

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Kinetic plus m g z."""
        at = self.named(node)
        v = q.length * ca.cross(at["omega"], at["direction"])
        return q.mass * ca.dot(v, v) / 2 + q.mass * q.gravity * q.length * at["direction"][2]

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(3,) about the fixed point; the weight keeps the vertical part."""
        return q.mass * q.length**2 * self.named(node)["omega"]

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """The push is drawn at the bob, as a force."""
        return ca.SX(3, 1)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The z axis of rod and bob leads from the bob to the fixed point, by the shortest turn off upright."""
        x, y, z = ca.vertsplit(-self.named(node)["direction"])
        share = 1 / ca.fmax(1 + z, _LEAST)
        R = ca.vertcat(
            ca.horzcat(1 - share * x * x, -share * x * y, x),
            ca.horzcat(-share * x * y, 1 - share * y * y, y),
            ca.horzcat(-x, -y, z),
        )
        rod = ca.blockcat([[R, ca.SX(3, 1)], [ca.SX(1, 3), ca.SX(1)]])
        return {"bob": rod @ shift(0, 0, -q.length), "rod": rod, "pivot": ca.SX.eye(4)}

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """Angle from hanging straight down, and what the rod pulls with; it pushes where that is negative."""
        at = self.named(node)
        direction, omega = at["direction"], at["omega"]
        level = ca.sqrt(direction[0] ** 2 + direction[1] ** 2)
        force = ca.vertcat(u, -q.mass * q.gravity)
        tension = q.mass * q.length * ca.dot(omega, omega) + ca.dot(direction, force)
        return (
            Observable("swing", "rad", ca.atan2(level, -direction[2])),
            Observable("tension", "N", tension),
            Observable("momentum_vertical", "kg m^2/s", self.spatial_momentum(node, q)[2]),
        )

    def default_state(self) -> State:
        """Let go to one side, going round: it draws a rosette."""
        return self.state(direction=DIRECTION, omega=np.cross(DIRECTION, np.cross(OMEGA_RADPS, DIRECTION)))

    def state(  # type: ignore[override]
        self, *, direction: ArrayLike = (0.0, 0.0, -1.0), omega: ArrayLike = (0.0, 0.0, 0.0)
    ) -> State:
        """State in the world: direction of the bob, seen from the fixed point, and its angular velocity [rad/s].

        Raises InputError for wrong shapes, numbers that are not finite, a direction that is no unit vector and a
        velocity about the rod itself.
        """
        q, w = self._finite("direction", direction, (3,)), self._finite("omega", omega, (3,))
        if abs(np.linalg.norm(q) - 1.0) > 1e-6:
            raise InputError(f"vehicle {self.name!r}: direction has length {np.linalg.norm(q):g}; allowed: 1")
        q = q / np.linalg.norm(q)
        if abs(q @ w) > 1e-6 * max(1.0, float(np.linalg.norm(w))):
            raise InputError(
                f"vehicle {self.name!r}: omega turns the rod about itself; allowed: at right angles to it"
            )
        return self.point(direction=q, omega=w - (q @ w) * q)
