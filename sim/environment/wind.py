"""Gusts: the wind's strength and direction about its mean, as a fixed sum of slow waves in time."""

import math

import numpy as np

from sim.compiled import compiled

PERIODS_S = np.array([3.1, 4.7, 7.3, 11.9, 19.1, 31.7])
"""No two in a simple ratio, so that gusts do not come at regular times."""
_PHASES = np.array([0.3, 2.1, 4.4, 1.2, 5.7, 3.6])


@compiled
def gusty(wind_x: float, wind_y: float, gusts: float, time_s: float) -> tuple[float, float]:
    """World wind [m/s] at a time: `gusts` is the standard deviation of its strength over the mean.

    Across the mean direction it varies half as much.
    """
    along = across = 0.0
    for k in range(len(PERIODS_S)):
        turn = 2.0 * math.pi * time_s / PERIODS_S[k]
        along += math.sin(turn + _PHASES[k])
        across += math.sin(1.31 * turn + 2.0 * _PHASES[k] + 1.0)
    share = gusts * math.sqrt(2.0 / len(PERIODS_S))
    along, across = 1.0 + share * along, 0.5 * share * across
    return along * wind_x - across * wind_y, along * wind_y + across * wind_x
