"""A quadrotor: four fixed rotors in an X, each a lift along body z and a torque about it."""

import dataclasses

import casadi as ca
import numpy as np

from sim.groups.se3 import rotation_of
from sim.vehicles.forms.form import Observable
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from sim.vehicles.rigid_body import GRAVITY, INERTIA, MASS, rigid_inertia, weight_potential

ROTORS = (
    ("front_left", 1, 1, 1),
    ("front_right", 1, -1, -1),
    ("rear_left", -1, 1, -1),
    ("rear_right", -1, -1, 1),
)
"""Name, signs of its place along x and y, and of the torque that its drag leaves on the body about z."""
MOST_LIFT_N = 8.0


class Quadrotor(HolonomicVehicle):
    """Turns by lifting more on one side than on the other; it goes where its roof leans.

    Mass and inertia are those of the mechanics survey's quadrotors.
    """

    name = "quadrotor"
    parameters = (
        dataclasses.replace(MASS, default=0.755),
        dataclasses.replace(INERTIA, default=(0.0820, 0.0845, 0.1377)),
        Parameter("arm", "m", 0.28, 0.01, 10.0, "Of a rotor ahead of, and beside, the centre of mass."),
        Parameter(
            "torque_per_lift", "m", 0.05, 0.0, 1.0, "Torque about z that a rotor's drag leaves on the body."
        ),
        Parameter(
            "rotor_drag",
            "N s/m",
            0.0,
            0.0,
            1e2,
            "Of the rotors across their axis: force on the body against its velocity through the air in body x and y.",
            optional=True,
        ),
        Parameter(
            "wind",
            "m/s",
            (0.0, 0.0, 0.0),
            -60.0,
            60.0,
            "Velocity of the air in the world; felt through the rotors' drag.",
            optional=True,
        ),
        Parameter(
            "motors",
            "",
            0.0,
            0.0,
            1.0,
            "1: lifts follow the controls with a lag; 0: at once.",
            structural=True,
        ),
        Parameter(
            "motor_lag", "s", 0.05, 1e-3, 2.0, "In which a lift makes up 63 % of a change; of motors = 1."
        ),
        dataclasses.replace(GRAVITY, default=9.81),
    )
    controls = tuple(
        Control(name, "N", 0.0, MOST_LIFT_N, f"Lift of the rotor {name.replace('_', ' ')}.", neutral=0.0)
        for name, *_ in ROTORS
    )

    @property
    def lags(self) -> bool:
        return bool(self.counts["motors"])

    def lag_s(self, q: Quantities) -> ca.SX:
        """Of a motor that is told its lift, to first order."""
        return q.motor_lag

    @property
    def acting_at_first(self) -> np.ndarray:
        """Each rotor carries a quarter of the weight."""
        share = float(self.values["mass"]) * float(self.values["gravity"]) / len(ROTORS)  # type: ignore[arg-type]
        return np.full(len(ROTORS), min(share, MOST_LIFT_N))

    def inertia(self, q: Quantities) -> ca.SX:
        return rigid_inertia(q)

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        return weight_potential(g, q)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """Sum over the rotors of (r x lift + torque, lift)."""
        roll = sum((u[k] * q.arm * y for k, (_, _, y, _) in enumerate(ROTORS)), ca.SX(1, 1))
        pitch = sum((-u[k] * q.arm * x for k, (_, x, _, _) in enumerate(ROTORS)), ca.SX(1, 1))
        yaw = sum((u[k] * q.torque_per_lift * turn for k, (*_, turn) in enumerate(ROTORS)), ca.SX(1, 1))
        return ca.vertcat(roll, pitch, yaw, ca.SX(2, 1), ca.sum1(u))

    def dissipative_wrench(self, g: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        through_air = xi[3:] - rotation_of(g).T @ q.wind
        return ca.vertcat(ca.SX(3, 1), -q.rotor_drag * through_air[:2], ca.SX(1, 1))

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """Lift over weight, endless without weight."""
        lifts = node[self.node_layout.acting] if self.lags else u
        return (Observable("lift_over_weight", "1", ca.sum1(lifts) / (q.mass * q.gravity)),)
