"""The Whipple bicycle: two wheels that roll, a rear frame with its rider, and a fork that turns about a leaning axis.

J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, "Linearized dynamics equations for the balance and steer of
a bicycle: a benchmark and review", Proc. R. Soc. A 463, 2007. Their axes point forward, right and down.

The group is SE(2), the pose of the rear wheel's contact frame: x along its rim. Lean, pitch, steering and the wheels'
angles are shape. Pitch and the front wheel's angle follow: the front wheel stays on the ground and rolls.
"""

from collections.abc import Mapping
from typing import ClassVar

import casadi as ca
import numpy as np

from sim.symbolic import replaced, shift, turn_about
from sim.vehicles.forms.form import Observable, State
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities, ShapeCoordinate

LEAN, PITCH, STEER, REAR, FRONT = range(5)


class Bicycle(NonholonomicVehicle):
    """Shape: lean (positive falls to the right), pitch (positive lowers the front), steering (positive to the left),
    angles rolled by the rear wheel and, against the fork, by the front one. The defaults are the benchmark's."""

    name = "bicycle"
    parameters = (
        Parameter("wheelbase", "m", 1.02, 0.1, 10.0, "Distance of the wheels' contacts."),
        Parameter("trail", "m", 0.08, -1.0, 1.0, "How far the front contact is behind the steering axis."),
        Parameter("tilt", "rad", float(np.pi / 10), -1.2, 1.2, "Of the steering axis from the vertical."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
        Parameter("rear_radius", "m", 0.3, 0.01, 5.0, "Of the rear wheel."),
        Parameter("rear_mass", "kg", 2.0, 1e-3, 1e3, "Of the rear wheel."),
        Parameter(
            "rear_inertia", "kg m^2", (0.0603, 0.12), 1e-6, 1e3, "About a diameter, and about the axle."
        ),
        Parameter("frame_mass", "kg", 85.0, 1e-3, 1e4, "Of the rear frame with the rider."),
        Parameter("frame_centre", "m", (0.3, 0.9), -10.0, 10.0, "Ahead of the rear contact, and above it."),
        Parameter(
            "frame_inertia", "kg m^2", (9.2, 11.0, 2.8, -2.4), -1e4, 1e4, "About x, y, z, and the product xz."
        ),
        Parameter("fork_mass", "kg", 4.0, 1e-3, 1e3, "Of handlebar and fork."),
        Parameter("fork_centre", "m", (0.9, 0.7), -10.0, 10.0, "Ahead of the rear contact, and above it."),
        Parameter(
            "fork_inertia",
            "kg m^2",
            (0.05892, 0.06, 0.00708, 0.00756),
            -1e3,
            1e3,
            "About x, y, z, and the product xz.",
        ),
        Parameter("front_radius", "m", 0.35, 0.01, 5.0, "Of the front wheel."),
        Parameter("front_mass", "kg", 3.0, 1e-3, 1e3, "Of the front wheel."),
        Parameter(
            "front_inertia", "kg m^2", (0.1405, 0.28), 1e-6, 1e3, "About a diameter, and about the axle."
        ),
    )
    controls = (
        Control("steer_torque", "N m", -20.0, 20.0, "Between frame and handlebar, positive to the left."),
        Control("lean_torque", "N m", -200.0, 200.0, "Of the rider's weight shifted, positive to the right."),
        Control("drive_torque", "N m", -200.0, 200.0, "On the rear wheel."),
    )
    shape_coordinates = (
        ShapeCoordinate("lean", "rad", "Of the rear wheel's plane from the vertical.", -1.2, 1.2),
        ShapeCoordinate("pitch", "rad", "Of the rear frame; it follows from lean and steering.", -0.5, 0.5),
        ShapeCoordinate("steer", "rad", "Of the fork against the frame.", -1.0, 1.0),
        ShapeCoordinate("rear_roll", "rad", "Angle rolled by the rear wheel."),
        ShapeCoordinate("front_roll", "rad", "Angle rolled by the front wheel."),
    )
    dependent: ClassVar = ("pitch", "front_roll")

    def frames(self, r: ca.SX, q: Quantities) -> dict[str, ca.SX]:
        """(4, 4) poses of rear wheel's carrier, frame, fork and front axle, seen from the rear contact frame."""
        carrier = turn_about("x", r[LEAN]) @ shift(0, 0, q.rear_radius)
        frame = carrier @ turn_about("y", r[PITCH]) @ shift(0, 0, -q.rear_radius)
        # Frames are as in the upright pose, with origins at the rear contact there.
        crown = shift(q.wheelbase + q.trail, 0, 0) @ turn_about("y", -q.tilt)
        uncrown = turn_about("y", q.tilt) @ shift(-(q.wheelbase + q.trail), 0, 0)
        fork = frame @ crown @ turn_about("z", r[STEER]) @ uncrown
        return {
            "rear": carrier,
            "frame": frame,
            "fork": fork,
            "axle": fork @ shift(q.wheelbase, 0, q.front_radius),
        }

    def front_contact(self, r: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX]:
        """(3,) the front axle's middle, and from there to the lowest point of the rim."""
        axle = self.frames(r, q)["axle"]
        across = axle[:3, 1]
        up = ca.vertcat(0, 0, 1) - across[2] * across
        return axle[:3, 3], -q.front_radius * up / ca.sqrt(ca.dot(up, up))

    def front_height(self, r: ca.SX, q: Quantities) -> ca.SX:
        """Of the front wheel's lowest point, zero where it stands on the ground [m]."""
        middle, down = self.front_contact(r, q)
        return middle[2] + down[2]

    def _twist(self, T: ca.SX, r: ca.SX, u: ca.SX, xi: ca.SX) -> tuple[ca.SX, ca.SX]:
        """(omega, v) in the contact frame of a body whose pose there is T(r)."""
        R, x = T[:3, :3], T[:3, 3]
        W = ca.reshape(ca.jtimes(ca.vec(R), r, u), 3, 3) @ R.T
        up = ca.vertcat(0, 0, xi[0])
        omega = ca.vertcat(W[2, 1], W[0, 2], W[1, 0]) + up
        return omega, ca.jtimes(x, r, u) + ca.vertcat(xi[1], xi[2], 0) + ca.cross(up, x)

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        def tensor(i: ca.SX) -> ca.SX:
            return ca.blockcat([[i[0], 0, i[3]], [0, i[1], 0], [i[3], 0, i[2]]])

        def wheel(i: ca.SX) -> ca.SX:
            return ca.diag(ca.vertcat(i[0], i[1], i[0]))

        here = ca.SX.sym("r", r.shape[0])
        frames = self.frames(here, q)
        rear, axle = frames["rear"], frames["axle"]
        at = shift(q.frame_centre[0], 0, q.frame_centre[1]), shift(q.fork_centre[0], 0, q.fork_centre[1])
        bodies = (
            (rear, q.rear_mass, wheel(q.rear_inertia), u[REAR]),
            (frames["frame"] @ at[0], q.frame_mass, tensor(q.frame_inertia), 0),
            (frames["fork"] @ at[1], q.fork_mass, tensor(q.fork_inertia), 0),
            (axle, q.front_mass, wheel(q.front_inertia), u[FRONT]),
        )
        total = ca.SX(0)
        for T, mass, inertia, spin in bodies:
            omega, v = self._twist(T, here, u, xi)
            turned = T[:3, :3].T @ omega + ca.vertcat(0, spin, 0)
            total += (mass * ca.dot(v, v) + ca.dot(turned, inertia @ turned)) / 2 - mass * q.gravity * T[2, 3]
        return replaced([total], [here], [r])[0]

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """The material points at both contacts stand still."""
        here, u, xi = ca.SX.sym("r", 5), ca.SX.sym("u", 5), ca.SX.sym("xi", 3)
        axle = self.frames(here, q)["axle"]
        omega, v = self._twist(axle, here, u, xi)
        _, down = self.front_contact(here, q)
        front = v + ca.cross(omega + u[FRONT] * axle[:3, 1], down)
        rear = ca.vertcat(xi[1] - q.rear_radius * u[REAR], xi[2])
        found = ca.jacobian(ca.vertcat(rear, front), ca.vertcat(u, xi))
        return ca.sparsify(replaced([found], [here], [r])[0])

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(controls[1], 0, controls[0], controls[2], 0)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        body, r = super().bodies(node, q)["body"], node[self.node_layout.shape]
        found = self.frames(r, q)
        return {
            "body": body,
            "frame": body @ found["frame"],
            "fork": body @ found["fork"],
            "rear_wheel": body @ found["rear"] @ turn_about("y", r[REAR]),
            "front_wheel": body @ found["axle"] @ turn_about("y", r[FRONT]),
        }

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        r = node[self.node_layout.shape]
        return (
            Observable("lean", "rad", r[LEAN]),
            Observable("steering", "rad", r[STEER]),
            Observable("rear_roll", "rad", r[REAR]),
            Observable("front_height", "m", self.front_height(r, q)),
            *super().observables(node, u, q),
        )

    def default_state(self) -> State:
        """Upright, running on straight."""
        return self.riding()

    def riding(self, speed_mps: float = 5.0, lean: float = 0.0, steer: float = 0.0, **rates: float) -> State:
        """On the ground with that speed of the rear wheel; rates: of `lean` and `steer` [rad/s].

        The pitch that goes with lean and steering is found.
        """
        from scipy.optimize import brentq  # takes a while to import

        q = self.symbols(ca.SX(self.parameter_vector))
        r = ca.SX.sym("r", 5)
        height = ca.Function("height", [r], [self.front_height(r, q)])
        pitch = brentq(lambda p: float(height([lean, p, steer, 0.0, 0.0])), -0.5, 0.5, xtol=1e-15)
        radius = float(np.ravel(self.values["rear_radius"])[0])
        return self.state(
            shape=(lean, pitch, steer, 0.0, 0.0),
            shape_velocity=(
                rates.get("lean_rate", 0.0),
                0.0,
                rates.get("steer_rate", 0.0),
                speed_mps / radius,
                0.0,
            ),
        )
