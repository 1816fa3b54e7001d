"""What is to be drawn of a tank: the height of its surface, its foam, and the spray above it."""

import math

import numpy as np

from sim.compiled import allocating_nothing
from sim.water.box_picture import MOST_SPRAY, BoxPicture
from sim.water.drops import Spray
from sim.water.flip.box import Box
from sim.water.flip.pressure import FULL
from sim.water.flip.spray import thrown
from sim.water.flip.tank import Tank

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


def _where_it_was(before: BoxPicture, box: Box) -> np.ndarray:
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


@allocating_nothing
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


@allocating_nothing
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
