"""Classes of ways: two are of one class where one can be moved into the other without lifting it over an obstacle.

Every obstacle carries sheets that end at its core, across the straight way; which sheets a way passes through,
and how often, tells its class. On a plane there are two sheets, to the left and to the right, and what is counted is
the homology of the way, which tells classes of homotopy apart for ways that wind around nothing (Bhattacharya,
Likhachev, Kumar, "Topological constraints in search-based robot path planning", Autonomous Robots 33, 2012). In space
obstacles are passed on four sides: above and below too, but for pillars, which have no top.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.compiled import compiled
from sim.planner.guess.grid import LONGEST_MOVE, Grid
from sim.planner.guess.grid_search import cheapest_tree

_DETOUR = 2.0
"""Times the shortest: longer ways are not worth an attempt."""
_CLOSED = 8
"""Sheets of the shortest way that are closed, one after the other, to find ways with one more detour."""


@dataclass(frozen=True)
class Sheets:
    """Of obstacles between two places."""

    axes: np.ndarray
    """(3, 3): unit vectors along the straight way, to its left and upwards across it."""
    cores: np.ndarray
    """(obstacles, 2, 3) m, ends of the lines in their middles."""
    marks: np.ndarray
    """(obstacles, 4): sums of them tell classes apart."""

    @classmethod
    def between(cls, start: np.ndarray, goal: np.ndarray, cores: np.ndarray) -> "Sheets":
        """start, goal: (3,)."""
        marks = np.random.default_rng(0).integers(1, 1 << 62, (len(cores), 4))
        return cls(_axes(goal - start), cores, marks)

    def passed(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(n,) sums of the marks of the sheets that chords from a (n, 3) to b (n, 3) pass through, signed."""
        return _passed_by_chords(a, b, self.cores, self.axes, self.marks)


def cheapest_by_class(
    grid: Grid, start: np.ndarray, goal: np.ndarray, sheets: Sheets, most: int
) -> list[np.ndarray]:
    """Polylines (n, 3) between start and goal (3,), one of each class that was found, the cheapest class first.

    Two trees of cheapest ways, from the start and from the goal, meet in every cell: what the cheapest way through it
    costs and its class are known for all cells at once. Those are ways with one detour. Where a sheet that the cheapest
    of all passes through is closed, the same finds ways with two.
    """
    search = _Search(grid, start, goal, sheets)
    cost = grid.between(start, goal)
    shortest = search.classes(cost, np.inf, most)
    if not shortest:
        return []
    ways = {kind: (total, cells) for kind, total, cells in shortest}
    _, least, cells = shortest[0]
    for closed in search.closings(cost, cells):
        for kind, total, other in search.classes(closed, _DETOUR * least, most):
            if kind not in ways or total < ways[kind][0]:
                ways[kind] = total, other
    cheapest_first = sorted(ways.values(), key=lambda way: way[0])[:most]
    return [grid.way(cells, start, goal) for _, cells in cheapest_first]


@dataclass(frozen=True)
class _Search:
    """Ways through a grid from a start to a goal."""

    grid: Grid
    start: np.ndarray
    goal: np.ndarray
    sheets: Sheets

    def classes(self, cost: np.ndarray, most_cost: float, most: int) -> list[tuple[int, float, np.ndarray]]:
        """(class, cost, cells from start to goal), the cheapest first, for costs (nx, ny, nz) of the cells."""
        grid, sheets = self.grid, self.sheets
        first, last = grid.flat_index(self.start), grid.flat_index(self.goal)
        trees = [cheapest_tree(cost, grid.moves, root) for root in (first, last)]
        if not trees[0][0][last] < most_cost:
            return []
        places = grid.places(np.arange(cost.size))
        kinds = [
            _passed_in_tree(places, before, order, sheets.cores, sheets.axes, sheets.marks)
            for _, before, order in trees
        ]
        total, bound = trees[0][0] + trees[1][0], min(_DETOUR * trees[0][0][last], most_cost)
        reached = np.flatnonzero(np.isfinite(total) & (total <= bound))
        cheapest_first = reached[np.argsort(total[reached], kind="stable")]
        signatures, where = np.unique((kinds[0] - kinds[1])[cheapest_first], return_index=True)
        out = []
        for i in np.argsort(where)[:most]:
            cell = int(cheapest_first[where[i]])
            there, back = (_traced(before, cell) for _, before, _ in trees)
            out.append((int(signatures[i]), float(total[cell]), np.r_[there[::-1], back[1:]]))
        return out

    def closings(self, cost: np.ndarray, cells: np.ndarray) -> Iterator[np.ndarray]:
        """Costs of the cells, each time with a sheet closed that a way passes through."""
        axes, places, way = self.sheets.axes, self.grid.places(np.arange(cost.size)), self.grid.places(cells)
        for core in self.sheets.cores[:_CLOSED]:
            ahead = (way - core.mean(axis=0)) @ axes[0]
            crossings = np.flatnonzero((ahead[1:] < 0.0) != (ahead[:-1] < 0.0))
            if not len(crossings):
                continue
            k = crossings[0]
            share = ahead[k] / (ahead[k] - ahead[k + 1])
            passed = _side(way[k] + share * (way[k + 1] - way[k]), core, axes)
            apart = np.abs((places - core.mean(axis=0)) @ axes[0])
            layer = np.flatnonzero(apart < LONGEST_MOVE / 2 * self.grid.spacing_m)
            closed = cost.copy().ravel()
            closed[layer[_sides(places[layer], core, axes) == passed]] = np.inf
            yield closed.reshape(cost.shape)


def _axes(chord: np.ndarray) -> np.ndarray:
    """(3, 3) as `Sheets` has them."""
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
def _side(x: np.ndarray, core: np.ndarray, axes: np.ndarray) -> int:
    """Of an obstacle's core (2, 3) that a place is on: 0 left, 1 right, 2 above, 3 below."""
    along, length = 0.0, 0.0
    for axis in range(3):
        step = core[1, axis] - core[0, axis]
        along += (x[axis] - core[0, axis]) * step
        length += step * step
    share = min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0
    left, up = 0.0, 0.0
    for axis in range(3):
        d = x[axis] - core[0, axis] - share * (core[1, axis] - core[0, axis])
        left += axes[1, axis] * d
        up += axes[2, axis] * d
    if abs(left) >= abs(up):
        return 0 if left > 0.0 else 1
    return 2 if up > 0.0 else 3


@compiled()
def _sides(places: np.ndarray, core: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(n,) `_side` of places (n, 3)."""
    out = np.empty(len(places), np.int64)
    for i in range(len(places)):
        out[i] = _side(places[i], core, axes)
    return out


@compiled()
def _passed(a: np.ndarray, b: np.ndarray, cores: np.ndarray, axes: np.ndarray, marks: np.ndarray) -> int:
    """The sum of the marks of the sheets that a chord passes through, signed."""
    total = 0
    x = np.empty(3)
    for i in range(len(cores)):
        before, after = 0.0, 0.0
        for axis in range(3):
            centre = 0.5 * (cores[i, 0, axis] + cores[i, 1, axis])
            before += axes[0, axis] * (a[axis] - centre)
            after += axes[0, axis] * (b[axis] - centre)
        if (before < 0.0) == (after < 0.0):
            continue
        share = before / (before - after)
        for axis in range(3):
            x[axis] = a[axis] + share * (b[axis] - a[axis])
        side = _side(x, cores[i], axes)
        total += marks[i, side] if before < 0.0 else -marks[i, side]
    return total


@compiled()
def _passed_by_chords(
    a: np.ndarray, b: np.ndarray, cores: np.ndarray, axes: np.ndarray, marks: np.ndarray
) -> np.ndarray:
    """(n,) of chords from a (n, 3) to b (n, 3)."""
    out = np.empty(len(a), np.int64)
    for i in range(len(a)):
        out[i] = _passed(a[i], b[i], cores, axes, marks)
    return out


@compiled()
def _passed_in_tree(
    places: np.ndarray,
    before: np.ndarray,
    order: np.ndarray,
    cores: np.ndarray,
    axes: np.ndarray,
    marks: np.ndarray,
) -> np.ndarray:
    """(cells,) of the way from the root."""
    out = np.zeros(len(before), np.int64)
    for cell in order:
        origin = before[cell]
        if origin >= 0:
            out[cell] = out[origin] + _passed(places[origin], places[cell], cores, axes, marks)
    return out
