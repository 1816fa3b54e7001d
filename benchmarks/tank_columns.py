"""How much room tall, thin columns of water keep while they fall: `python -m benchmarks.tank_columns`.

A column stands in a corner of an empty closed tank of 32 x 32 x 64 cells, 30 or 60 cells high, and falls for six times
sqrt(height of the tank / g). Prints, for columns of 2 to 16 cells across, the least share of its volume that is left at
any moment, when that is (in the same unit), what lies denser than at rest in that moment, the mean and the end, and how
deep the water would lie over the whole floor. What is missing lies in fewer cells than it fills at rest.
"""

import argparse
import math

import numpy as np

from sim.water.flip import Tank, TankBox
from sim.water.flip.box import PER_CELL
from sim.water.immersion import GRAVITY

CELLS, CELL_M = (32, 32, 64), 0.05
STEPS_A_UNIT, UNITS = 20, 6
WIDTHS, HEIGHTS = (2, 4, 8, 16), (30, 60)


def fallen(wide: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """Shares of its volume that a column of so many cells takes, and that lie denser than at rest, after every step."""
    nx, ny, nz = CELLS
    depth_m = np.zeros((ny, nx))
    depth_m[:wide, :wide] = high * CELL_M
    tank = Tank(TankBox(CELLS, CELL_M, (0.0, 0.0, 0.0)), depth_m)
    full_m3, unit_s = tank.count / PER_CELL * CELL_M**3, math.sqrt(nz * CELL_M / GRAVITY)
    found = []
    for _ in range(STEPS_A_UNIT * UNITS):
        tank.advance(unit_s / STEPS_A_UNIT)
        tank.measure()
        dense = np.maximum(tank.density[1:-1, 1:-1, 1:-1] - 1.0, 0.0).sum() * CELL_M**3
        found.append((tank.volume_m3 / full_m3, dense / full_m3))
    left, dense = np.array(found).T
    return left, dense


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    print("| column, cells | least | at | denser then | mean | end | would lie |")
    print("|---|---|---|---|---|---|---|")
    for wide in WIDTHS:
        for high in HEIGHTS:
            left, dense = fallen(wide, high)
            worst = int(left.argmin())
            deep = wide * wide * high / (CELLS[0] * CELLS[1])
            least, denser, mean, end = 100.0 * np.array([left[worst], dense[worst], left.mean(), left[-1]])
            print(
                f"| {wide} x {wide} x {high} | {least:.0f} % | {(worst + 1) / STEPS_A_UNIT:.1f} | {denser:.0f} % "
                f"| {mean:.0f} % | {end:.0f} % | {deep:.2f} cells |",
                flush=True,
            )


if __name__ == "__main__":
    main()
