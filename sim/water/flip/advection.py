"""From faces to particles: the grid's change comes back to them, and they move with the grid.

FLIP (Brackbill, Ruppel 1986; Zhu, Bridson 2005): a particle keeps its own velocity but for the grid's change, and a
small share of the grid's own velocity, which takes out what the grid cannot see.

Particles are taken by the block, and each step of the work is done for all of it: so loops are short enough for their
numbers to stay in registers, and several go through at once.
"""

import numpy as np

from sim.compiled import allocating_nothing, superword
from sim.water.flip.transfer import HALF, ONE

KEPT = 0.97
"""Share of a particle's own velocity."""
_BLOCK = 64
_LOW = np.float32(1.0 + 1e-3)


def block() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `from_faces` works with."""
    size = 3 * _BLOCK
    return np.zeros((2, size), np.int32), np.zeros((7, size), np.float32), np.zeros(4 * size, np.float32)


@allocating_nothing
def pair_up(faces: np.ndarray, before: np.ndarray, pairs: np.ndarray) -> None:
    """Velocity and its change side by side, pairs (3, nz + 2, ny + 2, nx + 2, 2)."""
    _, nz, ny, nx = faces.shape
    for c in range(3):
        for k in range(nz):
            for j in range(ny):
                for i in range(nx):
                    pairs[c, k, j, i, 0] = faces[c, k, j, i]
                    pairs[c, k, j, i, 1] = faces[c, k, j, i] - before[c, k, j, i]


@allocating_nothing(fastmath=True)
def _split(
    x: np.ndarray, begin: int, n: int, whole: np.ndarray, rest: np.ndarray, less: np.ndarray, over: np.ndarray
) -> None:
    """Numbers from x[begin] on into what is whole and the rest, and the same of x - 1/2."""
    for m in range(n):
        here = x[begin + m]
        a, b = np.int32(here), np.int32(here - HALF)
        whole[m], rest[m] = a, here - np.float32(a)
        less[m], over[m] = b, here - HALF - np.float32(b)


@allocating_nothing(fastmath=True)
def _take(
    pairs: np.ndarray,
    at: np.uint64,
    rows: np.uint64,
    layers: np.uint64,
    fy: np.float32,
    fz: np.float32,
    edges: np.ndarray,
    to: np.uint64,
) -> None:
    """(velocity, change) of both ends of the cell's edge along x that has the rests fy, fz: four numbers at once."""
    gy, gz = ONE - fy, ONE - fz
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    w = gz * gy
    a, b, c, d = w * pairs[at], w * pairs[at + one], w * pairs[at + two], w * pairs[at + three]
    at += rows
    w = gz * fy
    a += w * pairs[at]
    b += w * pairs[at + one]
    c += w * pairs[at + two]
    d += w * pairs[at + three]
    at += layers
    w = fz * fy
    a += w * pairs[at]
    b += w * pairs[at + one]
    c += w * pairs[at + two]
    d += w * pairs[at + three]
    at -= rows
    w = fz * gy
    a += w * pairs[at]
    b += w * pairs[at + one]
    c += w * pairs[at + two]
    d += w * pairs[at + three]
    edges[to], edges[to + one], edges[to + two], edges[to + three] = a, b, c, d


@superword(fastmath=True)
def _take_all(
    along_x: np.ndarray,
    along_y: np.ndarray,
    along_z: np.ndarray,
    rows: np.uint64,
    layers: np.uint64,
    n: int,
    cells: np.ndarray,
    rests: np.ndarray,
    edges: np.ndarray,
) -> None:
    """Edges of a block's particles, component by component; rests[2] gets how far along its edge each lies.

    cells, rests: whole numbers and rests of the places, and of the places less 1/2.
    """
    rest, over, ahead = rests[0], rests[1], rests[2]
    two, four, eight, twelve = np.uint64(2), np.uint64(4), np.uint64(8), np.uint64(12)
    to = np.uint64(0)
    for m in range(0, n, 3):
        i, ih = np.uint64(cells[0, m]) * two, np.uint64(cells[1, m]) * two
        j, jh = np.uint64(cells[0, m + 1]) * rows, np.uint64(cells[1, m + 1]) * rows
        k, kh = np.uint64(cells[0, m + 2]) * layers, np.uint64(cells[1, m + 2]) * layers
        _take(along_x, kh + jh + i, rows, layers, over[m + 1], over[m + 2], edges, to)
        _take(along_y, kh + j + ih, rows, layers, rest[m + 1], over[m + 2], edges, to + four)
        _take(along_z, k + jh + ih, rows, layers, over[m + 1], rest[m + 2], edges, to + eight)
        to += twelve
    for m in range(0, n, 3):
        ahead[m], ahead[m + 1], ahead[m + 2] = rest[m], over[m], over[m]


@superword(fastmath=True)
def from_faces(
    place: np.ndarray,
    velocity: np.ndarray,
    count: int,
    pairs: np.ndarray,
    dt: np.float32,
    kept: np.float32,
    most: np.float32,
    cells: np.ndarray,
    numbers: np.ndarray,
    edges: np.ndarray,
) -> None:
    """Give the faces' change to the particles, and move them with the grid by the midpoint rule.

    None gets faster than `most` along an axis. cells, numbers, edges: what `block` gives.
    """
    _, nz, ny, nx, _ = pairs.shape
    along_x, along_y, along_z = pairs[0].reshape(-1), pairs[1].reshape(-1), pairs[2].reshape(-1)
    rows, layers = np.uint64(2 * nx), np.uint64(2 * nx * ny)
    own, places = velocity.reshape(-1), place.reshape(-1)
    ahead, grid, change, middle, high = numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]
    for m in range(0, len(high), 3):
        high[m] = np.float32(nx - 1 - 1e-3)
        high[m + 1] = np.float32(ny - 1 - 1e-3)
        high[m + 2] = np.float32(nz - 1 - 1e-3)
    half, given = HALF * dt, ONE - kept
    for first in range(0, 3 * count, 3 * _BLOCK):
        n = min(3 * _BLOCK, 3 * count - first)
        _split(places, first, n, cells[0], numbers[0], cells[1], numbers[1])
        _take_all(along_x, along_y, along_z, rows, layers, n, cells, numbers, edges)
        for m in range(n):
            grid[m] = (ONE - ahead[m]) * edges[4 * m] + ahead[m] * edges[4 * m + 2]
            change[m] = (ONE - ahead[m]) * edges[4 * m + 1] + ahead[m] * edges[4 * m + 3]
        for m in range(n):
            own[first + m] = min(max(given * grid[m] + kept * (own[first + m] + change[m]), -most), most)
            middle[m] = min(max(places[first + m] + half * grid[m], _LOW), high[m])
        _split(middle, 0, n, cells[0], numbers[0], cells[1], numbers[1])
        _take_all(along_x, along_y, along_z, rows, layers, n, cells, numbers, edges)
        for m in range(n):
            grid[m] = (ONE - ahead[m]) * edges[4 * m] + ahead[m] * edges[4 * m + 2]
        for m in range(n):
            places[first + m] = min(max(places[first + m] + dt * grid[m], _LOW), high[m])
