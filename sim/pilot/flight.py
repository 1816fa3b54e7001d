"""From a wanted acceleration and heading to the controls of a rotorcraft: the loops all flight modes share.

The body's roof is turned along the wanted specific force (attitude loop on SO(3), then the rate loop), and
the lift carries the vertical part of it at whatever attitude the body has by now.
"""

import math
from dataclasses import dataclass

import numpy as np

from sim.groups.numeric import rotation_log
from sim.pilot.airframe import Airframe
from sim.pilot.contract import Sensed
from sim.pilot.gains import Gains
from sim.pilot.rotation import attitude_of

MAX_TILT_RAD = math.radians(32.0)
MAX_RATE = np.array([1.6, 1.3, 1.4])
"""Body rates the attitude loop asks for [rad/s]."""

LEAST_LIFT = 0.5
"""In flight, in weights."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a flight mode asks of the loops below it."""

    acceleration_w: np.ndarray
    """(3,) wanted acceleration [m/s^2], without gravity."""
    heading_rad: float
    yaw_rate: float = 0.0
    """Rate at which the wanted heading turns [rad/s]."""
    spool: float = 1.0
    """Share of the lift that the rotor gives: 0 stopped on the ground, 1 in flight."""


def fly(airframe: Airframe, sensed: Sensed, demand: Demand, gains: Gains) -> np.ndarray:
    """Controls (4,) that follow the demand."""
    target = attitude_of(_roof(demand.acceleration_w, airframe.gravity), demand.heading_rad)
    yaw_b = sensed.R_wb[2, :] * demand.yaw_rate
    torque = attitude_torque(airframe, sensed, target, yaw_b, gains)
    upright = float(sensed.R_wb[2, 2])
    vertical = airframe.mass_kg * max(airframe.gravity + float(demand.acceleration_w[2]), 0.0)
    lift = vertical / max(upright, 0.5) if upright > 0.0 else 0.0
    # Cyclic needs lift to turn the body with, upside down too.
    lift = max(lift, LEAST_LIFT * airframe.weight_N)
    return airframe.allocate(torque * demand.spool, lift * demand.spool)


def attitude_torque(
    airframe: Airframe, sensed: Sensed, target_R_wb: np.ndarray, feed_omega_b: np.ndarray, gains: Gains
) -> np.ndarray:
    """Torque (3,) [N m] that turns the body to `target_R_wb`, itself turning at `feed_omega_b`."""
    error = rotation_log(sensed.R_wb.T @ target_R_wb)
    return rate_torque(airframe, sensed, feed_omega_b + _approach_rate(airframe, error, gains), gains)


def rate_torque(airframe: Airframe, sensed: Sensed, omega_b: np.ndarray, gains: Gains) -> np.ndarray:
    """Torque (3,) [N m] that brings the body rates to `omega_b`."""
    authority = airframe.angular_authority()
    acceleration = np.clip(gains.rate * (omega_b - sensed.omega_b), -2.0 * authority, 2.0 * authority)
    return airframe.inertia * acceleration + airframe.gyroscopic_torque(sensed.omega_b)


def _approach_rate(airframe: Airframe, error: np.ndarray, gains: Gains) -> np.ndarray:
    """Rates that close an attitude error: proportional, but never faster than can be stopped in time."""
    stoppable = np.sqrt(1.2 * airframe.angular_authority() * np.abs(error))
    limit = np.minimum(stoppable, MAX_RATE)
    return np.clip(gains.attitude * error, -limit, limit)


def _roof(acceleration_w: np.ndarray, gravity: float) -> np.ndarray:
    """Unit vector along the wanted specific force, tilted by no more than the limit."""
    upward = max(gravity + float(acceleration_w[2]), 0.5 * gravity, 1e-6)
    roof = np.array([float(acceleration_w[0]), float(acceleration_w[1]), upward])
    level = math.hypot(roof[0], roof[1])
    limit = upward * math.tan(MAX_TILT_RAD)
    if level > limit:
        roof[:2] *= limit / level
    return roof / math.sqrt(float(roof @ roof))
