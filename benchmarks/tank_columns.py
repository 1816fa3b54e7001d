"""How much room tall, thin columns of water keep while they fall: `python -m benchmarks.tank_columns [--odd N]`.

A column stands in a corner of an empty closed tank of 32 x 32 x 64 cells, 30 or 60 cells high, and falls for six times
sqrt(height of the tank / g). Prints, for columns of 2 to 16 cells across, the least share of its volume that is left at
any moment, when that is (in the same unit), what lies denser than at rest in that moment, the mean and the end, and how
deep the water would lie over the whole floor. What is missing lies in fewer cells than it fills at rest. With --odd so
many tanks of random cells, sizes and blocks of water are let go instead.
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


def odd(count: int, seed: int) -> None:
    """Print the least shares of its volume that water keeps in random tanks."""
    shares = []
    for number in range(count):
        rng = np.random.default_rng((seed, number))
        nx, ny, nz = (int(n) for n in 8 * rng.integers(1, 5, 3))
        cell_m, depth_m = 10 ** rng.uniform(-2.3, -0.3), np.zeros((ny, nx))
        for _ in range(rng.integers(1, 4)):
            x, y = rng.integers(nx), rng.integers(ny)
            long, wide = rng.integers(1, nx // 2), rng.integers(1, ny // 2)
            depth_m[y : y + wide, x : x + long] = nz * cell_m * rng.uniform(0.1, 1.0)
        tank = Tank(TankBox((nx, ny, nz), cell_m, (0.0, 0.0, 0.0)), depth_m)
        if tank.count < 100:
            continue
        full_m3, left = tank.count / PER_CELL * cell_m**3, []
        for _ in range(60):
            tank.advance(math.sqrt(nz * cell_m / GRAVITY) / STEPS_A_UNIT)
            tank.measure()
            left.append(tank.volume_m3 / full_m3)
        shares.append(100.0 * min(left))
    print(
        f"{len(shares)} tanks of seed {seed}: {min(shares):.0f} % is left at the worst moment of the worst, "
        f"{np.median(shares):.0f} % in the median; below 70 %: {sum(share < 70.0 for share in shares)}"
    )


def main() -> None:
    """Print the table, or what odd tanks keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--odd", type=int, default=0, help="random tanks instead of columns")
    parser.add_argument("--seed", type=int, default=3, help="of the random tanks")
    asked = parser.parse_args()
    if asked.odd:
        odd(asked.odd, asked.seed)
        return
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
