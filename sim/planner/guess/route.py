"""Ways around obstacles and terrain on a grid: where the optimiser starts decides whether it arrives, and at what."""

from itertools import pairwise

import numpy as np

from sim.planner.guess.grid import Grid, grid_of, swelling_m
from sim.planner.guess.grid_search import cheapest_cells
from sim.planner.guess.homotopy import Sheets, cheapest_by_class
from sim.planner.task.obstacles import Obstacle
from sim.planner.task.terrain import SafeGround

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
    done = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(leg[:, :2], axis=0), axis=1))]
    return z0 + (z1 - z0) * done / max(done[-1], 1e-9)


def _shortest(grid: Grid, start: np.ndarray, goal: np.ndarray) -> list[np.ndarray]:
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
            clear &= (x[:, 2] > ground.height(x[:, 0], x[:, 1])).reshape(clear.shape)
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
