"""The sea at any place and time, for whoever asks: the arrays that compiled steps read, and questions in Python."""

import numpy as np
from numpy.typing import ArrayLike

from sim.platform.errors import InputError
from sim.water.ocean.sampling import heights_at, velocities_at
from sim.water.ocean.sea import Sea
from sim.water.ocean.synthesis import FIELDS, synthesise
from sim.water.ocean.transform import twiddles
from sim.water.ocean.waves import (
    LEAST_POINTS,
    MOST_POINTS,
    TILES_M,
    Waves,
    mean_wave_numbers,
    raise_waves,
)

POINTS = 128
"""Along the edge of a tile, wherever nobody asks for another number: simulation and pictures have the same sea."""
_STEP_M = 0.05


class Ocean:
    """A sea that goes on for ever. The same description and number of points give the same water everywhere.

    Answers are those of the grids, read between their points in proportion.
    """

    def __init__(self, sea: Sea, *, points: int = POINTS) -> None:
        """points: along the edge of a tile. Raises InputError where that is no power of two, or out of range."""
        if not LEAST_POINTS <= points <= MOST_POINTS or points & (points - 1):
            raise InputError(
                f"ocean: points = {points!r} is refused; allowed: powers of two, {LEAST_POINTS} to {MOST_POINTS}"
            )
        self.sea, self.points = sea, points
        self.edges = np.array(TILES_M)
        self.waves = Waves.of(sea.seed, points)
        self.heights = np.empty(self.waves.drawn.shape, np.complex64)
        """(n, 2) of the waves and their opposites [m]."""
        self.decay = np.empty(len(TILES_M))
        """(tiles,) by which each tile's motion fades with the depth [rad/m]."""
        self.twiddles = twiddles(points)
        self._work = np.empty((FIELDS // 2 + 1, 2, points, points), np.float32)
        self._grids = np.empty((len(TILES_M), points, points, FIELDS), np.float32)
        self._at_s = np.nan
        raise_waves(self.waves.number, self.waves.drawn, sea.numbers, self.heights)
        mean_wave_numbers(self.waves.start, self.waves.number, self.heights, self.decay)

    def grids(self, time_s: float) -> np.ndarray:
        """(tiles, points, points, FIELDS) float32 of a time, see `synthesis`; the next call may write to it."""
        if time_s != self._at_s:
            synthesise(
                self.waves.start,
                self.waves.place,
                self.waves.number,
                self.heights,
                self.sea.choppiness,
                time_s,
                self.twiddles,
                self._work,
                self._grids,
            )
            self._at_s = time_s
        return self._grids

    def height(self, x: ArrayLike, y: ArrayLike, time_s: float) -> np.ndarray:
        """Height of the surface [m] over world x, y of any one shape."""
        at_x, at_y = (np.array(a, float) for a in np.broadcast_arrays(x, y))
        out = np.empty(at_x.size)
        heights_at(self.grids(time_s), self.edges, at_x.ravel(), at_y.ravel(), out)
        return out.reshape(at_x.shape)

    def normal(self, x: ArrayLike, y: ArrayLike, time_s: float) -> np.ndarray:
        """(..., 3) upward unit normal of the surface over world x, y."""
        at_x, at_y = (np.array(a, float) for a in np.broadcast_arrays(x, y))
        slope_x, slope_y = (
            (self.height(at_x + dx, at_y + dy, time_s) - self.height(at_x - dx, at_y - dy, time_s))
            / (2 * _STEP_M)
            for dx, dy in ((_STEP_M, 0.0), (0.0, _STEP_M))
        )
        normal = np.stack([-slope_x, -slope_y, np.ones_like(slope_x)], axis=-1)
        return normal / np.linalg.norm(normal, axis=-1, keepdims=True)

    def velocity(self, place_w: ArrayLike, time_s: float) -> np.ndarray:
        """(..., 3) velocity of the water [m/s] at world places (..., 3); above the surface that of the surface."""
        places = np.array(place_w, float)
        out = np.empty((places.size // 3, 3))
        velocities_at(self.grids(time_s), self.edges, self.decay, places.reshape(-1, 3), out)
        return out.reshape(places.shape)
