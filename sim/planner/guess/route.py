"""Ways around obstacles and terrain on a grid: where the optimiser starts decides whether it arrives, and at what."""

from collections.abc import Callable

import numpy as np

from sim.planner.guess.grid import Grid, grid_of, swelling_m
from sim.planner.guess.grid_search import cheapest_cells
from sim.planner.guess.homotopy import cheapest_by_class
from sim.planner.task.obstacles import Capsule, Obstacle, true_distance
from sim.planner.task.terrain import SafeGround

_PLACES = 24
"""On a chord that are looked at."""
_Legs = Callable[[Grid, np.ndarray, np.ndarray], list[np.ndarray]]


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
    legs = _legs(_shortest, stations, obstacles, ground, radius_m, plane, low, high)
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

    def classes(grid: Grid, start: np.ndarray, goal: np.ndarray) -> list[np.ndarray]:
        centres = [_centre(o) for o in obstacles]
        return cheapest_by_class(grid, start, goal, np.array(centres).reshape(-1, 3), most)

    legs = _legs(classes, stations, obstacles, ground, radius_m, plane, low, high)
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
    search: _Legs,
    stations: np.ndarray,
    obstacles: tuple[Obstacle, ...],
    ground: SafeGround | None,
    radius_m: float,
    plane: bool,
    low: np.ndarray,
    high: np.ndarray,
) -> list[list[np.ndarray]]:
    """Ways from station to station as a search on the grid finds them, straightened."""
    if not obstacles and ground is None:
        return [[stations[i : i + 2]] for i in range(len(stations) - 1)]
    upright = ground is None and all(o.kind == "cylinder" for o in obstacles)
    flat = stations * [1.0, 1.0, 0.0] if upright else stations
    grid = grid_of(flat, obstacles, ground, radius_m, plane or upright, low.copy(), high.copy())
    legs = []
    for i in range(len(stations) - 1):
        ways = [_straightened(way, obstacles, ground, radius_m) for way in search(grid, flat[i], flat[i + 1])]
        for way in ways if upright else ():
            way[:, 2] = _even_climb(way, stations[i, 2], stations[i + 1, 2])
        legs.append(ways)
    return legs


def _joined(legs: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([legs[0][:1], *(leg[1:] for leg in legs)])


def _centre(obstacle: Obstacle) -> np.ndarray:
    """(3,) m, in the middle of it."""
    ends = (obstacle.start_w, obstacle.end_w) if isinstance(obstacle, Capsule) else (obstacle.centre_w,)
    return np.mean(ends, axis=0)


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
            clear &= distance >= 1.15 * radius_m + 1e-3 + swelling_m(obstacle, radius_m, apart)
        if ground is not None:
            clear &= (x[:, 2] > ground.height(x[:, 0], x[:, 1])).reshape(clear.shape)
        return np.asarray(clear.all(axis=1))

    kept, at = [way[0]], 0
    while at < len(way) - 1:
        ahead = np.flatnonzero(free(at))
        at = int(ahead[-1]) + at + 2 if ahead.size else at + 1
        kept.append(way[at])
    return np.array(kept)
