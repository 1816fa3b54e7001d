"""Where an open box of water goes over into the sea about it.

Near the border velocities are drawn towards the sea's. Through the sides goes what the sea brings, and what evens out
a difference of level as a long wave that leaves would (R. A. Flather 1976), so that the box neither fills nor holds
waves back. Particles come in as planes of an evenly filled sea that moves with each face; those that leave are taken
out.
"""

import math

import numpy as np

from sim.native.function import native
from sim.water.flip.box import PER_CELL

RAMP = 8
"""Cells over which the box goes over into the sea."""
RATE = 10.0
"""At the border, velocities come to the sea's at this rate [1/s]; the rate falls to none as the square of the way."""
_LEVEL_CELLS, _LEVEL_ASIDE = 3, 4
"""The level at a side is that of so many columns inwards, and so many to either hand."""
_PLANES = 2.0
"""Planes of particles in a cell, along each axis."""
_BACK = 0.2
"""A plane has left when it is back by this fraction of the way between two."""
_HALF, _ONE = np.float32(0.5), np.float32(1.0)


@native
def draw_towards(
    sea: np.ndarray, before: np.ndarray, valid: np.ndarray, dt: float, by: np.ndarray, faces: np.ndarray
) -> None:
    """Change the faces' velocities towards the sea's, all (3, nz + 2, ny + 2, nx + 2), as `before` differs from it.

    by (RAMP + 1,) is for what lies between.
    """
    _, nz, ny, nx = faces.shape
    for m in range(RAMP + 1):
        fraction = 1.0 - m / RAMP
        by[m] = 1.0 - math.exp(-dt * RATE * fraction * fraction)
    for c in range(3):
        for k in range(1, nz - 1):
            for j in range(1, ny - 1):
                way = min(k - 1, j - 1, ny - 2 - j)
                for i in range(1, nx - 1):
                    at = min(way, i - 1, nx - 2 - i)
                    if at < RAMP and valid[c, k, j, i] != 0:
                        faces[c, k, j, i] += np.float32(by[at]) * (sea[c, k, j, i] - before[c, k, j, i])


@native
def _out_through(
    density: np.ndarray,
    height: np.ndarray,
    gravity: float,
    axis: int,
    side: int,
    over: np.ndarray,
    deep: np.ndarray,
) -> None:
    """Velocity out of one side for the level over the sea's, in over (length + 2,); deep is for what lies between."""
    nz, ny, nx = density.shape
    length = ny if axis == 0 else nx
    for u in range(1, length - 1):
        over[u], deep[u] = 0.0, 0.0
        for m in range(_LEVEL_CELLS):
            if axis == 0:
                i, j = 1 + m if side == 0 else nx - 2 - m, u
            else:
                i, j = u, 1 + m if side == 0 else ny - 2 - m
            level = 1.0
            for k in range(1, nz - 1):
                level += density[k, j, i]
            over[u] += (level - height[j, i]) / _LEVEL_CELLS
            deep[u] += (height[j, i] - 1.0) / _LEVEL_CELLS
    for u in range(1, length - 1):
        deep[u] = math.sqrt(gravity / max(deep[u], 1.0))
    for u in range(1, length - 1):
        first, last = max(u - _LEVEL_ASIDE, 1), min(u + _LEVEL_ASIDE, length - 2)
        mean = 0.0
        for v in range(first, last + 1):
            mean += over[v]
        deep[u] *= mean / (last - first + 1)
    for u in range(1, length - 1):
        over[u] = deep[u]


@native
def let_through(
    sea: np.ndarray,
    height: np.ndarray,
    density: np.ndarray,
    gravity: float,
    over: np.ndarray,
    deep: np.ndarray,
    border: np.ndarray,
) -> None:
    """Velocities across the box's sides and bottom [cells/s], in border (3, nz + 2, ny + 2, nx + 2).

    The sea's, and outwards sqrt(g / depth) for each unit that the level inside stands over the sea's; gravity in
    cells/s^2, height (ny + 2, nx + 2) of the sea. over, deep (max(nx, ny) + 2,) are for what lies between.
    """
    _, nz, ny, nx = border.shape
    for side in range(2):
        outwards, at = 1.0 if side else -1.0, (nx - 1 if side else 1)
        _out_through(density, height, gravity, 0, side, over, deep)
        for k in range(1, nz - 1):
            for j in range(1, ny - 1):
                border[0, k, j, at] = sea[0, k, j, at] + np.float32(outwards * over[j])
        at = ny - 1 if side else 1
        _out_through(density, height, gravity, 1, side, over, deep)
        for k in range(1, nz - 1):
            for i in range(1, nx - 1):
                border[1, k, at, i] = sea[1, k, at, i] + np.float32(outwards * over[i])
    for j in range(1, ny - 1):
        for i in range(1, nx - 1):
            border[2, 1, j, i] = sea[2, 1, j, i]


@native
def _draw(i: int, j: int, k: int, number: int) -> tuple[np.float32, np.float32, np.float32]:
    """Three random numbers over [0, 1) that a cell has for each number: always the same."""
    h = np.uint64(i + 0x200000) * np.uint64(0x9E3779B97F4A7C15)
    h ^= np.uint64(j + 0x200000) * np.uint64(0xC2B2AE3D27D4EB4F)
    h ^= np.uint64(k + 0x200000) * np.uint64(0x165667B19E3779F9)
    h += np.uint64(number) * np.uint64(0xD6E8FEB86659FD93)
    h ^= h >> np.uint64(32)
    h *= np.uint64(0xD6E8FEB86659FD93)
    h ^= h >> np.uint64(29)
    h *= np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(31)
    unit = np.float32(2.0**-16)
    return (
        unit * np.float32(h & np.uint64(0xFFFF)),
        unit * np.float32((h >> np.uint64(16)) & np.uint64(0xFFFF)),
        unit * np.float32((h >> np.uint64(32)) & np.uint64(0xFFFF)),
    )


@native
def _put_in(
    place: np.ndarray,
    velocity: np.ndarray,
    count: int,
    x: np.float32,
    y: np.float32,
    z: np.float32,
    sea: np.ndarray,
    height: np.ndarray,
) -> int:
    """One particle more, with the sea's velocity, if that place is under the sea's surface and there is room."""
    i, j, k = int(x), int(y), int(z)
    if count >= len(place) or z > height[j, i]:
        return count
    fx, fy, fz = x - np.float32(i), y - np.float32(j), z - np.float32(k)
    place[count, 0], place[count, 1], place[count, 2] = x, y, z
    velocity[count, 0] = (_ONE - fx) * sea[0, k, j, i] + fx * sea[0, k, j, i + 1]
    velocity[count, 1] = (_ONE - fy) * sea[1, k, j, i] + fy * sea[1, k, j + 1, i]
    velocity[count, 2] = (_ONE - fz) * sea[2, k, j, i] + fz * sea[2, k + 1, j, i]
    return count + 1


@native
def shift_particles(
    place: np.ndarray,
    velocity: np.ndarray,
    count: int,
    shift: np.ndarray,
    number: np.ndarray,
    sea: np.ndarray,
    height: np.ndarray,
) -> int:
    """Shift the box by whole cells, shift (3,): particles out of it go, cells that come in are filled from the sea.

    place, velocity have room for more than `count`; number (3,) is that of the box's cell 0 in the world; sea (3, nz +
    2, ny + 2, nx + 2) and height (ny + 2, nx + 2) are those of the shifted box. Returns how many particles there are.
    """
    _, nz, ny, nx = sea.shape
    count = take_out(place, velocity, count, shift, nx, ny, nz)
    for k in range(1, nz - 1):
        known_k = 1 <= k + shift[2] < nz - 1
        for j in range(1, ny - 1):
            known_j = known_k and 1 <= j + shift[1] < ny - 1
            for i in range(1, nx - 1):
                if (known_j and 1 <= i + shift[0] < nx - 1) or k > height[j, i]:
                    continue
                for octant in range(PER_CELL):
                    a, b, c = _draw(number[0] + i, number[1] + j, number[2] + k, octant)
                    x = i + _HALF * (np.float32(octant & 1) + np.float32(0.25) + _HALF * a)
                    y = j + _HALF * (np.float32((octant >> 1) & 1) + np.float32(0.25) + _HALF * b)
                    z = k + _HALF * (np.float32(octant >> 2) + np.float32(0.25) + _HALF * c)
                    count = _put_in(
                        place, velocity, count, np.float32(x), np.float32(y), np.float32(z), sea, height
                    )
    return count


@native
def take_out(
    place: np.ndarray, velocity: np.ndarray, count: int, shift: np.ndarray, nx: int, ny: int, nz: int
) -> int:
    """Take out the particles at the border of the box shifted by shift (3,) cells; returns how many are left."""
    sx, sy, sz = np.float32(shift[0]), np.float32(shift[1]), np.float32(shift[2])
    low, beyond = np.float32(1.002), np.float32(1.002)
    high_x, high_y, high_z = np.float32(nx) - beyond, np.float32(ny) - beyond, np.float32(nz - 1)
    kept = 0
    for q in range(count):
        x, y, z = place[q, 0] - sx, place[q, 1] - sy, place[q, 2] - sz
        if low < x < high_x and low < y < high_y and low < z < high_z:
            place[kept, 0], place[kept, 1], place[kept, 2] = x, y, z
            for c in range(3):
                velocity[kept, c] = velocity[q, c]
            kept += 1
    return kept


@native
def bring_in(
    place: np.ndarray,
    velocity: np.ndarray,
    count: int,
    border: np.ndarray,
    dt: np.float32,
    step: int,
    phases: tuple[np.ndarray, np.ndarray, np.ndarray],
    sea: np.ndarray,
    height: np.ndarray,
) -> int:
    """Particles that come in through sides and bottom within dt; returns how many there are then.

    phases: of x sides (2, nz + 2, ny + 2), y sides (2, nz + 2, nx + 2) and the bottom (1, ny + 2, nx + 2): how far the
    next plane has come to each face, 0..1.
    """
    _, _, ny, nx = border.shape
    for axis in range(3):
        phase = phases[axis]
        for side in range(phase.shape[0]):
            for v in range(1, phase.shape[1] - 1):
                for u in range(1, phase.shape[2] - 1):
                    if axis == 0:
                        at = 1 if side == 0 else nx - 1
                        inwards, top = border[0, v, u, at], height[u, at - side]
                    elif axis == 1:
                        at = 1 if side == 0 else ny - 1
                        inwards, top = border[1, v, at, u], height[at - side, u]
                    else:
                        at, top = 1, height[v, u]
                        inwards = border[2, 1, v, u]
                    come = phase[side, v, u] + np.float32(_PLANES) * dt * (-inwards if side else inwards)
                    if (v if axis < 2 else 1) > top:
                        phase[side, v, u] = _HALF
                        continue
                    if come < -_BACK:
                        come += _ONE
                    while come >= _ONE:
                        come -= _ONE
                        way = max(come / np.float32(_PLANES), np.float32(0.01))
                        n = at - way if side else at + way
                        for quarter in range(4):
                            a, b, _ = _draw(u, v, 4 * axis + side, 4 * step + quarter)
                            p = u + _HALF * (np.float32(quarter & 1) + a)
                            q = v + _HALF * (np.float32(quarter >> 1) + b)
                            x = n if axis == 0 else p
                            y = n if axis == 1 else (p if axis == 0 else q)
                            z = n if axis == 2 else q
                            count = _put_in(
                                place,
                                velocity,
                                count,
                                np.float32(x),
                                np.float32(y),
                                np.float32(z),
                                sea,
                                height,
                            )
                    phase[side, v, u] = come
    return count
