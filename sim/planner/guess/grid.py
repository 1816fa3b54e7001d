"""Cells of the space between start and goal, and what it costs to be in each."""

from dataclasses import dataclass

import numpy as np

from sim.planner.task.obstacles import Obstacle
from sim.planner.task.terrain import SafeGround

_CELLS = 14_000
_PENALTY = 1.5
LONGEST_MOVE = float(np.sqrt(5.0))
"""From cell to cell, in their spacing: a knight's."""


@dataclass(frozen=True)
class Grid:
    """Cells of a box, with what it costs to be in each; inf is forbidden."""

    low: np.ndarray
    spacing_m: float
    cost: np.ndarray
    """(nx, ny, nz), at least 1."""

    def index(self, x: np.ndarray) -> tuple[int, int, int]:
        """The cell that a place is in, or the nearest one."""
        i = np.clip(np.round((x - self.low) / self.spacing_m), 0, np.array(self.cost.shape) - 1).astype(int)
        return int(i[0]), int(i[1]), int(i[2])

    def flat_index(self, x: np.ndarray) -> int:
        """The same as one number."""
        return int(np.ravel_multi_index(self.index(x), self.cost.shape))

    def places(self, cells: np.ndarray) -> np.ndarray:
        """(n, 3) centres of cells by flat index (n,)."""
        return self.low + self.spacing_m * np.stack(np.unravel_index(cells, self.cost.shape), axis=1)

    def between(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """The costs with both ends allowed, which may lie closer to something than others may."""
        cost = self.cost.copy()
        cost[self.index(start)] = cost[self.index(goal)] = 1.0
        return cost

    def way(self, cells: np.ndarray, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """Polyline (n, 3) through cells (n,), between the ends as they are."""
        if len(cells) == 1:
            return np.stack([start, goal])
        way = self.places(cells)
        way[0], way[-1] = start, goal
        return way

    @property
    def moves(self) -> np.ndarray:
        """(m, 3) steps between cells."""
        return _MOVES[self.cost.shape[2] == 1]


def grid_of(
    stations: np.ndarray,
    obstacles: tuple[Obstacle, ...],
    ground: SafeGround | None,
    radius_m: float,
    plane: bool,
    low: np.ndarray,
    high: np.ndarray,
) -> Grid:
    """Cells around the stations (n, 3), with room beside them, inside the box from low to high (3,)."""
    reach = np.linalg.norm(np.diff(stations, axis=0), axis=1).sum()
    pad = np.array([0.4, 0.4, 0.25]) * reach + 2.0 * radius_m + 1.0
    low, high = np.maximum(stations.min(0) - pad, low), np.minimum(stations.max(0) + pad, high)
    if ground is not None:
        floor, roof = ground.domain
        low[:2], high[:2] = np.maximum(low[:2], floor + 1e-6), np.minimum(high[:2], roof - 1e-6)
    if plane:
        low[2] = high[2] = 0.0
    span = np.maximum(high - low, 1e-9)
    dims = 2 if plane else 3
    spacing = max(float(np.prod(span[:dims]) / _CELLS) ** (1.0 / dims), 0.02 * reach, 1e-3)
    axes = [low[i] + spacing * np.arange(int(span[i] / spacing) + 1) for i in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    flat = points.reshape(-1, 3)
    clear = np.full(len(flat), np.inf)
    for obstacle in obstacles:
        swelling = swelling_m(obstacle, radius_m, LONGEST_MOVE * spacing)
        clear = np.minimum(clear, obstacle.distance(flat) - radius_m - swelling)
    if ground is not None:
        columns = points[:, :, 0].reshape(-1, 3)
        soil = ground.height(columns[:, 0], columns[:, 1]).reshape(*points.shape[:2], 1)
        clear = np.minimum(clear, (points[..., 2] - soil).ravel())
    comfort = max(1.5 * spacing, 0.5 * radius_m)
    cost = 1.0 + _PENALTY * np.clip(1.0 - clear / comfort, 0.0, 1.0)
    cost[clear < 0.0] = np.inf
    return Grid(low, spacing, cost.reshape(points.shape[:3]))


def swelling_m(obstacle: Obstacle, radius_m: float, longest_move_m: np.ndarray | float) -> np.ndarray | float:
    """What has to be added to a wall so that no move leaps over it."""
    if not obstacle.is_wall:
        return 0.0
    return np.maximum(0.0, 0.5 * longest_move_m - radius_m - obstacle.half_thickness_m)


def _moves(flat: bool) -> np.ndarray:
    """(m, 3) steps between cells: to all neighbours, on a plane also knight's moves."""
    reach = (-2, -1, 0, 1, 2) if flat else (-1, 0, 1)
    steps = [(i, j, k) for i in reach for j in reach for k in ((0,) if flat else (-1, 0, 1))]
    return np.array([s for s in steps if np.gcd.reduce(np.abs(s)) == 1])


_MOVES = {flat: _moves(flat) for flat in (True, False)}
