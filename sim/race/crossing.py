"""When a motion passes a gate between two moments at which place and velocity are known.

Between them the place is the cubic that has both ends' places and velocities: exact for a fall, and to the fourth
order in the time between for any smooth motion.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sim.race.course import Gate


@dataclass(frozen=True, slots=True, eq=False)
class Instant:
    """Where something was and how it moved."""

    time_s: float
    x_w: np.ndarray
    """(3,) m."""
    v_w: np.ndarray
    """(3,) m/s."""


def crossing_s(gate: Gate, before: Instant, after: Instant, since_s: float = -math.inf) -> float | None:
    """When the gate is first passed, in its direction and within its opening; None where it is not.

    A passage at `before` itself belongs to the interval that ends there; passages up to `since_s` do not count.
    """
    span_s = after.time_s - before.time_s
    if span_s <= 0.0:
        return None
    powers = _cubic(before, after, span_s) @ gate.frame().T - np.outer(
        [1, 0, 0, 0], gate.frame() @ gate.centre_w
    )
    ahead = powers[::-1, 0]
    for begin, end in pairwise(_monotone(ahead)):
        if not np.polyval(ahead, begin) < 0.0 <= np.polyval(ahead, end):
            continue
        from scipy.optimize import brentq  # takes a while, and few flights race

        share = float(brentq(lambda at: float(np.polyval(ahead, at)), begin, end, xtol=1e-15, rtol=8.9e-16))
        left, up = (float(np.polyval(powers[::-1, k], share)) for k in (1, 2))
        time_s = before.time_s + share * span_s
        if abs(left) <= gate.half_width_m and abs(up) <= gate.half_height_m and time_s > since_s:
            return time_s
    return None


def _cubic(before: Instant, after: Instant, span_s: float) -> np.ndarray:
    """(4, 3) coefficients of the place by powers of the share of the interval."""
    x0, x1 = before.x_w, after.x_w
    d0, d1 = span_s * before.v_w, span_s * after.v_w
    return np.array([x0, d0, 3.0 * (x1 - x0) - 2.0 * d0 - d1, 2.0 * (x0 - x1) + d0 + d1])


def _monotone(polynomial: np.ndarray) -> list[float]:
    """0, where a polynomial (highest power first) turns between 0 and 1, and 1."""
    turns = np.roots(np.polyder(polynomial))
    inner = sorted(float(t.real) for t in turns if abs(t.imag) < 1e-12 and 0.0 < t.real < 1.0)
    return [0.0, *inner, 1.0]
