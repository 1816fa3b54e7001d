"""A shortest way around obstacles and terrain on a grid: where the optimiser starts decides whether it arrives."""

from dataclasses import dataclass

import numpy as np

from sim.planner.guess.grid_search import cheapest_cells
from sim.planner.task.obstacles import Box, Capsule, Obstacle, half_thickness_m, true_distance
from sim.planner.task.terrain import SafeGround

_CELLS = 14_000
_PENALTY = 1.5
_LONGEST_MOVE = float(np.sqrt(5.0))
"""From cell to cell, in their spacing: a knight's."""
_PLACES = 24
"""On a chord that are looked at."""


@dataclass(frozen=True)
class Grid:
    """Cells of a box, with what it costs to be in each; inf is forbidden."""

    low: np.ndarray
    spacing_m: float
    cost: np.ndarray
    """(nx, ny, nz), at least 1."""

    def index(self, x: np.ndarray) -> tuple[int, int, int]:
        i = np.clip(np.round((x - self.low) / self.spacing_m), 0, np.array(self.cost.shape) - 1).astype(int)
        return int(i[0]), int(i[1]), int(i[2])


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
    """Polyline (n, 3) through the stations (start, waypoints, goal); None where a station cannot be reached."""
    if not obstacles and ground is None:
        return stations
    upright = ground is None and all(o.kind == "cylinder" for o in obstacles)
    flat = stations * [1.0, 1.0, 0.0] if upright else stations
    grid = _grid(flat, obstacles, ground, radius_m, plane or upright, low.copy(), high.copy())
    legs = [stations[:1]]
    for i in range(len(stations) - 1):
        leg = _search(grid, flat[i], flat[i + 1])
        if leg is None:
            return None
        leg = _straightened(leg, obstacles, ground, radius_m)
        if upright:
            leg[:, 2] = _even_climb(leg, stations[i, 2], stations[i + 1, 2])
        legs.append(leg[1:])
    return np.concatenate(legs)


def _even_climb(leg: np.ndarray, z0: float, z1: float) -> np.ndarray:
    """Heights along a leg, changing in proportion to the way made."""
    done = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(leg[:, :2], axis=0), axis=1))]
    return z0 + (z1 - z0) * done / max(done[-1], 1e-9)


def _grid(
    stations: np.ndarray,
    obstacles: tuple[Obstacle, ...],
    ground: SafeGround | None,
    radius_m: float,
    plane: bool,
    low: np.ndarray,
    high: np.ndarray,
) -> Grid:
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
        swelling = _swelling(obstacle, radius_m, _LONGEST_MOVE * spacing)
        clear = np.minimum(clear, true_distance(obstacle, flat) - radius_m - swelling)
    if ground is not None:
        columns = points[:, :, 0].reshape(-1, 3)
        soil = ground.height(columns[:, 0], columns[:, 1]).reshape(*points.shape[:2], 1)
        clear = np.minimum(clear, (points[..., 2] - soil).ravel())
    comfort = max(1.5 * spacing, 0.5 * radius_m)
    cost = 1.0 + _PENALTY * np.clip(1.0 - clear / comfort, 0.0, 1.0)
    cost[clear < 0.0] = np.inf
    return Grid(low, spacing, cost.reshape(points.shape[:3]))


def _swelling(obstacle: Obstacle, radius_m: float, longest_move_m: np.ndarray | float) -> np.ndarray | float:
    """What has to be added to a wall so that no move leaps over it."""
    if not isinstance(obstacle, Box | Capsule):
        return 0.0
    return np.maximum(0.0, 0.5 * longest_move_m - radius_m - half_thickness_m(obstacle))


def _moves(flat: bool) -> np.ndarray:
    """(m, 3) steps between cells: to all neighbours, on a plane also knight's moves."""
    reach = (-2, -1, 0, 1, 2) if flat else (-1, 0, 1)
    steps = [(i, j, k) for i in reach for j in reach for k in ((0,) if flat else (-1, 0, 1))]
    return np.array([s for s in steps if np.gcd.reduce(np.abs(s)) == 1])


_MOVES = {flat: _moves(flat) for flat in (True, False)}


def _search(grid: Grid, start: np.ndarray, goal: np.ndarray) -> np.ndarray | None:
    a, b = grid.index(start), grid.index(goal)
    cost = grid.cost.copy()
    cost[a] = cost[b] = 1.0
    shape = cost.shape
    first, last = (int(np.ravel_multi_index(cell, shape)) for cell in (a, b))
    cells = cheapest_cells(cost, _MOVES[shape[2] == 1], first, last)
    if not cells.size:
        return None
    way = grid.low + grid.spacing_m * np.stack(np.unravel_index(cells, shape), axis=1)
    if len(way) == 1:
        return np.stack([start, goal])
    way[0], way[-1] = start, goal
    return way


def _straightened(
    way: np.ndarray, obstacles: tuple[Obstacle, ...], ground: SafeGround | None, radius_m: float
) -> np.ndarray:
    """Corners of the way that are needed: others are skipped where the chord is free."""
    share = np.linspace(0.0, 1.0, _PLACES)[1:-1, None]

    def free(at: int) -> np.ndarray:
        """Whether the chords from a corner to those after its next one are."""
        chords = way[at + 2 :, None] - way[at]
        apart = np.linalg.norm(chords, axis=2) / (_PLACES - 1)
        x = (way[at] + share * chords).reshape(-1, 3)
        clear = np.ones((len(chords), len(share)), bool)
        for obstacle in obstacles:
            distance = true_distance(obstacle, x).reshape(clear.shape)
            clear &= distance >= 1.15 * radius_m + 1e-3 + _swelling(obstacle, radius_m, apart)
        if ground is not None:
            clear &= (x[:, 2] > ground.height(x[:, 0], x[:, 1])).reshape(clear.shape)
        return np.asarray(clear.all(axis=1))

    kept, at = [way[0]], 0
    while at < len(way) - 1:
        ahead = np.flatnonzero(free(at))
        at = int(ahead[-1]) + at + 2 if ahead.size else at + 1
        kept.append(way[at])
    return np.array(kept)


def paced(way: np.ndarray, count: int, *, from_rest: bool, to_rest: bool, smoothing: int = 40) -> np.ndarray:
    """(count+1, 3): the polyline walked in equal times, slow where it starts or ends at rest, corners rounded."""
    lengths = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))]
    t = np.linspace(0.0, 1.0, count + 1)
    progress = _progress(t, from_rest, to_rest)
    out = np.stack([np.interp(progress * lengths[-1], lengths, way[:, i]) for i in range(3)], axis=1)
    if len(way) > 2:
        for _ in range(smoothing):
            out[1:-1] = 0.25 * out[:-2] + 0.5 * out[1:-1] + 0.25 * out[2:]
    return out


def _progress(t: np.ndarray, from_rest: bool, to_rest: bool) -> np.ndarray:
    if from_rest and to_rest:
        return 0.5 * t + 0.5 * (10 * t**3 - 15 * t**4 + 6 * t**5)
    if from_rest:
        return 0.4 * t + 0.6 * t**2
    if to_rest:
        return 1.0 - (0.4 * (1 - t) + 0.6 * (1 - t) ** 2)
    return t
