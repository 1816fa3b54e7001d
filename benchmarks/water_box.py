"""What a step of the splashing water costs, part by part: `python -m benchmarks.water_box`.

CPU time of one thread, medians, for a box of water with waves and a floating hull, 1/60 s a step; then a period
(1/30 s) of the scene `open-sea` under way, with the sea about its box and what is drawn of it.
"""

import time
from collections import defaultdict

import numpy as np

from sim.commands import PilotInput, SetPilotInput
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.vehicle_config.config import HullMesh
from sim.water.flip import Floating, FloatingBody, Tank, TankBox, TankWater
from sim.world import load_world

SIZES = ((32, 32, 16), (48, 48, 24), (64, 64, 32))
EDGE_M = 7.2
HULL_M = (1.6, 1.0, 0.6)
PARTS = ("collect", "meet", "project", "move")
_STEPS, _FIRST = 40, 10
_UNDER_WAY_S = 3.0


def _timed(tank: Tank, spent: dict[str, list[float]]) -> None:
    """Have each part of a step put its time down."""
    for name in PARTS:
        owner, kept = (tank._obstruction, "meet") if name == "meet" else (tank, f"_{name}")

        def part(*given: object, name: str = name, does: object = getattr(owner, kept)) -> None:
            begun = time.thread_time()
            does(*given)  # type: ignore[operator]
            spent[name].append(time.thread_time() - begun)

        setattr(owner, kept, part)


def _under_way() -> None:
    """Print what the water's thread takes for a period."""
    running = Simulation(load_scene("open-sea"), load_world("sea"))
    coupling = running.run.flown.coupling
    assert coupling is not None
    water, spent = coupling.environment, []
    assert isinstance(water, TankWater)
    period = water._go_on

    def timed(body: FloatingBody) -> object:
        begun = time.thread_time()
        given = period(body)
        spent.append(time.thread_time() - begun)
        return given

    water._go_on = timed  # type: ignore[assignment,method-assign]
    running.submit(SetPilotInput(PilotInput(pitch=1.0)))
    running.advance(_UNDER_WAY_S)
    print(
        f"a period of open-sea, {water.tank.count} particles: {1e3 * float(np.median(spent[_FIRST:])):.1f} ms"
    )


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
        tank = Tank(TankBox(cells, cell), depth, floating=Floating.of(HullMesh.box(*HULL_M), cell))
        T_wb = np.eye(4)
        T_wb[:3, 3] = 0.5 * EDGE_M, 0.5 * EDGE_M, 1.85
        tank.displace_water(T_wb)
        spent: dict[str, list[float]] = defaultdict(list)
        _timed(tank, spent)
        whole, iterations = [], []
        for _ in range(_STEPS):
            begun = time.thread_time()
            tank.advance(1 / 60, FloatingBody(T_wb, np.zeros(6), inertia))
            whole.append(time.thread_time() - begun)
            iterations.append(tank.iterations)
        parts = "  ".join(f"{1e3 * float(np.median(spent[p][_FIRST:])):7.2f}" for p in PARTS)
        size = "x".join(map(str, cells))
        print(
            f"{size:>12} {tank.count:9d} {1e3 * float(np.median(whole[_FIRST:])):8.2f} "
            f"{np.mean(iterations[_FIRST:]):4.1f}  {parts}"
        )
    _under_way()


if __name__ == "__main__":
    main()
