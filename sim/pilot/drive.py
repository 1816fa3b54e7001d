"""Driving: the throttle asks for a speed within a limit, the wheel steers and centres itself."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.outfit.modes import Driving
from sim.pilot.airframe import scalar
from sim.pilot.contract import Sensed
from sim.vehicles import Vehicle

_GAIN = 3.0
"""Acceleration per missing speed near a limit [1/s]."""
_STEER_GAIN = 9.0


class DrivePilot:
    """Serves vehicles with wheel torque and rate of sigma (tangent of the steering angle); remembers nothing.

    Stick forward or throttle up drives; back brakes, then reverses. Roll or yaw steers.
    """

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the rear wheels [N m], rate of sigma [1/s])."""
        limits = outfit_of(vehicle.name).modes.driving
        pedal = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
        wheel = -min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
        speed = float(sensed.v_b[0])
        acceleration = _wanted_acceleration(limits, pedal, speed, dt_s)
        return driven(vehicle, sensed, acceleration, reach(vehicle, speed) * wheel, dt_s)


def reach(vehicle: Vehicle, speed_mps: float) -> float:
    """Largest tangent of the steering angle at a speed: what the tyres hold sideways."""
    limits = outfit_of(vehicle.name).modes.driving
    wheelbase = scalar(vehicle.values["wheelbase"])
    return min(limits.steering_limit, limits.side_limit_mps2 * wheelbase / max(speed_mps * speed_mps, 1e-6))


def driven(
    vehicle: Vehicle, sensed: Sensed, acceleration_mps2: float, sigma_wanted: float, dt_s: float
) -> np.ndarray:
    """(torque, rate of sigma) that accelerate so and turn the wheels to that tangent, within the ranges."""
    sigma = float(sensed.node[vehicle.node_layout.shape][1])
    fastest = outfit_of(vehicle.name).modes.driving.steering_rate
    rate = min(max(min(_STEER_GAIN, 1.0 / dt_s) * (sigma_wanted - sigma), -fastest), fastest)
    low = [control.low for control in vehicle.controls]
    high = [control.high for control in vehicle.controls]
    return np.clip([_inertia(vehicle, sigma) * acceleration_mps2, rate], low, high)


def _wanted_acceleration(limits: Driving, pedal: float, speed: float, dt_s: float) -> float:
    """m/s^2 ahead."""
    gain = min(_GAIN, 0.5 / dt_s)
    if pedal * speed < 0.0 and abs(speed) > 0.4:
        return limits.brake_mps2 * pedal
    if abs(pedal) < 0.02:
        return -math.copysign(min(limits.coasting_mps2, gain * abs(speed)), speed)
    limit = limits.speed_limit_mps if pedal > 0.0 else limits.reverse_limit_mps
    room = gain * (limit - abs(speed))
    return math.copysign(min(limits.acceleration_mps2 * abs(pedal), room), pedal)


def _inertia(vehicle: Vehicle, sigma: float) -> float:
    """Torque [N m] per acceleration [m/s^2]: (I + rho^2 m + K rho^2 sigma^2 / l^2) / rho."""
    values = {name: scalar(value) for name, value in vehicle.values.items()}
    rho, turn = values["wheel_radius"], sigma / values["wheelbase"]
    moving = values["mass"] + values["yaw_inertia"] * turn * turn
    return (values["wheel_inertia"] + rho * rho * moving) / rho
