"""The way of the body angular velocity since a lane set out: what its polhode is drawn from."""

import math

import numpy as np

MOST_ROWS = 2048
SPACING = 0.02
"""Least distance of two rows, as a share of the angular velocity: a round of a polhode has some hundreds."""
_SLOWEST_RADPS = 1e-3


class SpinPath:
    """Rows (time [s], omega_b [rad/s]) at moments where steps end, spaced by arc length; the oldest give way."""

    def __init__(self, time_s: float, omega_b: np.ndarray) -> None:
        self._rows = np.empty((2 * MOST_ROWS, 4))
        self._rows[:2] = time_s, *omega_b
        self._begin, self._end = 1, 2
        self._last = self._rows[0].tolist()

    def note(self, time_s: float, omega_b: np.ndarray) -> None:
        """A later moment; one that is too near to the last row changes nothing."""
        _, x0, y0, z0 = self._last
        x, y, z = omega_b.tolist()
        if math.dist((x, y, z), (x0, y0, z0)) < SPACING * max(math.hypot(x, y, z), _SLOWEST_RADPS):
            return
        if self._end == len(self._rows):
            kept = self._rows[self._end - MOST_ROWS + 2 :]
            self._rows[1 : 1 + len(kept)] = kept
            self._begin, self._end = 1, 1 + len(kept)
        self._last = [time_s, x, y, z]
        self._rows[self._end] = self._last
        self._end += 1
        self._begin = max(self._begin, self._end - MOST_ROWS + 1)

    def rows(self) -> np.ndarray:
        """(n, 4), n <= MOST_ROWS: the start, however long ago, then the latest part of the way. A copy."""
        return np.concatenate([self._rows[:1], self._rows[self._begin : self._end]])
