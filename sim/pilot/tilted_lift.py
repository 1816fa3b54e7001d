"""A rotorcraft whose lift tilts, as its controllers see it, and which controls make a wanted torque and lift.

Lie group integrators for animation and control of vehicles (Kobilarov, Crane, Desbrun), 4.3.1: the lift u_c
acts at the hub, d_t above the centre of mass, tilted by the cyclic (gamma_p, gamma_r); the tail force u_psi
acts d_r behind it. Cyclic and tail so make a torque, and with it a side force.
"""

import math
from dataclasses import dataclass

import numpy as np

from sim.groups.numeric import skew
from sim.pilot.airframe import LIFT_WEIGHTS, Airframe, scalar
from sim.pilot.swing import swing_radps
from sim.vehicles import Vehicle

TAIL_WEIGHTS = 0.12
CYCLIC_RAD = 0.3


@dataclass(frozen=True, slots=True)
class TiltedLift(Airframe):
    """Controls (u_c, u_psi, gamma_p, gamma_r)."""

    rotor_offset_m: float
    tail_offset_m: float
    rotor_momentum: float
    """Spin momentum of the rotor along body z [kg m^2/s]."""
    swing_radps: float = math.inf

    @classmethod
    def of(cls, vehicle: Vehicle) -> "TiltedLift":
        """Read off a vehicle's parameters and control ranges."""
        values = vehicle.values
        mass_kg, gravity = scalar(values["mass"]) + vehicle.hanging_kg, scalar(values["gravity"])
        size_N = mass_kg * max(gravity, 1.0)
        throws = np.array([LIFT_WEIGHTS * size_N, TAIL_WEIGHTS * size_N, CYCLIC_RAD, CYCLIC_RAD])
        return cls(
            mass_kg=mass_kg,
            inertia=np.asarray(values["inertia"], float),
            rotor_offset_m=max(scalar(values["rotor_offset"]), 1e-3),
            tail_offset_m=max(scalar(values["tail_offset"]), 1e-3),
            rotor_momentum=scalar(values.get("rotor_momentum", 0.0)),
            drag=scalar(values.get("drag", 0.0)),
            gravity=gravity,
            swing_radps=swing_radps(vehicle),
            low=np.maximum([control.low for control in vehicle.controls], -throws),
            high=np.minimum([control.high for control in vehicle.controls], throws),
        )

    @property
    def reversal(self) -> float:
        """Tilting the rotor to turn the body first pushes it the wrong way: sqrt(m g d_t / J), that response's zero."""
        lever = self.weight_N * self.rotor_offset_m
        return math.sqrt(max(lever, 1e-9) / max(float(self.inertia[0]), float(self.inertia[1])))

    def angular_authority(self) -> np.ndarray:
        """(3,) angular acceleration [rad/s^2] that half the control throws can make in a hover."""
        lever = self.rotor_offset_m * float(self.high[0]) / LIFT_WEIGHTS
        roll = lever * math.sin(0.5 * float(self.high[3]))
        pitch = lever * math.sin(0.5 * float(self.high[2]))
        yaw = self.tail_offset_m * 0.5 * float(self.high[1])
        return np.array([roll, pitch, yaw]) / self.inertia

    def gyroscopic_torque(self, omega_b: np.ndarray) -> np.ndarray:
        """(3,) torque [N m] that keeps the body rate constant: omega x (J omega + spin)."""
        momentum = self.inertia * omega_b
        momentum[2] += self.rotor_momentum
        torque: np.ndarray = skew(omega_b) @ momentum
        return torque

    def allocate(self, torque_b: np.ndarray, lift_N: float) -> np.ndarray:
        """Controls (4,) with this torque [N m] and this force along body z [N], within the ranges.

        Where the range of the cyclic ends, lift is kept and torque is given up.
        """
        along_x = float(torque_b[1]) / self.rotor_offset_m
        along_y = -float(torque_b[0]) / self.rotor_offset_m
        # Below a quarter of the weight the disc would have to tilt without bound.
        along_z = max(lift_N, 0.25 * self.weight_N, 1e-9)
        controls = np.empty(4)
        pitch = math.atan2(along_x, along_z)
        roll = -math.atan2(along_y, math.hypot(along_x, along_z))
        controls[2] = min(max(pitch, float(self.low[2])), float(self.high[2]))
        controls[3] = min(max(roll, float(self.low[3])), float(self.high[3]))
        controls[0] = lift_N / (math.cos(controls[2]) * math.cos(controls[3]))
        controls[1] = float(torque_b[2]) / self.tail_offset_m
        return np.clip(controls, self.low, self.high)
