"""Headings and attitudes as the flight modes need them: numbers in, numbers out, no Euler angles."""

import math

import numpy as np

from sim.control.pilot import Sensed


def level_axes(R_wb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Horizontal unit vectors (3,) ahead of and to the left of the body, in the world frame.

    They are where nose and left side come to when the roof is turned upright the shortest way, so they exist
    with the nose straight up or down too; upside down the nose alone counts.
    """
    nose, roof = R_wb[:, 0], R_wb[:, 2]
    upright = 1.0 + float(roof[2])
    share = float(nose[2]) / upright if upright > 1e-9 else 0.0
    x, y = float(nose[0] - share * roof[0]), float(nose[1] - share * roof[1])
    length = math.hypot(x, y)
    if length < 1e-6:
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    x, y = x / length, y / length
    return np.array([x, y, 0.0]), np.array([-y, x, 0.0])


def heading_of(R_wb: np.ndarray) -> float:
    """Direction of `level_axes(R_wb)[0]` [rad], counter-clockwise from world x."""
    ahead, _ = level_axes(R_wb)
    return math.atan2(float(ahead[1]), float(ahead[0]))


def turn_between(from_rad: float, to_rad: float) -> float:
    """The shorter way from one heading to another, in [-pi, pi)."""
    return (to_rad - from_rad + math.pi) % (2.0 * math.pi) - math.pi


def attitude_of(up_w: np.ndarray, heading_rad: float) -> np.ndarray:
    """R_wb (3, 3) whose roof points along the unit vector `up_w`, not straight down.

    It comes from the level attitude of that heading by the shortest turn, so `heading_of` gives the heading back.
    """
    a, b, c = (float(component) for component in up_w)
    tilt = np.array(
        [
            [1.0 - a * a / (1.0 + c), -a * b / (1.0 + c), a],
            [-a * b / (1.0 + c), 1.0 - b * b / (1.0 + c), b],
            [-a, -b, c],
        ]
    )
    cosine, sine = math.cos(heading_rad), math.sin(heading_rad)
    return tilt @ np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


LEAD_RAD = 0.35


def turned(held_rad: float | None, yaw_rate: float, sensed: Sensed, dt_s: float) -> float:
    """The heading to hold after `dt_s` at `yaw_rate` [rad/s]; never far ahead of the body's own."""
    actual = heading_of(sensed.R_wb)
    if held_rad is None:
        return actual
    lead = turn_between(actual, held_rad + yaw_rate * dt_s)
    return actual + min(max(lead, -LEAD_RAD), LEAD_RAD)
