"""PID: a cascade for what lifts along its body z. Place to velocity to tilt to torque, an integral for what stays.

The sticks move the place that is held: forward, aside, up, and the heading.
"""

from dataclasses import field

import numpy as np

from sim.control.airframe import airframe_of
from sim.controllers import Controller, Gain, PilotInput
from sim.groups.numeric import attitude_of, heading_of, rotation_log
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle

MOST_TILT, MOST_LIFT = 0.5, 1.8
"""Of the acceleration aside over gravity, and of the lift over weight."""
STICK_MPS, STICK_RADPS = 3.0, 1.0
"""By which the held place and heading move at full stick."""


@dataclass(slots=True)
class Held:
    """What a flying controller holds."""

    vehicle: Vehicle
    x_w: np.ndarray
    heading_rad: float
    time_s: float = 0.0
    sum_w: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Integral of the error of place [m s]."""

    @classmethod
    def at(cls, vehicle: Vehicle, state: State) -> "Held":
        """The present place and heading. Raises InputError, by `airframe_of`, where the vehicle does not fly so."""
        airframe_of(vehicle)
        return cls(vehicle, state.x.copy(), heading_of(state.R))

    def move(self, t: float, sticks: PilotInput) -> tuple[np.ndarray, float]:
        """(3,) velocity [m/s] at which the held place moves by the sticks, and the time since the last call [s]."""
        dt_s, self.time_s = max(t - self.time_s, 0.0), t
        self.heading_rad -= STICK_RADPS * sticks.yaw * dt_s
        ahead = np.array([np.cos(self.heading_rad), np.sin(self.heading_rad), 0.0])
        right = np.array([ahead[1], -ahead[0], 0.0])
        v_w = STICK_MPS * (
            sticks.pitch * ahead + sticks.roll * right + sticks.throttle * np.array([0.0, 0.0, 1.0])
        )
        self.x_w = self.x_w + dt_s * v_w
        return v_w, dt_s


class Pid(Controller):
    """Holds a place by proportional, integral and derivative feedback, and attitude by another such loop."""

    place = Gain(1.5, 0.1, 10.0, "1/s^2", "Acceleration by the error of place.")
    velocity = Gain(2.2, 0.1, 10.0, "1/s", "Acceleration by the error of velocity.")
    integral = Gain(0.3, 0.0, 5.0, "1/s^3", "Acceleration by the integral of the error of place.")
    attitude = Gain(40.0, 1.0, 200.0, "1/s^2", "Angular acceleration by the error of attitude.")
    rate = Gain(10.0, 0.5, 60.0, "1/s", "Angular acceleration by the error of the body rate.")

    def start(self, vehicle: Vehicle, state: State) -> Held:
        """Where it is, is held."""
        return Held.at(vehicle, state)

    def control(self, t: float, state: State, sticks: PilotInput, memory: Held) -> np.ndarray:
        """(n_controls,)"""
        frame = airframe_of(memory.vehicle)
        wanted_v, dt_s = memory.move(t, sticks)
        error, error_v = memory.x_w - state.x, wanted_v - state.R @ state.v
        memory.sum_w = np.clip(memory.sum_w + dt_s * error, -3.0, 3.0)  # does not wind up
        a_w = self.place * error + self.velocity * error_v + self.integral * memory.sum_w
        level = frame.gravity * MOST_TILT
        a_w[:2] *= min(1.0, level / max(float(np.linalg.norm(a_w[:2])), 1e-9))
        force_w = frame.mass_kg * (a_w + np.array([0.0, 0.0, frame.gravity]))
        force_w[2] = max(force_w[2], 0.2 * frame.weight_N)
        R_wanted = attitude_of(force_w / np.linalg.norm(force_w), memory.heading_rad)
        turn_b = rotation_log(state.R.T @ R_wanted)
        torque_b = frame.inertia * (self.attitude * turn_b - self.rate * state.omega)
        lift_N = min(float(force_w @ state.R[:, 2]), MOST_LIFT * frame.weight_N)
        self.plot("place_error", float(np.linalg.norm(error)), "m")
        return frame.allocate(torque_b + frame.gyroscopic_torque(state.omega), lift_N)
