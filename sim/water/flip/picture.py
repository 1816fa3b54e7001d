"""What is to be drawn of a tank: the height of its surface, its foam, and the spray above it.

Cells are far larger than drops. Where particles at the surface rise faster than the surface about them, as where a bow
slams or a wave breaks, they throw drops (the idea of M. Ihmsen et al., "Unified spray, foam and air bubbles for
particle-based fluids", 2012, whose trapped air this excess stands for). Drops fly freely, are gone where they meet the
water again, and take nothing from it.
"""

import math

import numpy as np

from sim.native.function import native
from sim.water.flip.box import TankBox
from sim.water.flip.pressure import FULL
from sim.water.flip.tank import Tank
from sim.water.picture import MOST_SPRAY, BoxPicture, Spray

_TORN_MPS = 0.7
"""Particles that rise faster than the surface about them by more than this throw drops."""
_DROPS_PER_M = 14.0
"""Thrown by one particle for every metre that it goes beyond that."""
_FASTER, _ASIDE = 0.8, 0.25
"""The fastest drop's speed beyond its particle's, and their spread aside, as fractions of the particle's speed."""
_ABOUT = 3
"""Columns to each side whose mean is the surface about one."""
_NEAR = 0.8
"""Particles no deeper than this are at the surface [cells]."""


def thrown(
    place: np.ndarray,
    velocity: np.ndarray,
    height: np.ndarray,
    corner_w: tuple[float, float, float],
    cell_m: float,
    dt_s: float,
    seed: int,
) -> tuple[Spray, np.ndarray]:
    """Drops that particles (n, 3) [cells], [cells/s] throw within dt_s, and (ny, nx) how many leave each column.

    height (ny, nx) [cells] of the surface over the bottom of the box, infinite under a hull; equal seeds throw alike.
    """
    rise, count = np.zeros(height.shape, np.float32), np.zeros(height.shape, np.float32)
    _rising(place, velocity, height, rise, count)
    mean = np.empty_like(rise)
    _mean_about(rise, count, mean)
    picked = np.empty(len(place), np.int64)
    used = _torn(place, velocity, height, mean, np.float32(_TORN_MPS / cell_m), picked)
    picked = picked[:used]
    i, j = place[picked, :2].astype(int).T - 1
    excess_m = (velocity[picked, 2] - mean[j, i]) * cell_m - _TORN_MPS
    random = np.random.default_rng(seed)
    each = random.poisson(np.maximum(excess_m, 0.0) * dt_s * 30.0 * _DROPS_PER_M)
    drops = np.repeat(picked, each)
    v = velocity[drops] * np.float32(cell_m)
    speed = np.linalg.norm(v, axis=1, keepdims=True)
    v *= 1.0 + _FASTER * random.random((len(drops), 1), np.float32) ** 2
    v += np.float32(_ASIDE) * speed * random.standard_normal(v.shape, np.float32)
    scatter = random.uniform(-0.3, 0.3, v.shape) + dt_s * random.random((len(drops), 1)) * velocity[drops]
    places = (place[drops] - 1.0 + scatter) * cell_m + np.asarray(corner_w)
    left = np.zeros(height.shape, np.float32)
    np.add.at(left, (j, i), each.astype(np.float32))
    return Spray(places.astype(np.float32), v.astype(np.float32)), left


@native
def _rising(
    place: np.ndarray, velocity: np.ndarray, height: np.ndarray, rise: np.ndarray, count: np.ndarray
) -> None:
    """Sums of vertical speeds of the particles at the surface of each column, and how many there are."""
    for q in range(len(place)):
        i, j = int(place[q, 0]) - 1, int(place[q, 1]) - 1
        if place[q, 2] - np.float32(1.0) > height[j, i] - np.float32(_NEAR):
            rise[j, i] += velocity[q, 2]
            count[j, i] += np.float32(1.0)


@native
def _mean_about(rise: np.ndarray, count: np.ndarray, mean: np.ndarray) -> None:
    ny, nx = rise.shape
    for j in range(ny):
        for i in range(nx):
            total, number = np.float32(0.0), np.float32(1e-6)
            for b in range(max(j - _ABOUT, 0), min(j + _ABOUT + 1, ny)):
                for a in range(max(i - _ABOUT, 0), min(i + _ABOUT + 1, nx)):
                    total += rise[b, a]
                    number += count[b, a]
            mean[j, i] = total / number


@native
def _torn(
    place: np.ndarray,
    velocity: np.ndarray,
    height: np.ndarray,
    mean: np.ndarray,
    least: np.float32,
    out: np.ndarray,
) -> int:
    """Numbers of the particles at the surface that rise and leave the surface about them behind; how many."""
    used = 0
    for q in range(len(place)):
        i, j = int(place[q, 0]) - 1, int(place[q, 1]) - 1
        v = velocity[q, 2]
        if (
            v > least
            and v - mean[j, i] > least
            and place[q, 2] - np.float32(1.0) > height[j, i] - np.float32(_NEAR)
        ):
            out[used] = q
            used += 1
    return used


_LOOKED_AGAIN_S = 0.3
"""Spray that was seen longer ago is another one."""
_BROKEN = 4.0
"""Drops over a column that make its surface white."""
_FOAM_S = 2.5
"""Foam fades to 1/e in this time."""


def pictured(tank: Tank, before: BoxPicture | None = None) -> BoxPicture:
    """Of the tank as it is after its last step; `before`: what was drawn last, whose foam is still there in part."""
    box, cell = tank.box, tank.box.cell_m
    nx, ny, _ = box.cells
    height, broken = np.empty((ny, nx), np.float32), np.zeros((ny, nx), np.float32)
    _heights(tank.density, height)
    covered = tank.blocked[2, 1:-1, 1:-1, 1:-1].max(axis=0) > 0.5
    _close_up(height, covered)
    spray = np.empty((MOST_SPRAY, 3), np.float32)
    count = _flying(tank.place, tank.density, spray, broken)
    passed_s = 0.0 if before is None else tank.clock_s - before.time_s
    drops = Spray.none()
    if before is not None and 0.0 < passed_s < _LOOKED_AGAIN_S:
        drops = before.spray.gone_on(passed_s, box.corner_w, cell, height * np.float32(cell))
        seed = round(tank.clock_s * 1e4)
        open_air = np.where(covered, np.float32(np.inf), height)
        new, left = thrown(tank.place, tank.velocity, open_air, box.corner_w, cell, passed_s, seed)
        drops, broken = drops.and_more(new), broken + left
    foam = np.minimum(broken / _BROKEN, 1.0).astype(np.float32)
    if before is not None:
        faded = math.exp(-max(passed_s, 0.0) / _FOAM_S)
        foam = np.maximum(foam, np.float32(faded) * _where_it_was(before, box))
    places = (spray[:count] - 1.0) * cell + np.asarray(box.corner_w, np.float32)
    size = box.size_m
    return BoxPicture(
        corner_w=box.corner_w,
        cell_m=cell,
        size_m=(float(size[0]), float(size[1]), float(size[2])),
        height_m=height * np.float32(cell),
        foam=foam,
        paddle_m=None if tank.paddle is None else tank.paddle.place_m(tank.clock_s),
        spray_w=places.astype(np.float32),
        time_s=tank.clock_s,
        in_sea=tank.sea is not None,
        spray=drops,
    )


def _where_it_was(before: BoxPicture, box: TankBox) -> np.ndarray:
    """The foam of a picture over the columns of a box that stands elsewhere by whole cells."""
    east, north = (round((box.corner_w[k] - before.corner_w[k]) / box.cell_m) for k in range(2))
    if not (east or north):
        return before.foam
    ny, nx = before.foam.shape
    there = np.zeros_like(before.foam)
    if abs(east) < nx and abs(north) < ny:
        rows, columns = (slice(max(-n, 0), m - max(n, 0)) for n, m in ((north, ny), (east, nx)))
        from_rows, from_columns = (slice(max(n, 0), m - max(-n, 0)) for n, m in ((north, ny), (east, nx)))
        there[rows, columns] = before.foam[from_rows, from_columns]
    return there


def _close_up(height: np.ndarray, covered: np.ndarray) -> None:
    """Carry the surface one column in under a hull, so that no gap shows at its sides; deeper in nothing is drawn."""
    around, count = np.zeros_like(height), np.zeros_like(height)
    for dj, di in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
        free = ~np.roll(covered, (dj, di), (0, 1))
        around += np.where(free, np.roll(height, (dj, di), (0, 1)), 0.0)
        count += free
    edge = covered & (count > 0)
    height[edge] = np.maximum(height[edge], around[edge] / count[edge])


@native
def _heights(density: np.ndarray, out: np.ndarray) -> None:
    """Of the highest place in each column where the density passes one half [cells]."""
    nz, ny, nx = density.shape
    for j in range(1, ny - 1):
        for i in range(1, nx - 1):
            height = np.float32(0.0)
            for k in range(nz - 2, 0, -1):
                here = density[k, j, i]
                if here < FULL:
                    continue
                above = density[k + 1, j, i]
                if k == nz - 2 or above >= FULL:
                    height = np.float32(nz - 2)
                else:
                    height = np.float32(k) - np.float32(0.5) + (here - np.float32(FULL)) / (here - above)
                break
            out[j - 1, i - 1] = height


@native
def _flying(place: np.ndarray, density: np.ndarray, out: np.ndarray, broken: np.ndarray) -> int:
    """Particles in cells that are no water, with none below, out (n, 3); returns how many.

    broken (ny, nx) counts those over each column.
    """
    count = 0
    for q in range(len(place)):
        i, j, k = int(place[q, 0]), int(place[q, 1]), int(place[q, 2])
        if density[k, j, i] < FULL and density[k - 1, j, i] < FULL and count < len(out):
            for c in range(3):
                out[count, c] = place[q, c]
            broken[j - 1, i - 1] += np.float32(1.0)
            count += 1
    return count
