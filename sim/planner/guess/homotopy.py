"""Classes of ways: two are of one class where one can be moved into the other without lifting it over an obstacle.

Every obstacle carries sheets that end at its centre, across the straight way; which sheets a way passes through,
and how often, tells its class. On a plane there are two sheets, to the left and to the right, and what is counted is
the homology of the way, which tells classes of homotopy apart for ways that wind around nothing (Bhattacharya,
Likhachev, Kumar, "Topological constraints in search-based robot path planning", Autonomous Robots 33, 2012). In space
obstacles are passed on four sides: above and below too.
"""

import numpy as np

from sim.compiled import compiled
from sim.planner.guess.grid import Grid
from sim.planner.guess.grid_search import cheapest_tree

_DETOUR = 2.0
"""Times the shortest: longer ways are not worth an attempt."""


def cheapest_by_class(
    grid: Grid, start: np.ndarray, goal: np.ndarray, centres: np.ndarray, most: int
) -> list[np.ndarray]:
    """Polylines (n, 3), of each class the cheapest that consists of two cheapest ways, the cheapest class first.

    start, goal: (3,), centres: (obstacles, 3) m. Two trees of cheapest ways, from the start and from the goal, meet in
    every cell: what the cheapest way through it costs and its class are known for all cells at once.
    """
    cost = grid.between(start, goal)
    first, last = grid.flat_index(start), grid.flat_index(goal)
    trees = [cheapest_tree(cost, grid.moves, root) for root in (first, last)]
    if not np.isfinite(trees[0][0][last]):
        return []
    sheets = _sheets(goal - start)
    marks = np.random.default_rng(0).integers(1, 1 << 62, (len(centres), 4))
    places = grid.places(np.arange(cost.size))
    classes = [_passed(places, before, order, centres, sheets, marks) for _, before, order in trees]
    total = trees[0][0] + trees[1][0]
    reached = np.flatnonzero(np.isfinite(total) & (total <= _DETOUR * trees[0][0][last]))
    cheapest_first = reached[np.argsort(total[reached], kind="stable")]
    kinds = classes[0][cheapest_first] - classes[1][cheapest_first]
    _, where = np.unique(kinds, return_index=True)
    ways = []
    for cell in cheapest_first[np.sort(where)][:most]:
        there, back = (_traced(before, int(cell)) for _, before, _ in trees)
        ways.append(grid.way(np.r_[there[::-1], back[1:]], start, goal))
    return ways


def _sheets(chord: np.ndarray) -> np.ndarray:
    """(3, 3): unit vectors along the straight way, to its left and upwards across it."""
    along = chord / max(float(np.linalg.norm(chord)), 1e-9)
    left = np.cross([0.0, 0.0, 1.0], along)
    if np.linalg.norm(left) < 1e-6:
        along, left = np.array([0.0, 0.0, 1.0]) if chord.any() else np.eye(3)[0], np.array([0.0, 1.0, 0.0])
    left = left / np.linalg.norm(left)
    return np.stack([along, left, np.cross(along, left)])


def _traced(before: np.ndarray, cell: int) -> np.ndarray:
    """Cells from one to the root of its tree."""
    cells = [cell]
    while before[cell] >= 0:
        cell = int(before[cell])
        cells.append(cell)
    return np.array(cells)


@compiled()
def _passed(
    places: np.ndarray,
    before: np.ndarray,
    order: np.ndarray,
    centres: np.ndarray,
    sheets: np.ndarray,
    marks: np.ndarray,
) -> np.ndarray:
    """(cells,) sums of the marks (obstacles, 4) of the sheets that the way from the root passes through, signed."""
    out = np.zeros(len(before), np.int64)
    for cell in order:
        origin = before[cell]
        if origin < 0:
            continue
        total = out[origin]
        for i in range(len(centres)):
            a, b = 0.0, 0.0
            for axis in range(3):
                a += sheets[0, axis] * (places[origin, axis] - centres[i, axis])
                b += sheets[0, axis] * (places[cell, axis] - centres[i, axis])
            if (a < 0.0) == (b < 0.0):
                continue
            left, up, share = 0.0, 0.0, a / (a - b)
            for axis in range(3):
                x = (
                    places[origin, axis]
                    + share * (places[cell, axis] - places[origin, axis])
                    - centres[i, axis]
                )
                left += sheets[1, axis] * x
                up += sheets[2, axis] * x
            side = (0 if left > 0.0 else 1) if abs(left) >= abs(up) else (2 if up > 0.0 else 3)
            total += marks[i, side] if a < 0.0 else -marks[i, side]
        out[cell] = total
    return out
