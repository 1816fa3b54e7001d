"""The way of a top's axis over the last seconds: its tip's trail is drawn from it, however slow the picture is."""

import math
from collections import deque

import numpy as np

from sim.pilot.rotation import rotation_exp, rotation_vector

KEPT_S = 4.0
SPACING_RAD = 0.02
"""Greatest angle between two rows within a step, as far as the pieces go round."""
_MOST_PIECES = 16


class AxisPath:
    """Rows (time [s], unit vector in the world) at moments where steps end, and between them as the top is drawn."""

    def __init__(self, time_s: float, R_wb: np.ndarray, axis_b: np.ndarray | None) -> None:
        """`axis_b` (3,): unit vector of the axis in the body; None where there is none and nothing is noted."""
        self._axis_b = axis_b
        self._rows: deque[tuple[float, float, float, float]] = deque()
        self._time_s, self._R_wb = time_s, R_wb
        if axis_b is not None:
            self._add(time_s, R_wb @ axis_b)

    def note(self, time_s: float, R_wb: np.ndarray) -> None:
        """A later moment; the way there is a turn at a constant rate."""
        axis_b = self._axis_b
        if axis_b is None or time_s <= self._time_s:
            return
        turn = rotation_vector(self._R_wb.T @ R_wb)
        # What the axis goes through, not the spin about it.
        across = float(np.linalg.norm(np.cross(turn, axis_b)))
        pieces = min(max(math.ceil(across / SPACING_RAD), 1), _MOST_PIECES)
        for k in range(1, pieces):
            share = k / pieces
            between = self._R_wb @ rotation_exp(share * turn)
            self._add(self._time_s + share * (time_s - self._time_s), between @ axis_b)
        self._add(time_s, R_wb @ axis_b)
        self._time_s, self._R_wb = time_s, R_wb
        while self._rows[0][0] < time_s - KEPT_S:
            self._rows.popleft()

    def rows(self) -> np.ndarray:
        """(n, 4). A copy."""
        return np.array(self._rows).reshape(-1, 4)

    def _add(self, time_s: float, axis_w: np.ndarray) -> None:
        self._rows.append((time_s, *axis_w.tolist()))
