"""A dam that breaks in the tank, beside measured fronts: what its lead hangs on.

    python -m benchmarks.dam_break [--cells 12 24]

Prints by how much the front is farther than measured at each measured moment, for several depths of water that count as
the front, on a bed that water slips along and on one that it sticks to, and how much earlier it is at each place.
"""

import argparse

import numpy as np

from studies.ledger.tank import DEPTHS, WHEN, WHERE, fronts


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
