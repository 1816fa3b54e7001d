"""What a step of the splashing water costs, part by part: `python -m benchmarks.water_box`.

CPU time of one thread, medians, for a box of water with waves and a floating hull, 1/60 s a step.
"""

import time
from collections import defaultdict

import numpy as np

from sim.environment.flip import Body, Box, Floating, Tank
from sim.environment.hull import Hull

SIZES = ((32, 32, 16), (48, 48, 24), (64, 64, 32))
EDGE_M = 7.2
HULL_M = (1.6, 1.0, 0.6)
PARTS = ("collect", "meet", "project", "move")
_STEPS, _FIRST = 40, 10


def _timed(tank: Tank, spent: dict[str, list[float]]) -> None:
    """Have each part of a step put its time down."""
    for name in PARTS:
        owner, kept = (tank._obstruction, "meet") if name == "meet" else (tank, f"_{name}")

        def part(*given: object, name: str = name, does: object = getattr(owner, kept)) -> None:
            begun = time.thread_time()
            does(*given)  # type: ignore[operator]
            spent[name].append(time.thread_time() - begun)

        setattr(owner, kept, part)


def main() -> None:
    """Print one line a size."""
    print(f"{'cells':>12} {'particles':>9} {'step ms':>8}  its  {'  '.join(PARTS)}  ms")
    for cells in SIZES:
        cell = EDGE_M / cells[0]
        mass = 500.0 * float(np.prod(HULL_M))
        squares = np.square(HULL_M)
        inertia = np.diag([*(mass / 12 * (squares.sum() - squares)), mass, mass, mass])
        x = np.arange(cells[0]) / cells[0]
        depth = np.broadcast_to(1.8 + 0.25 * np.cos(2 * np.pi * x), (cells[1], cells[0]))
        tank = Tank(Box(cells, cell), depth, floating=Floating.of(Hull.box(*HULL_M), cell))
        T_wb = np.eye(4)
        T_wb[:3, 3] = 0.5 * EDGE_M, 0.5 * EDGE_M, 1.85
        tank.make_room(T_wb)
        spent: dict[str, list[float]] = defaultdict(list)
        _timed(tank, spent)
        whole, iterations = [], []
        for _ in range(_STEPS):
            begun = time.thread_time()
            tank.advance(1 / 60, Body(T_wb, np.zeros(6), inertia))
            whole.append(time.thread_time() - begun)
            iterations.append(tank.iterations)
        parts = "  ".join(f"{1e3 * float(np.median(spent[p][_FIRST:])):7.2f}" for p in PARTS)
        size = "x".join(map(str, cells))
        print(
            f"{size:>12} {tank.count:9d} {1e3 * float(np.median(whole[_FIRST:])):8.2f} "
            f"{np.mean(iterations[_FIRST:]):4.1f}  {parts}"
        )


if __name__ == "__main__":
    main()
