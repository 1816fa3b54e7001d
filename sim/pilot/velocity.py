"""The velocity loop: the horizontal acceleration that leads to a wanted velocity, steady wind or not."""

import math
from dataclasses import dataclass

import numpy as np

from sim.pilot.gains import Gains

INTEGRAL_LIMIT = 3.0
"""Most that is learnt about steady wind and drag [m/s^2]."""
ACCELERATION_LIMIT = 4.5
JERK = 14.0
"""How fast the wanted acceleration may change [m/s^3]: keys are pressed all at once."""


@dataclass(frozen=True, slots=True)
class VelocityState:
    """What the loop remembers: both horizontal, in the world frame [m/s^2]."""

    learnt_w: tuple[float, float] = (0.0, 0.0)
    """Acceleration that cancels steady disturbances."""
    wanted_w: tuple[float, float] = (0.0, 0.0)
    """Last output, after the jerk limit."""


CALM = VelocityState()


def towards(
    state: VelocityState,
    error_w: np.ndarray,
    feed_w: np.ndarray,
    gains: Gains,
    dt_s: float,
    *,
    authority: float = 1.0,
) -> tuple[VelocityState, np.ndarray]:
    """One control period.

    error_w: (2,) wanted minus actual horizontal velocity [m/s]; feed_w: (2,) acceleration known to be
    needed [m/s^2]; authority: 0 on the ground to 1 in flight. Returns the new state and the
    acceleration (2,) to fly.
    """
    learnt = np.array(state.learnt_w)
    if authority < 1.0:
        learnt = np.zeros(2)
    elif float(error_w @ error_w) < 9.0:
        learnt = within(learnt + 0.2 * gains.velocity**2 * dt_s * error_w, INTEGRAL_LIMIT)
    pull = within(gains.velocity * error_w + feed_w, ACCELERATION_LIMIT)
    wanted = limited(state.wanted_w, authority * (pull + learnt), JERK * dt_s)
    return VelocityState(_pair(learnt), _pair(wanted)), wanted


def within(vector: np.ndarray, most: float) -> np.ndarray:
    """`vector` (2,), shortened to the length `most` where it is longer."""
    size = math.hypot(float(vector[0]), float(vector[1]))
    return vector if size <= most else vector * (most / size)


def limited(before: tuple[float, float], wanted: np.ndarray, most: float) -> np.ndarray:
    """`wanted` (2,), but no further from `before` than `most`."""
    return np.array(before) + within(wanted - np.array(before), most)


def _pair(vector: np.ndarray) -> tuple[float, float]:
    return float(vector[0]), float(vector[1])
