"""Arrays of numbers as few bytes for a page: rounded to whole multiples, told by their third differences.

Bytes of equal weight stand together, so that the leading ones, which are nearly all zero, cost nothing once packed.
"""

from collections.abc import Sequence

import numpy as np

from export.nodes import Keyframes

_MOST = (1 << 31) - 1
"""That a difference may be."""
_FARTHEST = float(1 << 52)
"""Multiples that a number may be away from the least of its column."""
_ORDER = 3
"""Of the differences: smooth motions at equal times have small ones."""
_GAP = -1
"""Stands for what is not finite."""
_LEVELS = 65_535
"""Between the least and the greatest number of a curve."""
_FEW, _BLOWN_UP, _BEYOND = 0.02, 100.0, 1000.0
"""The share of a curve's numbers that may lie so far out, in units of what the others reach over, that a plot leaves
them out, as of a lane that blew up; and from where on they are all the same."""
MOMENT_S, PLACE_M, TURN, SCALE = 1e-6, 4e-5, 2e-5, 1e-6
"""Of which the moments, places, quaternions and scales of a track are whole multiples."""

Told = tuple[int, int, int, list[float], list[float]]
"""What the viewer has to know of an array: first number, rows, columns; of each column unit and least number."""


class PackedArrays:
    """Arrays one after the other; `array` in assets/page/viewer.js reads them."""

    def __init__(self) -> None:
        self._planes: tuple[list[bytes], ...] = ([], [], [], [])
        """Of equal weight, the least first."""
        self._count = 0

    def add(self, values: np.ndarray, units: Sequence[float] | float) -> Told:
        """An array (n,) or (n, k), whose columns are rounded to whole multiples of these units.

        Where numbers or their differences would be too large, of larger ones.
        """
        rows = np.asarray(values, float).reshape(len(values), -1)
        finite = np.isfinite(rows)
        low = np.where(finite, rows, np.inf).min(axis=0, initial=np.inf)
        low = np.where(np.isfinite(low), low, 0.0)
        reach = np.where(finite, rows - low, 0.0)
        unit = np.maximum(np.broadcast_to(units, low.shape), reach.max(axis=0, initial=0.0) / _FARTHEST)
        while True:
            whole = np.where(finite, np.rint(reach / unit), _GAP).astype(np.int64)
            change = np.diff(whole, n=_ORDER, axis=0, prepend=np.zeros((_ORDER, len(low)), np.int64))
            large = np.abs(change).max(axis=0, initial=0) > _MOST
            if not large.any():
                break
            unit[large] *= 2.0
        zigzag = ((change << 1) ^ (change >> 63)).astype("<u4")
        for plane, data in zip(self._planes, zigzag.T.reshape(-1, 1).view(np.uint8).T, strict=True):
            plane.append(data.tobytes())
        self._count += rows.size
        return self._count - rows.size, len(rows), rows.shape[1], unit.tolist(), low.tolist()

    def add_curve(self, values: np.ndarray) -> Told:
        """Numbers (n,) as finely as a plot shows them."""
        seen = values[np.isfinite(values)]
        if not len(seen):
            return self.add(values, 1.0)
        low, high = np.quantile(seen, (_FEW, 1.0 - _FEW))
        size = float(np.ptp(seen))
        if high > low and size > _BLOWN_UP * (high - low):
            size = float(high - low)
            values = np.clip(values, low - _BEYOND * size, high + _BEYOND * size)
        return self.add(values, max(size, 1e-300) / _LEVELS)

    def add_track(self, track: Keyframes) -> Told:
        """Columns: moment [s], place [m], quaternion, scale, whether it is seen; the last four where they change."""
        columns = [track.time[:, None], track.translation, track.rotation]
        units = [MOMENT_S, *[PLACE_M] * 3, *[TURN] * 4]
        if not (track.shown.all() and (track.scale == 1.0).all()):
            columns += [track.scale, track.shown[:, None].astype(float)]
            units += [*[SCALE] * 3, 1.0]
        return self.add(np.hstack(columns), units)

    def bytes(self) -> bytes:
        return b"".join(data for plane in self._planes for data in plane)
