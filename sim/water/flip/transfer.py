"""From particles to faces and back, as FLIP has it (Brackbill, Ruppel 1986; Zhu, Bridson 2005).

The particles' momentum goes to the grid, which then knows where water is and how full cells are. The grid's change
comes back to them, and they move with the grid: a particle keeps its own velocity but for that change, and a small
fraction of the grid's own velocity, which takes out what the grid cannot see.

Particles are taken by the block, and each step of the work is done for all of it: so loops are short enough for their
numbers to stay in registers, and several go through at once.
"""

import numpy as np

from sim.native.function import native, unordered
from sim.water.flip.box import PER_CELL

_LEAST_WEIGHT = 1e-4
HALF, ONE = np.float32(0.5), np.float32(1.0)


@unordered
def _give(
    sums: np.ndarray,
    rows: np.uint64,
    layers: np.uint64,
    i: np.uint64,
    j: np.uint64,
    k: np.uint64,
    fx: np.float32,
    fy: np.float32,
    fz: np.float32,
    value: np.float32,
) -> None:
    """Spread a value and its weight over the eight faces from (i, j, k) on, a row's four numbers at once.

    sums is flat; rows and layers are the strides along y and z.
    """
    gy, gz = ONE - fy, ONE - fz
    a1, b1 = ONE - fx, fx
    a0, b0 = a1 * value, b1 * value
    at = k * layers + j * rows + i * np.uint64(2)
    _add_row(sums, at, gz * gy, a0, a1, b0, b1)
    _add_row(sums, at + rows, gz * fy, a0, a1, b0, b1)
    _add_row(sums, at + layers, fz * gy, a0, a1, b0, b1)
    _add_row(sums, at + layers + rows, fz * fy, a0, a1, b0, b1)


@unordered
def _add_row(
    sums: np.ndarray,
    at: np.uint64,
    w: np.float32,
    a: np.float32,
    b: np.float32,
    c: np.float32,
    d: np.float32,
) -> None:
    sums[at] += w * a
    sums[at + np.uint64(1)] += w * b
    sums[at + np.uint64(2)] += w * c
    sums[at + np.uint64(3)] += w * d


@unordered(superword=True)
def to_faces(place: np.ndarray, velocity: np.ndarray, count: int, sums: np.ndarray) -> None:
    """Sum momentum and weight of the particles over the faces, sums (3, nz + 2, ny + 2, nx + 2, 2) float32."""
    sums[:] = 0.0
    along_x, along_y, along_z = sums[0].reshape(-1), sums[1].reshape(-1), sums[2].reshape(-1)
    rows, layers = np.uint64(2 * sums.shape[3]), np.uint64(2 * sums.shape[3] * sums.shape[2])
    for q in range(count):
        x, y, z = place[q, 0], place[q, 1], place[q, 2]
        i, fx, ih, fxh = _split(x)
        j, fy, jh, fyh = _split(y)
        k, fz, kh, fzh = _split(z)
        _give(along_x, rows, layers, i, jh, kh, fx, fyh, fzh, velocity[q, 0])
        _give(along_y, rows, layers, ih, j, kh, fxh, fy, fzh, velocity[q, 1])
        _give(along_z, rows, layers, ih, jh, k, fxh, fyh, fz, velocity[q, 2])


@unordered
def _split(x: np.float32) -> tuple[np.uint64, np.float32, np.uint64, np.float32]:
    """(whole, rest) of x and of x - 1/2."""
    whole, less = int(x), int(x - HALF)
    return np.uint64(whole), x - np.float32(whole), np.uint64(less), x - HALF - np.float32(less)


@native
def fold(sums: np.ndarray) -> None:
    """Add what fell outside the box to the faces inside, as if the water had its mirror image there."""
    _, nz, ny, nx, _ = sums.shape
    for c in range(3):
        if c != 0:
            for k in range(nz):
                for j in range(ny):
                    for m in range(2):
                        sums[c, k, j, 1, m] += sums[c, k, j, 0, m]
                        sums[c, k, j, nx - 2, m] += sums[c, k, j, nx - 1, m]
        if c != 1:
            for k in range(nz):
                for i in range(nx):
                    for m in range(2):
                        sums[c, k, 1, i, m] += sums[c, k, 0, i, m]
                        sums[c, k, ny - 2, i, m] += sums[c, k, ny - 1, i, m]
        if c != 2:
            for j in range(ny):
                for i in range(nx):
                    for m in range(2):
                        sums[c, 1, j, i, m] += sums[c, 0, j, i, m]
                        sums[c, nz - 2, j, i, m] += sums[c, nz - 1, j, i, m]


@native
def face_velocities(
    sums: np.ndarray, falls: np.float32, faces: np.ndarray, before: np.ndarray, valid: np.ndarray
) -> None:
    """Velocities of the faces before and after the fall of a step (along z), and which have some."""
    _, nz, ny, nx, _ = sums.shape
    for c in range(3):
        fall = falls if c == 2 else np.float32(0.0)
        for k in range(nz):
            for j in range(ny):
                for i in range(nx):
                    weight = sums[c, k, j, i, 1]
                    known = weight > _LEAST_WEIGHT
                    v = sums[c, k, j, i, 0] / weight if known else np.float32(0.0)
                    valid[c, k, j, i] = known
                    before[c, k, j, i] = v
                    faces[c, k, j, i] = v + fall if known else np.float32(0.0)


@native
def densities(sums: np.ndarray, room: np.ndarray, density: np.ndarray) -> None:
    """Fraction of each cell that is full, from the weights at its six faces over what these have room for."""
    nz, ny, nx = density.shape
    density[:] = 0.0
    half, full = np.float32(0.5 * PER_CELL), np.float32(PER_CELL)
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                weight = sums[0, k, j, i, 1] + sums[0, k, j, i + 1, 1]
                weight += sums[1, k, j, i, 1] + sums[1, k, j + 1, i, 1]
                weight += sums[2, k, j, i, 1] + sums[2, k + 1, j, i, 1]
                space = room[0, k, j, i] * (half if i == 1 else full)
                space += room[0, k, j, i + 1] * (half if i == nx - 2 else full)
                space += room[1, k, j, i] * (half if j == 1 else full)
                space += room[1, k, j + 1, i] * (half if j == ny - 2 else full)
                space += room[2, k, j, i] * (half if k == 1 else full)
                space += room[2, k + 1, j, i] * (half if k == nz - 2 else full)
                density[k, j, i] = weight / space if space > half else np.float32(0.0)


@unordered
def fastest(velocity: np.ndarray, count: int) -> float:
    """The greatest speed along an axis [cells/s]."""
    most = np.float32(0.0)
    for q in range(count):
        for c in range(3):
            most = max(most, abs(velocity[q, c]))
    return float(most)


KEPT = 0.97
"""Fraction of a particle's own velocity."""
_BLOCK = 64
_LOW = np.float32(1.0 + 1e-3)


def block() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `from_faces` works with."""
    size = 3 * _BLOCK
    return np.zeros((2, size), np.int32), np.zeros((7, size), np.float32), np.zeros(4 * size, np.float32)


@native
def pair_up(faces: np.ndarray, before: np.ndarray, pairs: np.ndarray) -> None:
    """Velocity and its change side by side, pairs (3, nz + 2, ny + 2, nx + 2, 2)."""
    _, nz, ny, nx = faces.shape
    for c in range(3):
        for k in range(nz):
            for j in range(ny):
                for i in range(nx):
                    pairs[c, k, j, i, 0] = faces[c, k, j, i]
                    pairs[c, k, j, i, 1] = faces[c, k, j, i] - before[c, k, j, i]


@unordered
def _split_blocks(
    x: np.ndarray, begin: int, n: int, whole: np.ndarray, rest: np.ndarray, less: np.ndarray, over: np.ndarray
) -> None:
    """Numbers from x[begin] on into what is whole and the rest, and the same of x - 1/2."""
    for m in range(n):
        here = x[begin + m]
        a, b = np.int32(here), np.int32(here - HALF)
        whole[m], rest[m] = a, here - np.float32(a)
        less[m], over[m] = b, here - HALF - np.float32(b)


@unordered
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


@unordered(superword=True)
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


@unordered(superword=True)
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
        _split_blocks(places, first, n, cells[0], numbers[0], cells[1], numbers[1])
        _take_all(along_x, along_y, along_z, rows, layers, n, cells, numbers, edges)
        for m in range(n):
            grid[m] = (ONE - ahead[m]) * edges[4 * m] + ahead[m] * edges[4 * m + 2]
            change[m] = (ONE - ahead[m]) * edges[4 * m + 1] + ahead[m] * edges[4 * m + 3]
        for m in range(n):
            own[first + m] = min(max(given * grid[m] + kept * (own[first + m] + change[m]), -most), most)
            middle[m] = min(max(places[first + m] + half * grid[m], _LOW), high[m])
        _split_blocks(middle, 0, n, cells[0], numbers[0], cells[1], numbers[1])
        _take_all(along_x, along_y, along_z, rows, layers, n, cells, numbers, edges)
        for m in range(n):
            grid[m] = (ONE - ahead[m]) * edges[4 * m] + ahead[m] * edges[4 * m + 2]
        for m in range(n):
            places[first + m] = min(max(places[first + m] + dt * grid[m], _LOW), high[m])
