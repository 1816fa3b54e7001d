"""The waves that a steady course leaves behind it over a level bed.

Of all waves only those stay with a hull of speed U whose crests go along with it: with the angle theta from the course
to where a wave runs, and t its tangent, U^2 k cos^2 theta = g tanh(k d). One that was made a while ago has come as far
as its energy has, so that y aside and x behind

    y / x = (1 + m) t / (1 - m + 2 t^2),    m = 2 k d / sinh(2 k d)

(T. H. Havelock, "The propagation of groups of waves in dispersive media, with application to waves on water produced by
a travelling disturbance", 1908; J. Lighthill, "Waves in Fluids", 3.10). In deep water m is zero, the largest y / x that
of Kelvin's wedge, 1 / sqrt(8), and two waves meet in each place within it: one that runs along the course, one aside.
The wedge opens as the Froude number of depth, F = U / sqrt(g d), nears 1; beyond it no wave runs along the course, and
the wedge is Mach's, of tangent 1 / sqrt(F^2 - 1).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sim.platform.values import dataclass
from sim.water.ocean.waves import DEEP_KD, GRAVITY_MPS2

SLOWEST, FASTEST, NEAREST = 0.4, 3.0, 0.02
"""Froude numbers of depth: below the first water is deep to 1e-5; a steady pattern has none nearer to 1 than that."""
STEEPEST = 6.0
"""Largest t that is told: waves that run more aside are short."""
ROWS, COLUMNS = 24, 65
_HALVINGS, _NEWTONS = 60, 14
_LEAST_KD = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ShipWaves:
    """By Froude number (rows: below 1, then above 1) and sqrt(1 - (y / x over that of the edge)^2) from 0 to 1."""

    froude: np.ndarray
    """(2 ROWS,) of the rows."""
    edge: np.ndarray
    """(2 ROWS,) largest y / x."""
    along: np.ndarray
    """(2 ROWS, COLUMNS) t of the wave that runs along; above 1 there is none: that of the edge."""
    aside: np.ndarray
    """(2 ROWS, COLUMNS) 1 / t of the other one."""
    tanh_along: np.ndarray
    """(2 ROWS, COLUMNS) tanh(k d) of the one, by which k = g (1 + t^2) tanh(k d) / U^2."""
    tanh_aside: np.ndarray
    """(2 ROWS, COLUMNS) of the other."""


def froude_number(speed_mps: ArrayLike, depth_m: ArrayLike) -> np.ndarray:
    """U / sqrt(g d), as far as patterns are told; where it is about 1, the nearest on its side for which one is."""
    F = np.asarray(speed_mps, float) / np.sqrt(GRAVITY_MPS2 * np.asarray(depth_m, float))
    F = np.clip(F, SLOWEST, FASTEST)
    return np.where(F < 1.0, np.minimum(F, 1.0 - NEAREST), np.maximum(F, 1.0 + NEAREST))


def course_number(froude: ArrayLike, speed_mps: ArrayLike) -> np.ndarray:
    """k [rad/m] of the waves on the course itself, where U^2 k = g tanh(k d); zero above F = 1."""
    F = np.asarray(froude, float)
    tanh = np.tanh(np.where(F < 1.0, _on_course(np.minimum(F, 1.0)), 0.0))
    return GRAVITY_MPS2 * tanh / np.asarray(speed_mps, float) ** 2


def edge_slope(froude: ArrayLike) -> np.ndarray:
    """Largest y / x of the pattern: the tangent of half its wedge."""
    F = np.asarray(froude, float)
    return np.where(F < 1.0, _slope(_edge(F), F), 1.0 / np.sqrt(np.maximum(F * F - 1.0, NEAREST)))


@lru_cache(maxsize=1)
def ship_waves() -> ShipWaves:
    """The table."""
    F = _row_froudes()[:, None]
    root = np.linspace(0.0, 1.0, COLUMNS)
    edge = edge_slope(F)
    wanted = edge * np.sqrt(1.0 - root**2)
    at_edge = np.where(F < 1.0, _edge(F), 0.0)
    first = np.where(F < 1.0, _on_course(np.minimum(F, 1.0)), 0.0)
    last = (1.0 + STEEPEST**2) / F**2
    along = _halved(at_edge + 0.0 * wanted, first + 0.0 * wanted, wanted, F)
    aside = _halved(at_edge + 0.0 * wanted, last + 0.0 * wanted, wanted, F)
    return ShipWaves(
        F[:, 0], edge[:, 0], _tangent(along, F), 1.0 / _tangent(aside, F), np.tanh(along), np.tanh(aside)
    )


def table_row(froude: ArrayLike) -> np.ndarray:
    """The row, with fractions, that the table has for a Froude number; rows are closest about 1."""
    F, ends = np.asarray(froude, float), _ends()
    below = np.sqrt(1.0 - np.minimum(F, 1.0))
    above = np.sqrt(1.0 - 1.0 / np.maximum(F, 1.0))
    under = (below - ends[0]) / (ends[1] - ends[0]) * (ROWS - 1)
    over = ROWS + (above - ends[2]) / (ends[3] - ends[2]) * (ROWS - 1)
    return np.where(F < 1.0, np.clip(under, 0.0, ROWS - 1.0), np.clip(over, ROWS, 2.0 * ROWS - 1.0))


def _ends() -> np.ndarray:
    return np.sqrt([NEAREST, 1.0 - SLOWEST, 1.0 - 1.0 / (1.0 + NEAREST), 1.0 - 1.0 / FASTEST])


def _row_froudes() -> np.ndarray:
    part, ends = np.linspace(0.0, 1.0, ROWS), _ends()
    below = 1.0 - (ends[0] + part * (ends[1] - ends[0])) ** 2
    return np.concatenate([below, 1.0 / (1.0 - (ends[2] + part * (ends[3] - ends[2])) ** 2)])


def _tangent(kd: np.ndarray, F: np.ndarray) -> np.ndarray:
    """t of the wave of that k d."""
    over_tanh = np.where(kd > _LEAST_KD, kd / np.tanh(np.maximum(kd, _LEAST_KD)), 1.0)
    return np.sqrt(np.maximum(over_tanh * F * F - 1.0, 0.0))


def _slope(kd: np.ndarray, F: np.ndarray) -> np.ndarray:
    """y / x of where the wave of that k d has come to."""
    t = _tangent(kd, F)
    twice = 2.0 * np.clip(kd, _LEAST_KD, DEEP_KD)
    m = twice / np.sinh(twice)
    return (1.0 + m) * t / (1.0 - m + 2.0 * t * t)


def _on_course(F: np.ndarray) -> np.ndarray:
    """k d where t = 0, by Newton's method from beyond it, where tanh q - F^2 q is concave and falls."""
    kd = 1.0 / (F * F)
    for _ in range(_NEWTONS):
        tanh = np.tanh(kd)
        kd = kd - (tanh - F * F * kd) / np.minimum(1.0 - tanh * tanh - F * F, -1e-12)
    return kd


def _edge(F: np.ndarray) -> np.ndarray:
    """k d of the largest y / x below F = 1, by halving the golden way."""
    within = np.minimum(F, 1.0 - NEAREST)
    low = _on_course(within)
    high = 3.0 / (within * within)  # t there is more than 1; at the edge it is sqrt(1/2) at most
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    for _ in range(_HALVINGS):
        one, other = high - golden * (high - low), low + golden * (high - low)
        up = _slope(one, within) < _slope(other, within)
        low, high = np.where(up, one, low), np.where(up, high, other)
    return 0.5 * (low + high)


def _halved(edge: np.ndarray, end: np.ndarray, wanted: np.ndarray, F: np.ndarray) -> np.ndarray:
    """k d between the edge and an end, towards which y / x falls, where it is what is wanted."""
    more, less = edge, end
    for _ in range(_HALVINGS):
        middle = 0.5 * (more + less)
        above = _slope(middle, F) > wanted
        more, less = np.where(above, middle, more), np.where(above, less, middle)
    return 0.5 * (more + less)
