"""The way of a top's axis over the last seconds: its tip's trail is drawn from it, however slow the picture is."""

import math
from collections import deque

import numpy as np

KEPT_S = 4.0
SPACING_RAD = 0.02
"""Greatest angle between two rows within a step, as far as the pieces go round."""
_MOST_PIECES = 16


class AxisPath:
    """Rows (time [s], unit vector in the world) at moments where steps end, and on a smooth way between them."""

    def __init__(
        self, time_s: float, R_wb: np.ndarray, omega_b: np.ndarray, axis_b: np.ndarray | None
    ) -> None:
        """`axis_b` (3,): unit vector of the axis in the body; None where there is none and nothing is noted."""
        self._axis_b = axis_b
        self._rows: deque[tuple[float, float, float, float]] = deque()
        if axis_b is not None:
            self._time_s = time_s
            self._axis_w, self._rate_w = R_wb @ axis_b, R_wb @ np.cross(omega_b, axis_b)
            self._add(time_s, self._axis_w)

    def note(self, time_s: float, R_wb: np.ndarray, omega_b: np.ndarray) -> None:
        """A later moment. Between the two the axis follows the cubic of both directions and both rates.

        A turn at a constant rate would lead it round in a bow: of a long step most is spin about the axis.
        """
        if self._axis_b is None or time_s <= self._time_s:
            return
        axis_w, rate_w = R_wb @ self._axis_b, R_wb @ np.cross(omega_b, self._axis_b)
        h = time_s - self._time_s
        apart = float(np.linalg.norm(axis_w - self._axis_w))
        pieces = min(max(math.ceil(apart / SPACING_RAD), 1), _MOST_PIECES)
        for k in range(1, pieces):
            s = k / pieces
            way = (1.0 + 2.0 * s) * (1.0 - s) ** 2 * self._axis_w + s * s * (3.0 - 2.0 * s) * axis_w
            way = way + h * s * (1.0 - s) * ((1.0 - s) * self._rate_w - s * rate_w)
            self._add(self._time_s + s * h, way / max(float(np.linalg.norm(way)), 1e-12))
        self._add(time_s, axis_w)
        self._time_s, self._axis_w, self._rate_w = time_s, axis_w, rate_w
        while self._rows[0][0] < time_s - KEPT_S:
            self._rows.popleft()

    def rows(self) -> np.ndarray:
        """(n, 4). A copy."""
        return np.array(self._rows).reshape(-1, 4)

    def _add(self, time_s: float, axis_w: np.ndarray) -> None:
        self._rows.append((time_s, *axis_w.tolist()))
