"""Cheapest ways through the cells of a grid: A*, led by the straight distance to the goal; Dijkstra's to all."""

import numpy as np

from sim.compiled import compiled


@compiled(error_model="numpy")
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


@compiled(error_model="numpy")
def cheapest_tree(
    cost: np.ndarray, moves: np.ndarray, root: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(costs (cells,), inf where there is no way; the cell before each (cells,), -1 at the root; cells in their order).

    Of the cheapest ways from one cell to all others (Dijkstra); arguments as `cheapest_cells` takes them.
    """
    return _searched(cost, moves, root, -1)


@compiled(error_model="numpy")
def _searched(
    cost: np.ndarray, moves: np.ndarray, first: int, goal: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `cheapest_tree` tells, of the cells that are settled before the goal; -1: of all."""
    nx, ny, nz = cost.shape
    price = cost.ravel()
    lengths = np.sqrt((moves * moves).sum(axis=1).astype(np.float64))
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


@compiled()
def rise(heap: np.ndarray, keys: np.ndarray, place: np.ndarray, at: int, cell: int, key: float) -> None:
    """Put a cell where its key belongs, from a place in the heap towards the top."""
    while at > 0:
        above = (at - 1) // 2
        if keys[above] <= key:
            break
        heap[at], keys[at], place[heap[above]] = heap[above], keys[above], at
        at = above
    heap[at], keys[at], place[cell] = cell, key, at


@compiled()
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
