"""Reading the tiles at any place: particles by where they rest, and the water by where it is."""

import math

import numpy as np

from sim.compiled import allocating_nothing, compiled
from sim.water.ocean.synthesis import EAST, FIELDS, NORTH

_SEARCHES = 12
_FOUND_M = 1e-3


@allocating_nothing(fastmath=True)
def add_tile(grid: np.ndarray, edge: float, x: float, y: float, out: np.ndarray) -> None:
    """Add the fields of one tile (points, points, FIELDS), at the particle that rests at (x, y), to out (FIELDS,)."""
    points = grid.shape[0]
    u, v = x / edge * points, y / edge * points
    floor_u, floor_v = math.floor(u), math.floor(v)
    u -= floor_u
    v -= floor_v
    i, j = int(floor_u) % points, int(floor_v) % points
    i1, j1 = (i + 1) % points, (j + 1) % points
    near, right, far, across = grid[j, i], grid[j, i1], grid[j1, i], grid[j1, i1]
    a, b, c, d = (1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v
    for k in range(FIELDS):
        out[k] += a * near[k] + b * right[k] + c * far[k] + d * across[k]


@allocating_nothing
def particle(grids: np.ndarray, edges: np.ndarray, x: float, y: float, out: np.ndarray) -> None:
    """The fields of the particle that rests at (x, y), all tiles together, out (FIELDS,)."""
    out[:] = 0.0
    for tile in range(grids.shape[0]):
        add_tile(grids[tile], edges[tile], x, y, out)


@allocating_nothing
def rest_place(
    grids: np.ndarray, edges: np.ndarray, x: float, y: float, work: np.ndarray
) -> tuple[float, float]:
    """Where the surface's particle rests that is at (x, y) now; work (FIELDS,) gets its fields."""
    rest_x, rest_y = x, y
    for _ in range(_SEARCHES):
        particle(grids, edges, rest_x, rest_y, work)
        off_x, off_y = x - work[EAST] - rest_x, y - work[NORTH] - rest_y
        rest_x += off_x
        rest_y += off_y
        if off_x * off_x + off_y * off_y < _FOUND_M**2:
            break
    return rest_x, rest_y


@allocating_nothing
def velocity_below(
    grids: np.ndarray,
    edges: np.ndarray,
    decay: np.ndarray,
    rest_x: float,
    rest_y: float,
    depth: float,
    work: np.ndarray,
) -> tuple[float, float, float]:
    """World velocity of the water `depth` below the particle that rests there; none of it above.

    decay (tiles,) [rad/m]: each tile's motion fades with the depth as its mean wave's does.
    """
    vx = vy = vz = 0.0
    for tile in range(grids.shape[0]):
        work[:] = 0.0
        add_tile(grids[tile], edges[tile], rest_x, rest_y, work)
        left = math.exp(-decay[tile] * max(depth, 0.0))
        vx += left * work[4]
        vy += left * work[5]
        vz += left * work[3]
    return vx, vy, vz


@compiled
def heights_at(grids: np.ndarray, edges: np.ndarray, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Height of the surface at world places x, y (n,), out (n,)."""
    work = np.empty(FIELDS)
    for k in range(len(x)):
        rest_place(grids, edges, x[k], y[k], work)
        out[k] = work[0]


@compiled
def velocities_at(
    grids: np.ndarray, edges: np.ndarray, decay: np.ndarray, place_w: np.ndarray, out: np.ndarray
) -> None:
    """Velocity of the water at world places (n, 3), out (n, 3)."""
    work = np.empty(FIELDS)
    for k in range(len(place_w)):
        rest_x, rest_y = rest_place(grids, edges, place_w[k, 0], place_w[k, 1], work)
        vx, vy, vz = velocity_below(grids, edges, decay, rest_x, rest_y, work[0] - place_w[k, 2], work)
        out[k, 0], out[k, 1], out[k, 2] = vx, vy, vz
