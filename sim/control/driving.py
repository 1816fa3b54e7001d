"""Driving a car: by throttle and wheel, or along a line by pure pursuit of a point ahead."""

import math

import numpy as np

from sim.control.airframe import scalar
from sim.control.pilot import Automatic, Errand, PilotInput, Sensed
from sim.control.route import Route, make_route
from sim.vehicle_config import config_of
from sim.vehicle_config.modes import Driving
from sim.vehicles import Vehicle

_SPEED_GAIN = 3.0
"""Acceleration per missing speed near a limit [1/s]."""
_STEER_GAIN = 9.0


class DrivePilot:
    """Serves vehicles with wheel torque and rate of sigma (tangent of the steering angle); remembers nothing.

    Stick forward or throttle up drives; back brakes, then reverses. Roll or yaw steers.
    """

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the rear wheels [N m], rate of sigma [1/s])."""
        limits = config_of(vehicle).modes.driving
        pedal = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
        wheel = -min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
        speed = float(sensed.v_b[0])
        acceleration = _wanted_acceleration(limits, pedal, speed, dt_s)
        return driven(vehicle, sensed, acceleration, reach(vehicle, speed) * wheel, dt_s)


def reach(vehicle: Vehicle, speed_mps: float) -> float:
    """Largest tangent of the steering angle at a speed: what the tyres hold sideways."""
    limits = config_of(vehicle).modes.driving
    wheelbase = scalar(vehicle.values["wheelbase"])
    return min(limits.steering_limit, limits.side_limit_mps2 * wheelbase / max(speed_mps * speed_mps, 1e-6))


def driven(
    vehicle: Vehicle, sensed: Sensed, acceleration_mps2: float, sigma_wanted: float, dt_s: float
) -> np.ndarray:
    """(torque, rate of sigma) that accelerate so and turn the wheels to that tangent, within the ranges."""
    sigma = float(sensed.node[vehicle.node_layout.shape][1])
    fastest = config_of(vehicle).modes.driving.steering_rate
    rate = min(max(min(_STEER_GAIN, 1.0 / dt_s) * (sigma_wanted - sigma), -fastest), fastest)
    low = [control.low for control in vehicle.controls]
    high = [control.high for control in vehicle.controls]
    return np.clip([_inertia(vehicle, sigma) * acceleration_mps2, rate], low, high)


def _wanted_acceleration(limits: Driving, pedal: float, speed: float, dt_s: float) -> float:
    """m/s^2 ahead."""
    gain = min(_SPEED_GAIN, 0.5 / dt_s)
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


LEAST_AHEAD_M, AHEAD_S = 3.5, 0.5
"""The point that is pursued is so far ahead, and so many seconds of driving if that is more."""
CRUISE, SIDEWAYS, BRAKING = 0.85, 0.6, 0.4
"""Shares of the config's limits of speed, sideways acceleration and brake."""
_SMOOTHING_M = 4.0
_TURNING_MPS = 3.5
"""While the line is not ahead."""
_GAIN = 2.0
"""Acceleration per missing speed [1/s]."""


class LineDrive(Automatic):
    """Round and round a closed line, to the end of another one; without a line the car is brought to rest."""

    def __init__(self, errand: Errand) -> None:
        line = errand.line_w
        self._line = np.column_stack([line, np.zeros(len(line))])
        self._closed = errand.closed
        self._lap_m = float(np.linalg.norm(np.diff(line[[*range(len(line)), 0]], axis=0), axis=1).sum())
        self._route: Route | None = None
        self._arc_m: float | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the rear wheels [N m], rate of sigma [1/s])."""
        limits = config_of(vehicle).modes.driving
        speed = float(sensed.v_b[0])
        if len(self._line) < 2:
            return driven(vehicle, sensed, _towards(0.0, speed, limits.brake_mps2, dt_s), 0.0, dt_s)
        if self._route is None:
            line = np.vstack([self._line] * 3 + [self._line[:1]]) if self._closed else self._line
            self._route = make_route(
                line,
                cruise_mps=CRUISE * limits.speed_limit_mps,
                sideways=SIDEWAYS * limits.side_limit_mps2,
                braking=BRAKING * limits.brake_mps2,
                smoothing_m=_SMOOTHING_M,
            )
        route, level_w = self._route, np.array([sensed.x_w[0], sensed.x_w[1], 0.0])
        arc = self._arc_m = self._round(route.nearest(level_w, self._arc_m))
        ahead_m = max(LEAST_AHEAD_M, AHEAD_S * abs(speed))
        ahead = route.at(arc + ahead_m)
        x, y = (sensed.R_wb.T @ (ahead.point_w - level_w))[:2]
        sigma = 2.0 * scalar(vehicle.values["wheelbase"]) * float(y) / max(float(x * x + y * y), 1.0)
        wanted = min(route.at(arc).speed_mps, ahead.speed_mps + 0.5 * limits.brake_mps2)
        most = reach(vehicle, speed)
        if x < abs(y):
            wanted, sigma = min(wanted, _TURNING_MPS), float(np.copysign(most, y))
        pull = min(_towards(wanted, speed, limits.brake_mps2, dt_s), limits.acceleration_mps2)
        return driven(vehicle, sensed, pull, min(max(sigma, -most), most), dt_s)

    def _round(self, arc_m: float) -> float:
        """Of a closed line, which is laid out three times over, the middle counts."""
        if not self._closed:
            return arc_m
        return 0.5 * self._lap_m + (arc_m - 0.5 * self._lap_m) % self._lap_m


def _towards(wanted_mps: float, speed_mps: float, brake_mps2: float, dt_s: float) -> float:
    """m/s^2 towards a speed, braking no harder than that."""
    return max(min(_GAIN, 0.5 / dt_s) * (wanted_mps - speed_mps), -brake_mps2)
