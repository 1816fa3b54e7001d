"""What is to be drawn of a tank: the height of its surface, and the spray above it."""

from dataclasses import dataclass

import numpy as np

from sim.compiled import allocating_nothing
from sim.environment.flip.pressure import FULL
from sim.environment.flip.tank import Tank

MOST_SPRAY = 20000
"""Drops that are shown at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Splash:
    """The water of one moment."""

    corner_w: tuple[float, float, float]
    """Where the box begins [m]."""
    cell_m: float
    height_m: np.ndarray
    """(ny, nx) float32 of the surface over the middle of each column of cells, above the box's bottom."""
    spray_w: np.ndarray
    """(n, 3) float32 places of drops that fly [m]."""
    time_s: float


def splash(tank: Tank) -> Splash:
    """Of the tank as it is after its last step."""
    nx, ny, _ = tank.box.cells
    height = np.empty((ny, nx), np.float32)
    _heights(tank.density, height)
    spray = np.empty((MOST_SPRAY, 3), np.float32)
    count = _flying(tank.place, tank.density, spray)
    cell = tank.box.cell_m
    places = (spray[:count] - 1.0) * cell + np.asarray(tank.box.corner_w, np.float32)
    return Splash(tank.box.corner_w, cell, height * np.float32(cell), places.astype(np.float32), tank.clock_s)


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
def _flying(place: np.ndarray, density: np.ndarray, out: np.ndarray) -> int:
    """Particles in cells that are no water and touch none, out (n, 3); returns how many."""
    count = 0
    for q in range(len(place)):
        i, j, k = int(place[q, 0]), int(place[q, 1]), int(place[q, 2])
        if density[k, j, i] < FULL and density[k - 1, j, i] < FULL and count < len(out):
            for c in range(3):
                out[count, c] = place[q, c]
            count += 1
    return count
