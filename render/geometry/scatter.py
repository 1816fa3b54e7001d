"""Placing many things on the ground, sorted into cells that can be culled.

Instances (k, 8) float32: position 3, scale 1, tint 3 (linear albedo), yaw 1 [rad]; a mesh point p
goes to position + scale * Rz(yaw) p. Within a cell they are in order of importance, so the first part of
a cell is a fair thinning of it.
"""

from dataclasses import dataclass

import numpy as np

INSTANCE_FLOATS = 8
_CELL_M = 64.0


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A run of instances and the box around their positions, padded by their sizes."""

    first: int
    count: int
    low: np.ndarray
    """(3,) m."""
    high: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Instances sorted by cell."""

    instances: np.ndarray
    cells: tuple[Cell, ...]
    obstacles: np.ndarray
    """(k,) bool: what can be run into."""


def _cell_of(instances: np.ndarray) -> np.ndarray:
    """(k, 2) integer cell of each instance."""
    return np.floor(instances[:, :2] / _CELL_M).astype(int)


def by_cell(instances: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """Instances (k, 8) float32 sorted into square cells, the most important of each cell first."""
    instances = instances.astype(np.float32)
    column, row = _cell_of(instances).T
    return np.ascontiguousarray(instances[np.lexsort((-importance, row, column))])


def scatter_of(instances: np.ndarray, obstacles: np.ndarray | None = None) -> Scatter:
    """The cells of instances that `by_cell` has sorted; `obstacles`: (k,) bool, none of them where it is left out."""
    key = _cell_of(instances)
    if obstacles is None:
        obstacles = np.zeros(len(instances), dtype=bool)
    if not len(key):
        return Scatter(instances, (), obstacles)
    starts = np.flatnonzero(np.r_[True, np.any(np.diff(key, axis=0) != 0, axis=1)])
    cells = []
    for first, end in zip(starts, np.r_[starts[1:], len(key)], strict=True):
        part = instances[first:end]
        reach = float(part[:, 3].max()) * 1.6
        low, high = part[:, :3].min(axis=0) - reach, part[:, :3].max(axis=0) + reach
        cells.append(Cell(int(first), int(end - first), low, high))
    return Scatter(instances, tuple(cells), obstacles)
