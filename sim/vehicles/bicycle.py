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

from sim.platform.errors import InputError, quote
from sim.platform.values import dataclass
from sim.symbolic import replaced, shift, turn_about
from sim.vehicles.forms.form import Observable, State
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities, ShapeCoordinate

LEAN, PITCH, STEER, REAR, FRONT = range(5)
_SWEEPS, _PITCH_ACCURACY = 12, 1e-12
"""Of Newton's method for the pitch [rad]."""


@dataclass(frozen=True)
class _Frame:
    """A frame that moves, in its own axes."""

    omega: ca.SX
    """(3,) its angular velocity."""
    v: ca.SX
    """(3,) the velocity of its origin."""
    up: ca.SX
    """(3,) the vertical."""
    height: ca.SX
    """Of its origin above the ground."""

    def turned(self, axis: str, angle: ca.SX, rate: ca.SX | float = 0.0) -> "_Frame":
        """One that turns against it about a coordinate axis through its origin."""
        R = turn_about(axis, angle)[:3, :3].T
        own = rate * ca.SX([axis == "x", axis == "y", axis == "z"])
        return _Frame(R @ self.omega + own, R @ self.v, R @ self.up, self.height)

    def shifted(self, x: ca.SX | float, y: ca.SX | float, z: ca.SX | float) -> "_Frame":
        """One that is fast to it, with its origin at these coordinates."""
        arm = ca.vertcat(x, y, z)
        v = self.v + ca.cross(self.omega, arm)
        return _Frame(self.omega, v, self.up, self.height + ca.dot(self.up, arm))


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

    def _moving(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> "dict[str, _Frame]":
        """The same frames with their motion, each out of the one before it."""
        ground = _Frame(ca.vertcat(0, 0, xi[0]), ca.vertcat(xi[1], xi[2], 0), ca.SX([0, 0, 1]), ca.SX(0))
        carrier = ground.turned("x", r[LEAN], u[LEAN]).shifted(0, 0, q.rear_radius)
        frame = carrier.turned("y", r[PITCH], u[PITCH]).shifted(0, 0, -q.rear_radius)
        crown = (
            frame.shifted(q.wheelbase + q.trail, 0, 0).turned("y", -q.tilt).turned("z", r[STEER], u[STEER])
        )
        fork = crown.turned("y", q.tilt).shifted(-(q.wheelbase + q.trail), 0, 0)
        return {
            "rear": carrier,
            "frame": frame,
            "fork": fork,
            "axle": fork.shifted(q.wheelbase, 0, q.front_radius),
        }

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        def tensor(i: ca.SX) -> ca.SX:
            return ca.blockcat([[i[0], 0, i[3]], [0, i[1], 0], [i[3], 0, i[2]]])

        def wheel(i: ca.SX) -> ca.SX:
            return ca.diag(ca.vertcat(i[0], i[1], i[0]))

        moving = self._moving(r, u, xi, q)
        frame = moving["frame"].shifted(q.frame_centre[0], 0, q.frame_centre[1])
        fork = moving["fork"].shifted(q.fork_centre[0], 0, q.fork_centre[1])
        bodies = (
            (moving["rear"], q.rear_mass, wheel(q.rear_inertia), u[REAR]),
            (frame, q.frame_mass, tensor(q.frame_inertia), 0),
            (fork, q.fork_mass, tensor(q.fork_inertia), 0),
            (moving["axle"], q.front_mass, wheel(q.front_inertia), u[FRONT]),
        )
        total = ca.SX(0)
        for at, mass, inertia, spin in bodies:
            turned = at.omega + ca.vertcat(0, spin, 0)
            total += (mass * ca.dot(at.v, at.v) + ca.dot(turned, inertia @ turned)) / 2
            total -= mass * q.gravity * at.height
        return total

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """The material points at both contacts stand still: the rear one along its rim and across it, the front one
        upward, along its axle, and along its rim."""
        here, u, xi = ca.SX.sym("r", 5), ca.SX.sym("u", 5), ca.SX.sym("xi", 3)
        axle = self._moving(here, u, xi, q)["axle"]
        out, up = ca.sqrt(axle.up[0] ** 2 + axle.up[2] ** 2), axle.up
        contact = axle.shifted(-q.front_radius * up[0] / out, 0, -q.front_radius * up[2] / out)
        along = (up[2] * contact.v[0] - up[0] * contact.v[2]) / out - q.front_radius * u[FRONT]
        upward = ca.dot(ca.gradient(axle.height - q.front_radius * out, here), u)
        rows = ca.vertcat(xi[1] - q.rear_radius * u[REAR], xi[2], upward, contact.v[1], along)
        return ca.sparsify(replaced([ca.jacobian(rows, ca.vertcat(u, xi))], [here], [r])[0])

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

        The pitch that goes with lean and steering is found. Raises InputError where there is none.
        """
        q, r = self.symbols(ca.SX(self.parameter_vector)), ca.SX.sym("r", 5)
        height = self.front_height(r, q)
        update = ca.Function("update", [r], [height / ca.gradient(height, r)[PITCH]])
        pitch, left = 0.0, np.inf
        for _ in range(_SWEEPS):
            left = float(update([lean, pitch, steer, 0.0, 0.0]))
            pitch -= left
        low, high = self.shape_coordinates[PITCH].low, self.shape_coordinates[PITCH].high
        if not (abs(left) < _PITCH_ACCURACY and low <= pitch <= high):
            text = f"lean = {quote(lean)} with steer = {quote(steer)} leaves the front wheel off the ground"
            raise InputError(f"vehicle {self.name!r}: {text}; allowed: a pitch from {low:g} to {high:g} rad")
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
