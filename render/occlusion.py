"""What the canyon's own walls hide from the eye."""

import numpy as np

_CELL_M = 27.0
_STEPS = 48
_MARGIN_M = 3.0
"""A place counts as seen while a thing this tall on it would be."""
_REUSE_M = 3.0
"""The answer is kept until the eye has moved this far."""


class Skyline:
    """Tells which boxes of ground lie wholly behind higher ground.

    Every box is represented by the highest point of each of its cells of about 27 m; a box is hidden when the line from
    the eye to each of them dips below the ground. Between samples the line is taken to be free, so errors show more.
    """

    def __init__(
        self, heights: np.ndarray, origin_m: tuple[float, float], spacing_m: float, boxes: np.ndarray
    ):
        """`heights` (ny, nx) m from `origin_m` on; `boxes` (n, 4) as x low, y low, x high, y high."""
        self._heights = heights
        self._origin = np.asarray(origin_m, dtype=float)
        self._spacing = spacing_m
        points = [self._tops(box) for box in boxes]
        self._points = np.concatenate(points)
        self._owner = np.repeat(np.arange(len(boxes)), [len(part) for part in points])
        self._count = len(boxes)
        self._along = (np.arange(_STEPS) + 0.5) / _STEPS
        self._eye = np.full(3, np.inf)
        self._seen = np.ones(self._count, dtype=bool)

    def _tops(self, box: np.ndarray) -> np.ndarray:
        """(k, 3) highest point of each cell of one box."""
        low = np.floor((box[:2] - self._origin) / self._spacing).astype(int)
        high = np.ceil((box[2:] - self._origin) / self._spacing).astype(int)
        limit = np.array(self._heights.shape[::-1]) - 1
        low, high = np.clip(low, 0, limit - 1), np.clip(high, 1, limit)
        cell = max(int(_CELL_M / self._spacing), 1)
        tops = []
        for row in range(low[1], high[1] + 1, cell):
            for column in range(low[0], high[0] + 1, cell):
                block = self._heights[
                    row : min(row + cell, high[1] + 1), column : min(column + cell, high[0] + 1)
                ]
                j, i = np.unravel_index(np.argmax(block), block.shape)
                place = self._origin + self._spacing * np.array([column + i, row + j])
                tops.append([*place, float(block[j, i]) + _MARGIN_M])
        return np.array(tops)

    def seen(self, eye_w: np.ndarray) -> np.ndarray:
        """(n,) bool: some part of the box may be seen from `eye_w` (3,)."""
        if np.linalg.norm(eye_w - self._eye) > _REUSE_M:
            self._eye = np.array(eye_w)
            free = self._free(self._eye)
            self._seen = np.bincount(self._owner, weights=free, minlength=self._count) > 0
        return self._seen

    def _free(self, eye_w: np.ndarray) -> np.ndarray:
        """(points,) bool: nothing stands above the line from the eye."""
        x = eye_w[0] + np.outer(self._along, self._points[:, 0] - eye_w[0])
        y = eye_w[1] + np.outer(self._along, self._points[:, 1] - eye_w[1])
        z = eye_w[2] + np.outer(self._along, self._points[:, 2] - eye_w[2])
        rows, columns = self._heights.shape
        i = ((x - self._origin[0]) / self._spacing).astype(np.int32)
        j = ((y - self._origin[1]) / self._spacing).astype(np.int32)
        inside = (i >= 0) & (j >= 0) & (i < columns) & (j < rows)
        ground = self._heights[np.clip(j, 0, rows - 1), np.clip(i, 0, columns - 1)]
        return ~(inside & (ground > z)).any(axis=0)
