"""From particles to faces: their momentum goes to the grid, which then knows where water is and how full cells are."""

import numpy as np

from sim.compiled import allocating_nothing, superword
from sim.water.flip.box import PER_CELL

_LEAST_WEIGHT = 1e-4
HALF, ONE = np.float32(0.5), np.float32(1.0)


@allocating_nothing(fastmath=True)
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


@allocating_nothing(fastmath=True)
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


@superword(fastmath=True)
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


@allocating_nothing(fastmath=True)
def _split(x: np.float32) -> tuple[np.uint64, np.float32, np.uint64, np.float32]:
    """(whole, rest) of x and of x - 1/2."""
    whole, less = int(x), int(x - HALF)
    return np.uint64(whole), x - np.float32(whole), np.uint64(less), x - HALF - np.float32(less)


@allocating_nothing
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


@allocating_nothing
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


@allocating_nothing
def densities(sums: np.ndarray, room: np.ndarray, density: np.ndarray) -> None:
    """Share of each cell that is full, from the weights at its six faces over what these have room for."""
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


@allocating_nothing(fastmath=True)
def fastest(velocity: np.ndarray, count: int) -> float:
    """The greatest speed along an axis [cells/s]."""
    most = np.float32(0.0)
    for q in range(count):
        for c in range(3):
            most = max(most, abs(velocity[q, c]))
    return float(most)
