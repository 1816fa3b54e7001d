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
MOMENT_S, PLACE_M, TURN, SCALE = 1e-6, 5e-5, 1.2e-5, 1e-6
"""Of which the moments, places, turns and scales of a track are whole multiples: 4.4e-5 m, 4.2e-5 rad off at most."""
_BEHIND = -0.3
"""The least real part that a quaternion may have before its negative takes its place."""

Told = tuple[int, int, int, list[float], list[float]]
"""What the viewer has to know of an array: first number, rows, columns; of each column unit and least number."""


def turns(quaternions: np.ndarray) -> np.ndarray:
    """(n, 3) modified Rodrigues parameters, the axis times the tangent of a quarter of the angle, of (n, 4) unit
    quaternions x, y, z, w.

    A change of them by d turns by 4 d at most. They jump where the angle has come well beyond half a turn, which is not
    where it only wavers about one.
    """
    clear = np.where(np.abs(quaternions[:, 3]) > -_BEHIND, np.sign(quaternions[:, 3]), 0.0)
    clear[:1] = np.where(quaternions[:1, 3] < 0.0, -1.0, 1.0)
    last = np.maximum.accumulate(np.where(clear, np.arange(len(clear)), 0))
    near = quaternions * clear[last, None]
    return near[:, :3] / (1.0 + near[:, 3:])


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

    def add_track(self, track: Keyframes, coarser: float = 1.0) -> Told:
        """Columns: moment [s], place [m], turn, scale, whether it is seen; the last four where they change.

        coarser: times the usual rounding of places and turns.
        """
        columns = [track.time[:, None], track.translation, turns(track.rotation)]
        units = [MOMENT_S, *[coarser * PLACE_M] * 3, *[coarser * TURN] * 3]
        if not (track.shown.all() and (track.scale == 1.0).all()):
            columns += [track.scale, track.shown[:, None].astype(float)]
            units += [*[SCALE] * 3, 1.0]
        return self.add(np.hstack(columns), units)

    def bytes(self) -> bytes:
        return b"".join(data for plane in self._planes for data in plane)
