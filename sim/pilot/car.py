"""Driving: the throttle asks for a speed within a limit, the wheel steers and centres itself."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.airframe import scalar
from sim.pilot.contract import Sensed
from sim.vehicles import Vehicle

SPEED_LIMIT_MPS = 16.0
REVERSE_LIMIT_MPS = 5.0
ACCELERATION = 4.0
"""At full throttle, below the limit [m/s^2]."""
BRAKE = 7.0
COASTING = 0.7
"""Deceleration with the pedals free [m/s^2]."""
_GAIN = 3.0
"""Acceleration per missing speed near a limit [1/s]."""
SIGMA_LIMIT = 0.62
"""Largest tangent of the steering angle, about 32 degrees."""
SIDE_LIMIT = 7.0
"""Sideways acceleration that the wheel's travel is cut back to at speed [m/s^2]."""
STEER_RATE = 1.9
"""Most change of sigma a second."""
_STEER_GAIN = 9.0


class CarPilot:
    """Serves vehicles with the car's controls (wheel torque, rate of sigma); remembers nothing.

    Stick forward or throttle up drives; back brakes, then reverses. Roll or yaw steers.
    """

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the rear wheels [N m], rate of sigma [1/s])."""
        pedal = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
        wheel = -min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
        speed = float(sensed.v_b[0])
        sigma = float(sensed.node[vehicle.node_layout.shape][1])
        torque = _inertia(vehicle, sigma) * _wanted_acceleration(pedal, speed, dt_s)
        wheelbase = scalar(vehicle.values["wheelbase"])
        reach = min(SIGMA_LIMIT, SIDE_LIMIT * wheelbase / max(speed * speed, 1e-6))
        error = reach * wheel - sigma
        rate = min(max(min(_STEER_GAIN, 1.0 / dt_s) * error, -STEER_RATE), STEER_RATE)
        low = [control.low for control in vehicle.controls]
        high = [control.high for control in vehicle.controls]
        return np.clip([torque, rate], low, high)


def _wanted_acceleration(pedal: float, speed: float, dt_s: float) -> float:
    """m/s^2 along the car."""
    gain = min(_GAIN, 0.5 / dt_s)
    if pedal * speed < 0.0 and abs(speed) > 0.4:
        return BRAKE * pedal
    if abs(pedal) < 0.02:
        return -math.copysign(min(COASTING, gain * abs(speed)), speed)
    limit = SPEED_LIMIT_MPS if pedal > 0.0 else REVERSE_LIMIT_MPS
    room = gain * (limit - abs(speed))
    return math.copysign(min(ACCELERATION * abs(pedal), room), pedal)


def _inertia(vehicle: Vehicle, sigma: float) -> float:
    """Torque [N m] per acceleration [m/s^2]: (I + rho^2 m + K rho^2 sigma^2 / l^2) / rho."""
    values = {name: scalar(value) for name, value in vehicle.values.items()}
    rho, turn = values["wheel_radius"], sigma / values["wheelbase"]
    moving = values["mass"] + values["yaw_inertia"] * turn * turn
    return (values["wheel_inertia"] + rho * rho * moving) / rho
