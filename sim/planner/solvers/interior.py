"""Bounds in an interior-point method: slacks, their multipliers, and what these add to Newton's equations.

Every quantity c between bounds low < high has a slack s strictly inside them that Newton's method makes equal to c, and
a multiplier for each finite bound whose product with the distance to it is to be mu. Quantities with low = high are
equations and left alone.
"""

import numpy as np

from sim.compiled import compiled

_BOUNDARY = 0.995
"""Share of the way to a bound that a step may go."""


@compiled(error_model="numpy")
def started(
    c: np.ndarray,
    lam: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    mu: float,
    s: np.ndarray,
    below: np.ndarray,
    above: np.ndarray,
) -> None:
    """Slacks and the multipliers of lower and upper bounds, from values and multipliers (above - below) that were."""
    far = np.sqrt(mu)
    for i in range(c.size):
        s[i], below[i], above[i] = c[i], 0.0, 0.0
        if low[i] == high[i]:
            continue
        span = 0.25 * (high[i] - low[i])
        if np.isfinite(low[i]):
            s[i] = max(s[i], low[i] + min(mu / max(-lam[i], far), span))
        if np.isfinite(high[i]):
            s[i] = min(s[i], high[i] - min(mu / max(lam[i], far), span))
        if np.isfinite(low[i]):
            below[i] = max(-lam[i], mu / (s[i] - low[i]))
        if np.isfinite(high[i]):
            above[i] = max(lam[i], mu / (high[i] - s[i]))


@compiled(error_model="numpy")
def barrier(
    c: np.ndarray,
    s: np.ndarray,
    below: np.ndarray,
    above: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    mu: float,
    curvature: np.ndarray,
    slope: np.ndarray,
) -> tuple[float, float]:
    """Second and first derivatives of the barriers by c; largest differences of s from c and of products from mu.

    Slopes are less the multipliers: what Newton's step adds to the Lagrangian's gradient.
    """
    gap = apart = 0.0
    for i in range(c.size):
        curvature[i] = slope[i] = 0.0
        if low[i] == high[i]:
            continue
        bounded = False
        if np.isfinite(low[i]):
            d = s[i] - low[i]
            curvature[i] += below[i] / d
            slope[i] -= mu / d - below[i]
            apart, bounded = max(apart, abs(below[i] * d - mu)), True
        if np.isfinite(high[i]):
            d = high[i] - s[i]
            curvature[i] += above[i] / d
            slope[i] += mu / d - above[i]
            apart, bounded = max(apart, abs(above[i] * d - mu)), True
        if bounded:
            slope[i] += curvature[i] * _missing(c[i], s[i])
            gap = max(gap, abs(c[i] - s[i]))
    return gap, apart


@compiled(error_model="numpy")
def _missing(c: float, s: float) -> float:
    """c - s, without the rounding of its last digits, which a bound close by would make much of."""
    miss = c - s
    return 0.0 if abs(miss) < 1e-15 * max(1.0, abs(c)) else miss


@compiled(error_model="numpy")
def moved(
    c: np.ndarray,
    dc: np.ndarray,
    s: np.ndarray,
    below: np.ndarray,
    above: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    mu: float,
) -> float:
    """Move slacks and multipliers along a step dc of c, as far as bounds allow; the share of it that slacks took."""
    primal = dual = 1.0
    for i in range(c.size):
        if low[i] == high[i]:
            continue
        ds = dc[i] + _missing(c[i], s[i])
        if np.isfinite(low[i]):
            d = s[i] - low[i]
            if ds < 0.0:
                primal = min(primal, -_BOUNDARY * d / ds)
            dz = (mu - below[i] * ds) / d - below[i]
            if dz < 0.0:
                dual = min(dual, -_BOUNDARY * below[i] / dz)
        if np.isfinite(high[i]):
            d = high[i] - s[i]
            if ds > 0.0:
                primal = min(primal, _BOUNDARY * d / ds)
            dz = (mu + above[i] * ds) / d - above[i]
            if dz < 0.0:
                dual = min(dual, -_BOUNDARY * above[i] / dz)
    for i in range(c.size):
        if low[i] == high[i]:
            continue
        ds = dc[i] + _missing(c[i], s[i])
        if np.isfinite(low[i]):
            below[i] += dual * ((mu - below[i] * ds) / (s[i] - low[i]) - below[i])
        if np.isfinite(high[i]):
            above[i] += dual * ((mu + above[i] * ds) / (high[i] - s[i]) - above[i])
        s[i] += primal * ds
    return primal
