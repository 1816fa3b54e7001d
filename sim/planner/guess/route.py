"""Ways around obstacles and terrain on a grid, from start to goal through the waypoints, walked in time: where the
optimiser starts decides whether it arrives, and at what."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from sim.native.function import native
from sim.planner.guess.grid import (
    LONGEST_MOVE,
    GuessGrid,
    cheapest_cells,
    cheapest_tree,
    grid_of,
    swelling_m,
    traced,
)
from sim.planner.task.bodies import planar, positions, velocities
from sim.planner.task.open_start import is_lap
from sim.planner.task.task import Obstacle, Task
from sim.planner.task.terrain import SafeGround
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.world.path import arc_length

_DETOUR = 2.0
"""Times the shortest: longer ways are not worth an attempt."""
_CLOSED = 8
"""Sheets of the shortest way that are closed, one after the other, to find ways with one more detour."""
_SMOOTHING = 40
"""Times that a way is averaged with its neighbours, which rounds its corners."""


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
    grid: GuessGrid, start: np.ndarray, goal: np.ndarray, sheets: Sheets, most: int
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

    grid: GuessGrid
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
            there, back = (traced(before, cell) for _, before, _ in trees)
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


@native
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


@native
def _sides(places: np.ndarray, core: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(n,) `_side` of places (n, 3)."""
    out = np.empty(len(places), np.int64)
    for i in range(len(places)):
        out[i] = _side(places[i], core, axes)
    return out


@native
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


@native
def _passed_by_chords(
    a: np.ndarray, b: np.ndarray, cores: np.ndarray, axes: np.ndarray, marks: np.ndarray
) -> np.ndarray:
    """(n,) of chords from a (n, 3) to b (n, 3)."""
    out = np.empty(len(a), np.int64)
    for i in range(len(a)):
        out[i] = _passed(a[i], b[i], cores, axes, marks)
    return out


@native
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


_PLACES = 24
"""On a chord that are looked at."""


def route(
    stations: np.ndarray,
    obstacles: tuple[Obstacle, ...],
    ground: SafeGround | None,
    *,
    radius_m: float,
    plane: bool,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray | None:
    """Polyline (n, 3), the shortest through the stations (start, waypoints, goal); None where there is none."""
    legs = _legs(None, stations, obstacles, ground, radius_m, plane, low, high)
    return _joined([leg[0] for leg in legs]) if all(legs) else None


def routes(
    stations: np.ndarray,
    obstacles: tuple[Obstacle, ...],
    ground: SafeGround | None,
    *,
    radius_m: float,
    plane: bool,
    low: np.ndarray,
    high: np.ndarray,
    most: int,
) -> list[np.ndarray]:
    """Polylines through the stations, of each class of homotopy the shortest that was found, the shortest first.

    Between two stations as many as `most`; between others the shortest then. Empty where a station cannot be reached.
    """

    legs = _legs(most, stations, obstacles, ground, radius_m, plane, low, high)
    if not all(legs):
        return []
    best = [leg[0] for leg in legs]
    found = [_joined(best)]
    for i, leg in enumerate(legs):
        found += [_joined([*best[:i], other, *best[i + 1 :]]) for other in leg[1:]]
    return sorted(found, key=length_m)[:most]


def length_m(way: np.ndarray) -> float:
    """Of a polyline (n, 3)."""
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())


def _legs(
    most: int | None,
    stations: np.ndarray,
    obstacles: tuple[Obstacle, ...],
    ground: SafeGround | None,
    radius_m: float,
    plane: bool,
    low: np.ndarray,
    high: np.ndarray,
) -> list[list[np.ndarray]]:
    """Ways from station to station, straightened: of so many classes the shortest, or the shortest of all."""
    if not obstacles and ground is None:
        return [[stations[i : i + 2]] for i in range(len(stations) - 1)]
    upright = ground is None and all(o.kind == "cylinder" for o in obstacles)
    flat = stations * [1.0, 1.0, 0.0] if upright else stations
    grid = grid_of(flat, obstacles, ground, radius_m, plane or upright, low.copy(), high.copy())
    cores = np.array([o.core_w for o in obstacles]).reshape(-1, 2, 3)
    if grid.cost.shape[2] == 1:
        cores[:, :, 2] = grid.low[2]
    legs = []
    for start, goal, (z0, z1) in zip(flat[:-1], flat[1:], pairwise(stations[:, 2]), strict=True):
        if most is None:
            sheets, found = None, _shortest(grid, start, goal)
        else:
            sheets = Sheets.between(start, goal, cores)
            found = cheapest_by_class(grid, start, goal, sheets, most)
        ways = [_straightened(way, obstacles, ground, radius_m, sheets) for way in found]
        for way in ways if upright else ():
            way[:, 2] = _even_climb(way, z0, z1)
        legs.append(ways)
    return legs


def _joined(legs: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([legs[0][:1], *(leg[1:] for leg in legs)])


def _even_climb(leg: np.ndarray, z0: float, z1: float) -> np.ndarray:
    """Heights along a leg, changing in proportion to the way made."""
    done = arc_length(leg[:, :2])
    return z0 + (z1 - z0) * done / max(done[-1], 1e-9)


def _shortest(grid: GuessGrid, start: np.ndarray, goal: np.ndarray) -> list[np.ndarray]:
    cells = cheapest_cells(
        grid.between(start, goal), grid.moves, grid.flat_index(start), grid.flat_index(goal)
    )
    return [grid.way(cells, start, goal)] if cells.size else []


def _straightened(
    way: np.ndarray,
    obstacles: tuple[Obstacle, ...],
    ground: SafeGround | None,
    radius_m: float,
    sheets: Sheets | None,
) -> np.ndarray:
    """Corners of the way that are needed: others are skipped where the chord is free, and of the class of the way."""
    share = np.linspace(0.0, 1.0, _PLACES)[1:-1, None]
    passed = np.zeros(len(way), int)
    if sheets is not None:
        passed[1:] = np.cumsum(sheets.passed(way[:-1], way[1:]))

    def free(at: int) -> np.ndarray:
        """Whether the chords from a corner to those after its next one are."""
        chords = way[at + 2 :, None] - way[at]
        apart = np.linalg.norm(chords, axis=2) / (_PLACES - 1)
        x = (way[at] + share * chords).reshape(-1, 3)
        clear = np.ones((len(chords), len(share)), bool)
        for obstacle in obstacles:
            distance = obstacle.distance(x).reshape(clear.shape)
            clear &= distance >= 1.15 * radius_m + 1e-3 + swelling_m(obstacle, radius_m, apart)
        if ground is not None:
            clear &= (x[:, 2] > ground.upright_m(x[:, 0], x[:, 1])).reshape(clear.shape)
        same = np.ones(len(chords), bool)
        if sheets is not None:
            ends = way[at + 2 :]
            same = sheets.passed(np.broadcast_to(way[at], ends.shape), ends) == passed[at + 2 :] - passed[at]
        return np.asarray(clear.all(axis=1) & same)

    kept, at = [way[0]], 0
    while at < len(way) - 1:
        ahead = np.flatnonzero(free(at))
        at = int(ahead[-1]) + at + 2 if ahead.size else at + 1
        kept.append(way[at])
    return np.array(kept)


def paced(way: np.ndarray, count: int, *, from_rest: bool, to_rest: bool, gently: bool = False) -> np.ndarray:
    """(count+1, 3): the polyline walked in equal times, slow where it starts or ends at rest, corners rounded.

    gently: with no jump of the velocity where it starts or ends at rest.
    """
    lengths = arc_length(way)
    t = np.linspace(0.0, 1.0, count + 1)
    progress = _progress(t, from_rest, to_rest, 0.0 if gently else 1.0)
    out = np.stack([np.interp(progress * lengths[-1], lengths, way[:, i]) for i in range(3)], axis=1)
    if len(way) > 2:
        for _ in range(_SMOOTHING):
            out[1:-1] = 0.25 * out[:-2] + 0.5 * out[1:-1] + 0.25 * out[2:]
    return out


def _progress(t: np.ndarray, from_rest: bool, to_rest: bool, jump: float) -> np.ndarray:
    """jump: 1: the velocity at rest is that of the usual pace; 0: it is 0."""
    if from_rest and to_rest:
        even = 0.5 * jump
        return even * t + (1.0 - even) * (10 * t**3 - 15 * t**4 + 6 * t**5)
    even = 0.4 * jump
    if from_rest:
        return even * t + (1.0 - even) * t**2
    if to_rest:
        return 1.0 - (even * (1 - t) + (1.0 - even) * (1 - t) ** 2)
    return t


def path_of(vehicle: Vehicle, task: Task) -> np.ndarray | None:
    """Polyline from start to goal through the waypoints, around everything; None where there is none."""
    stations, plane, low, high = _space(vehicle, task)
    return route(
        stations, task.obstacles, task.ground, radius_m=reach_m(task), plane=plane, low=low, high=high
    )


def paths_of(vehicle: Vehicle, task: Task, most: int) -> list[np.ndarray]:
    """Polylines of as many classes of homotopy, the shortest first, for a body that slips through lengthwise."""
    stations, plane, low, high = _space(vehicle, task)
    slim_m = max(ball[3] for ball in task.body) + task.clearance_m
    return routes(
        stations, task.obstacles, task.ground, radius_m=slim_m, plane=plane, low=low, high=high, most=most
    )


def stations_of(vehicle: Vehicle, task: Task) -> np.ndarray:
    """Start, waypoints and goal (n, 3)."""
    return _space(vehicle, task)[0]


def _space(vehicle: Vehicle, task: Task) -> tuple[np.ndarray, bool, np.ndarray, np.ndarray]:
    """Start, waypoints and goal (n, 3); whether all happens on a plane; the box to stay in."""
    ends = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    through = [np.array(w.position_w, float) for w in task.waypoints]
    stations = np.array([ends[0], *through, ends[1]])
    plane = planar(vehicle)
    if plane:
        stations[:, 2] = 0.0
    limits = task.limits
    low = np.array(limits.low_w if limits.low_w else (-np.inf,) * 3, float)
    high = np.array(limits.high_w if limits.high_w else (np.inf,) * 3, float)
    return stations, plane, low, high


def reach_m(task: Task) -> float:
    """Radius of the ball about the body origin that holds the vehicle, with its clearance."""
    return max(float(np.linalg.norm(b[:3])) + b[3] for b in task.body) + task.clearance_m


def paced_path(
    vehicle: Vehicle, task: Task, steps: int, way: np.ndarray | None = None, *, gently: bool = False
) -> np.ndarray:
    """(N+1, 3) places in equal times along a way, else the shortest; straight where there is no way around.

    gently: with no jump of the velocity at either end.
    """
    if way is None:
        way = path_of(vehicle, task)
    if way is None:
        way = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    if is_lap(vehicle, task):
        return paced(way, steps, from_rest=False, to_rest=False, gently=gently)
    moving = [i for i, _ in velocities(vehicle)]
    resting = [
        float(np.linalg.norm(s.node[moving])) < 0.2 * task.limits.speed_mps and demand != "free"
        for s, demand in ((task.start, "fixed"), (task.goal.state, task.goal.velocity))
    ]
    return paced(way, steps, from_rest=resting[0], to_rest=resting[1], gently=gently)
