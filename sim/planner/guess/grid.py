"""Cells of the space between start and goal, what it costs to be in each, and the cheapest ways through them."""

import numpy as np

from sim.native.function import native
from sim.planner.task.task import Obstacle
from sim.planner.task.terrain import SafeGround
from sim.platform.values import dataclass

_CELLS = 14_000
_PENALTY = 1.5
LONGEST_MOVE = float(np.sqrt(5.0))
"""From cell to cell, in their spacing: a knight's."""


@dataclass(frozen=True)
class GuessGrid:
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
) -> GuessGrid:
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
        soil = ground.upright_m(columns[:, 0], columns[:, 1]).reshape(*points.shape[:2], 1)
        clear = np.minimum(clear, (points[..., 2] - soil).ravel())
    comfort = max(1.5 * spacing, 0.5 * radius_m)
    cost = 1.0 + _PENALTY * np.clip(1.0 - clear / comfort, 0.0, 1.0)
    cost[clear < 0.0] = np.inf
    return GuessGrid(low, spacing, cost.reshape(points.shape[:3]))


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


@native
def cheapest_cells(cost: np.ndarray, moves: np.ndarray, first: int, last: int) -> np.ndarray:
    """Flat indices of cells from first to last; empty where there is no way.

    cost: (nx, ny, nz), at least 1, inf where nobody may be. moves: (m, 3) steps between cells. A step costs its
    length times the mean of both cells' costs.
    """
    reached, before, _ = _searched(cost, moves, first, last)
    if not np.isfinite(reached[last]):
        return np.empty(0, np.int64)
    steps, at = 1, last
    while at != first:
        at = before[at]
        steps += 1
    out = np.empty(steps, np.int64)
    for step in range(steps - 1, -1, -1):
        out[step] = last
        last = before[last]
    return out


@native
def cheapest_tree(
    cost: np.ndarray, moves: np.ndarray, root: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(costs (cells,), inf where there is no way; the cell before each (cells,), -1 at the root; cells in their order).

    Of the cheapest ways from one cell to all others (Dijkstra); arguments as `cheapest_cells` takes them.
    """
    return _searched(cost, moves, root, -1)


@native
def _searched(
    cost: np.ndarray, moves: np.ndarray, first: int, goal: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `cheapest_tree` tells, of the cells that are settled before the goal; -1: of all."""
    nx, ny, nz = cost.shape
    price = cost.ravel()
    lengths = np.empty(moves.shape[0])
    for m in range(moves.shape[0]):
        lengths[m] = np.sqrt(float(moves[m, 0] ** 2 + moves[m, 1] ** 2 + moves[m, 2] ** 2))
    gi, gj, gk = goal // (ny * nz), goal // nz % ny, goal % nz
    reached, before = np.full(price.size, np.inf), np.full(price.size, -1)
    heap, keys, place, count = (
        np.empty(price.size, np.int64),
        np.empty(price.size),
        np.full(price.size, -1),
        1,
    )
    order, settled = np.empty(price.size, np.int64), 0
    reached[first], heap[0], keys[0], place[first] = 0.0, first, 0.0, 0
    while count:
        here = heap[0]
        if here == goal:
            break
        order[settled] = here
        settled += 1
        count -= 1
        place[here] = -1
        if count:
            sink(heap, keys, place, count, heap[count], keys[count])
        i, j, k = here // (ny * nz), here // nz % ny, here % nz
        for m in range(moves.shape[0]):
            a, b, c = i + moves[m, 0], j + moves[m, 1], k + moves[m, 2]
            if a < 0 or a >= nx or b < 0 or b >= ny or c < 0 or c >= nz:
                continue
            there = (a * ny + b) * nz + c
            length = reached[here] + 0.5 * (price[here] + price[there]) * lengths[m]
            if length < reached[there]:
                reached[there], before[there] = length, here
                ahead = np.sqrt(float((a - gi) ** 2 + (b - gj) ** 2 + (c - gk) ** 2)) if goal >= 0 else 0.0
                if place[there] < 0:
                    place[there] = count
                    count += 1
                rise(heap, keys, place, place[there], there, length + ahead)
    return reached, before, order[:settled]


@native
def rise(heap: np.ndarray, keys: np.ndarray, place: np.ndarray, at: int, cell: int, key: float) -> None:
    """Put a cell where its key belongs, from a place in the heap towards the top."""
    while at > 0:
        above = (at - 1) // 2
        if keys[above] <= key:
            break
        heap[at], keys[at], place[heap[above]] = heap[above], keys[above], at
        at = above
    heap[at], keys[at], place[cell] = cell, key, at


@native
def sink(heap: np.ndarray, keys: np.ndarray, place: np.ndarray, count: int, cell: int, key: float) -> None:
    """Put a cell where its key belongs, from the top of the heap downwards."""
    at = 0
    while 2 * at + 1 < count:
        below = 2 * at + 1
        if below + 1 < count and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        heap[at], keys[at], place[heap[below]] = heap[below], keys[below], at
        at = below
    heap[at], keys[at], place[cell] = cell, key, at


def traced(before: np.ndarray, cell: int) -> np.ndarray:
    """Cells from one to the root of its tree."""
    cells = [cell]
    while before[cell] >= 0:
        cell = int(before[cell])
        cells.append(cell)
    return np.array(cells)
