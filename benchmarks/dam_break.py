"""A dam that breaks in the tank, beside measured fronts: what its lead hangs on.

    python -m benchmarks.dam_break [--cells 12 24]

Prints by how much the front is farther than measured at each measured moment, for several depths of water that count as
the front, on a bed that water slips along and on one that it sticks to, and how much earlier it is at each place.
"""

import argparse
import math

import numpy as np

from sim.water.flip.box import TankBox
from sim.water.flip.tank import Tank
from sim.water.immersion import GRAVITY

WHEN = np.array([0.84, 1.43, 1.83, 2.2, 2.51, 2.83, 3.11])
WHERE = np.array([1.22, 1.67, 2.11, 2.56, 3.0, 3.44, 3.89])
"""J. C. Martin, W. J. Moyce, "An experimental study of the collapse of liquid columns", 1952, n^2 = 2: time in
sqrt(a / (2 g)), front in a, for a column of width a and height 2 a."""
DEPTHS = (0.02, 0.05, 0.1, 0.2)
WIDE, HIGH, STEP_S = 64, 32, 1 / 60


def fronts(cells: int, *, sticks: bool) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) and places of the front (n, len(DEPTHS)), scaled as the measured ones; `cells` make up the width a.

    sticks: water in the lower half of the lowest cells is held, which is more than any bed does.
    """
    finer = cells / 12
    size = (round(WIDE * finer), 8, round(HIGH * finer))
    depth = np.zeros((size[1], size[0]))
    depth[:, :cells] = 2.0
    tank = Tank(TankBox(size, 1.0 / cells), depth)
    times, places = [], []
    for step in range(round(48 * finer)):
        tank.advance(STEP_S / finer)
        if sticks:
            tank.velocity[tank.place[:, 2] < 1.5, :2] = 0.0
        column = tank.density[1:-1, 1:-1, 1:-1].mean(axis=1).sum(axis=0) / cells
        times.append((step + 1) * STEP_S / finer * math.sqrt(2 * GRAVITY))
        places.append([_front(column, depth) / cells for depth in DEPTHS])
    return np.array(times), np.array(places)


def _front(column: np.ndarray, depth: float) -> float:
    """[cells] where a depth, in widths a, is passed for the last time."""
    last = int(np.nonzero(column >= depth)[0].max())
    return last + 0.5 + (column[last] - depth) / (column[last] - column[last + 1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, nargs="*", default=[12, 24], help="across the column")
    for cells in parser.parse_args().cells:
        for sticks in (False, True):
            print(f"{cells} cells across, a bed that water {'sticks to' if sticks else 'slips along'}")
            times, places = fronts(cells, sticks=sticks)
            for k, depth in enumerate(DEPTHS):
                ahead = 100 * (np.interp(WHEN, times, places[:, k]) / WHERE - 1)
                early = WHEN - np.interp(WHERE, places[:, k], times)
                print(f"  depth {depth:4.2f}  ahead {_row(ahead, '6.1f')} %   early {_row(early, '6.3f')}")


def _row(values: np.ndarray, form: str) -> str:
    return " ".join(format(value, form) for value in values)


if __name__ == "__main__":
    main()
