"""What the canyon's own walls hide from the eye."""

import numba
import numpy as np

from sim.world import Terrain

_STEPS = 48
_MARGIN_M = 3.0
"""A place counts as seen while a thing this tall on it would be."""
_REUSE_M = 3.0
"""The answer is kept until the eye has moved this far."""


@numba.njit(nogil=True, cache=True)
def _any_free(eye, points, owner, seen, heights, x0, y0, spacing):
    """Set `seen[owner]` for every point that no ground stands before. Samples lie closer near the eye."""
    rows, columns = heights.shape
    seen[:] = False
    for k in range(points.shape[0]):
        if seen[owner[k]]:
            continue
        free = True
        for step in range(1, _STEPS):
            t = (step / _STEPS) ** 2
            x = eye[0] + t * (points[k, 0] - eye[0])
            y = eye[1] + t * (points[k, 1] - eye[1])
            i, j = int((x - x0) / spacing), int((y - y0) / spacing)
            inside = 0 <= i < columns and 0 <= j < rows
            if inside and heights[j, i] > eye[2] + t * (points[k, 2] - eye[2]):
                free = False
                break
        if free:
            seen[owner[k]] = True


def summits(points_w: np.ndarray, *, cells: int) -> np.ndarray:
    """(k, 3) highest point of each of `cells` x `cells` over `points_w` (n, 3), a margin above the ground."""
    low, high = points_w[:, :2].min(axis=0), points_w[:, :2].max(axis=0)
    place = ((points_w[:, :2] - low) / np.maximum(high - low, 1e-6) * (cells - 1e-6)).astype(int)
    number = place[:, 0] * cells + place[:, 1]
    order = np.lexsort((points_w[:, 2], number))
    last = np.append(np.flatnonzero(np.diff(number[order])), len(order) - 1)
    return points_w[order[last]] + (0.0, 0.0, _MARGIN_M)


class Skyline:
    """Tells which things lie wholly behind higher ground.

    Each thing is represented by points on its top; it is hidden when the line from the eye to each of them dips below
    the ground. Between samples, and outside the map, the line counts as free: errors draw more than there is to see.
    """

    def __init__(self, terrain: Terrain, tops: list[np.ndarray]):
        """`terrain`: heights (ny, nx), origin_m, spacing_m; `tops`: for each thing (k, 3) world points."""
        self._heights = np.ascontiguousarray(terrain.heights, dtype=np.float32)
        self._frame = (*(float(value) for value in terrain.origin_m), float(terrain.spacing_m))
        self._points = np.ascontiguousarray(np.concatenate(tops), dtype=float)
        self._owner = np.repeat(np.arange(len(tops)), [len(points) for points in tops])
        self._seen = np.ones(len(tops), dtype=bool)
        self._eye = np.full(3, np.inf)

    def seen(self, eye_w: np.ndarray) -> np.ndarray:
        """(n,) bool: some part of the thing may be seen from `eye_w` (3,). Valid until the next call."""
        if not np.linalg.norm(eye_w - self._eye) < _REUSE_M:
            self._eye = np.array(eye_w, dtype=float)
            _any_free(self._eye, self._points, self._owner, self._seen, self._heights, *self._frame)
        return self._seen
