"""What water costs: `python benchmarks/water.py`. Processor time of one core, medians.

Tiles of the sea at several sizes (the three tiles of a sea, divided by three), a step of a hull of 2,000 patches on
rough water between two moments at which the sea is known, and what a whole second of sailing takes.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from render.water.sea_fields import SeaFields
from sim.vehicle_config.config import HullMesh
from sim.water.ocean import Ocean, Sea
from sim.water.water import Water, Weather
from sim.water.wrench import CLOCK, SLAB_S, feel_water

SEA = Sea(9.0, 0.4, 40e3)
CELLS = (20, 12, 8)
"""Of a box: 4 (20 12 + 12 8 + 8 20) = 1,984 triangles."""


def median_ms(work: Callable[[int], object], count: int = 60) -> float:
    """Of the calling thread's own processor time."""
    work(0)
    times = []
    for k in range(1, count + 1):
        begun = time.thread_time()
        work(k)
        times.append(time.thread_time() - begun)
    return 1e3 * float(np.median(times))


def hull_water() -> tuple[Water, HullMesh]:
    """A box of four metres, half under water, on rough water."""
    hull = HullMesh.box(4.0, 2.0, 1.2, cells=CELLS)
    return Water.of(
        hull, Weather(SEA, (5.0, 2.0), 0.2, (0.2, 0.1)), drag=120.0, mass=4000.0, impact=0.5, air=1.0
    ), hull


def main() -> None:
    """Print the table."""
    print(f"{'':44s}{'ms':>8s}")
    for points in (64, 128, 256):
        ocean = Ocean(SEA, points=points)
        each = median_ms(lambda k, ocean=ocean: ocean.grids(0.1 * k)) / 3.0
        print(f"{f'a tile of {points} x {points}, six fields':44s}{each:8.3f}")
    water, hull = hull_water()
    fields = SeaFields(water.state)
    print(f"{'textures of a picture':44s}{median_ms(lambda k: fields.work_out(water.state, 0.1 * k)):8.3f}")
    pose = np.array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0.1], float)
    twist, inertia, out = np.zeros(6), np.full(6, 4000.0), np.zeros(6)
    env = water.env

    def within(k: int) -> None:
        water.report[CLOCK] = SLAB_S * (0.1 + 0.8 * (k % 50) / 50)
        feel_water(pose, twist, inertia, 1e-3, env, out)

    print(f"{f'a step of a hull of {len(hull.triangles)} patches':44s}{median_ms(within, 400):8.3f}")
    water.report[CLOCK] = 0.0

    def second(k: int) -> None:
        for _ in range(100):
            feel_water(pose, twist, inertia, 0.01, env, out)

    print(f"{'a second of it at steps of 0.01 s':44s}{median_ms(second, 6):8.1f}")


if __name__ == "__main__":
    main()
