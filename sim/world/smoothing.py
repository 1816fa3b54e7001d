"""Grids smoothed by a bell along their axes, the least and the mean around each place; in numpy alone, which is loaded.

What grows worlds takes sums in the order of scipy.ndimage's, so that the numbers are its numbers: to import that takes
as long as to grow a part of a world.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

_WIDE = 4.0
"""Spreads of the bell, beyond which it is nothing."""
_AT_ONCE = 30_000
"""Numbers, which the processor's cache holds with what is made of them."""
Beyond = Literal["symmetric", "edge"]


def smoothed(
    grid: np.ndarray, spread: float | Sequence[float], *, beyond: Beyond = "symmetric", wide: float = _WIDE
) -> np.ndarray:
    """A grid, of its own type, after a Gaussian of that spread [cells] along every axis, or of one for each.

    beyond: its edge it is mirrored, or goes on as it ends. wide: where the bell is cut off [spreads].
    """
    spreads = np.broadcast_to(np.asarray(spread, float), grid.ndim)
    for axis, each in enumerate(spreads):
        if each > 0.0:
            grid = _along(grid, axis, float(each), beyond, wide)
    return grid


def _along(grid: np.ndarray, axis: int, spread: float, beyond: Beyond, wide: float) -> np.ndarray:
    reach = int(wide * spread + 0.5)
    bell = np.exp(-0.5 / (spread * spread) * np.arange(-reach, reach + 1) ** 2)
    bell /= bell.sum()
    padded = _padded(grid, axis, (reach, reach), beyond)
    smooth = np.empty(grid.shape, grid.dtype)
    rows = max(1, _AT_ONCE * len(grid) // grid.size)
    for first in range(0, len(grid), rows):
        end = min(first + rows, len(grid))
        if axis == 0:
            lines = padded[first : end + 2 * reach].astype(float)
        else:
            lines = np.moveaxis(padded[first:end].astype(float), axis, 0)
        length = len(lines) - 2 * reach
        total = lines[reach : reach + length] * bell[reach]
        for k in range(reach, 0, -1):
            pair = lines[reach - k : reach - k + length] + lines[reach + k : reach + k + length]
            pair *= bell[reach - k]
            total += pair
        smooth[first:end] = total if axis == 0 else np.moveaxis(total, 0, axis)
    return smooth


def _padded(grid: np.ndarray, axis: int, cells: tuple[int, int], beyond: Beyond) -> np.ndarray:
    """So many cells longer before and after along an axis."""
    return np.pad(grid, [cells if k == axis else (0, 0) for k in range(grid.ndim)], mode=beyond)


def _about(count: int) -> tuple[int, int]:
    """How many of so many cells lie before and after the one that they are about."""
    return count // 2, count - 1 - count // 2


def lowest_around(grid: np.ndarray, reach: int) -> np.ndarray:
    """The least of the square of 2 reach + 1 cells about each cell, as far as the grid goes."""
    for axis in range(grid.ndim):
        least = np.moveaxis(_padded(grid, axis, (reach, reach), "edge"), axis, 0)
        wide, wanted = 1, 2 * reach + 1
        while wide < wanted:  # of up to twice as many cells at each turn
            more = min(wide, wanted - wide)
            least = np.minimum(least[:-more], least[more:])
            wide += more
        grid = np.moveaxis(least, 0, axis)
    return grid


def mean_around(grid: np.ndarray, count: int) -> np.ndarray:
    """The mean of count cells along every axis about each cell, of a grid that is mirrored at its edge."""
    for axis in range(grid.ndim):
        sums = np.cumsum(np.moveaxis(_padded(grid, axis, _about(count), "symmetric"), axis, 0), axis=0)
        sums[count:] = sums[count:] - sums[:-count]
        grid = np.moveaxis(sums[count - 1 :] / count, 0, axis)
    return grid


def thinned_mean(grid: np.ndarray, every: int, axis: int) -> np.ndarray:
    """Every so-manieth slice along an axis, each the mean of so many about it, from half of them before it on."""
    lines = np.moveaxis(_padded(grid, axis, _about(every), "edge"), axis, 0)
    count = grid.shape[axis]
    means = np.mean([lines[k : k + count : every] for k in range(every)], axis=0)
    return np.moveaxis(means, 0, axis)
