"""Foam of breaking waves: where the surface folds most, and what is left of it a while later.

Monahan and O'Muircheartaigh 1980: whitecaps cover 3.84e-6 U^3.41 of a sea under a wind of U m/s, ten metres up. That
share of the surface, where it is drawn together most, breaks. Foam stays with the water that it lies on, so the map
is one of places at rest; it repeats, and only its part about the eye is current.
"""

import math

import numpy as np

from render.water.sea_fields import STRETCH, SeaFields, stretch_deviation
from sim.native.function import unordered
from sim.water.ocean import SeaState

SPAN_M = 144.0
POINTS = 192
_EVERY_S = 1.0 / 20.0
_LIFE_S = 3.2
_BREAKING = 0.35
"""Share of the foam that is of waves that break now."""
_JUMP_S = 1.5
_BEFORE_S = 6.0
_BEFORE_STEPS = 12
_FINEST_M = 0.4
"""The fields are read at the level whose texels are at least so wide."""


def coverage(wind_mps: float) -> float:
    """Share of the sea under foam."""
    return min(3.84e-6 * wind_mps**3.41, 0.3)


def breaking_share(wind_mps: float) -> float:
    """Share of the sea that breaks now."""
    return _BREAKING * coverage(wind_mps)


def folds(share: float, deviation: float) -> tuple[float, float]:
    """Stretch below which that share of a surface lies whose stretch deviates so much, and how far below it breaks."""
    from scipy.special import ndtri  # takes a while, and few scenes have a sea

    return float(ndtri(share)) * deviation, 0.3 * deviation


@unordered
def _break(
    foam: np.ndarray,
    span_m: float,
    foot_x: float,
    foot_y: float,
    first: np.ndarray,
    second: np.ndarray,
    third: np.ndarray,
    edges: np.ndarray,
    folded: float,
    width: float,
    left: float,
) -> None:
    """Let foam (n, n) age to that part of it, and add what breaks: where the stretch is below `folded`."""
    n = foam.shape[0]
    texel = span_m / n
    low_x, low_y = math.floor((foot_x - 0.5 * span_m) / texel), math.floor((foot_y - 0.5 * span_m) / texel)
    for b in range(n):
        for a in range(n):
            x, y = (low_x + a) * texel, (low_y + b) * texel
            stretch = (
                _read(first, edges[0], x, y) + _read(second, edges[1], x, y) + _read(third, edges[2], x, y)
            )
            row, column = (low_y + b) % n, (low_x + a) % n
            fresh = min(max((folded - stretch) / width, 0.0), 1.0)
            foam[row, column] = max(left * foam[row, column], fresh)


@unordered
def _read(slopes: np.ndarray, edge: float, x: float, y: float) -> float:
    """The stretch of a tile (n, n, 4), its texels' middles half a finest texel off at most, read in proportion."""
    n = slopes.shape[0]
    u, v = x / edge * n, y / edge * n
    floor_u, floor_v = math.floor(u), math.floor(v)
    u -= floor_u
    v -= floor_v
    i, j = int(floor_u) % n, int(floor_v) % n
    i1, j1 = (i + 1) % n, (j + 1) % n
    low = (1.0 - u) * slopes[j, i, STRETCH] + u * slopes[j, i1, STRETCH]
    high = (1.0 - u) * slopes[j1, i, STRETCH] + u * slopes[j1, i1, STRETCH]
    return (1.0 - v) * low + v * high


class Whitecaps:
    """The foam about the eye, one moment after the other."""

    def __init__(self) -> None:
        self.foam = np.zeros((POINTS, POINTS), np.float32)
        """0..1: fresh where 1; texel [j, i] is at rest at (i, j) SPAN_M / POINTS, and repeats."""
        self._at_s = math.nan
        self._fields: SeaFields | None = None

    def follow(self, fields: SeaFields, state: SeaState, time_s: float, foot_w: np.ndarray) -> None:
        """The foam of a time, with the fields of that time, about a place (2,) m.

        What lies before a jump in time is worked out anew from the sea itself.
        """
        if not 0.0 <= time_s - self._at_s < _JUMP_S:
            self.foam[:] = 0.0
            if self._fields is None or not self._fields.fits(state):
                self._fields = SeaFields(state)
            for k in range(_BEFORE_STEPS, 0, -1):
                at_s = time_s - k * _BEFORE_S / _BEFORE_STEPS
                self._fields.work_out(state, at_s)
                self._step(self._fields, state, at_s, _BEFORE_S / _BEFORE_STEPS, foot_w)
            self._at_s = time_s - _BEFORE_S / _BEFORE_STEPS
        if time_s - self._at_s > _EVERY_S:
            self._step(fields, state, time_s, time_s - self._at_s, foot_w)
            self._at_s = time_s

    def _step(
        self, fields: SeaFields, state: SeaState, time_s: float, passed_s: float, foot_w: np.ndarray
    ) -> None:
        left = math.exp(-passed_s / _LIFE_S)
        share = breaking_share(state.numbers(time_s)[0])
        read = fields.slopes_over(_FINEST_M)
        deviation = stretch_deviation(read)
        if share < 1e-6 or deviation < 1e-9:
            self.foam *= np.float32(left)
            return
        folded, width = folds(share, deviation)
        _break(self.foam, SPAN_M, foot_w[0], foot_w[1], *read, fields.edges_m, folded, width, left)
