"""Minutes of the scene `tank` under random thrust: `python -m benchmarks.tank_minutes [--minutes 10] [--cells 48]`.

Prints, for every minute, by how much the room that the water takes differs from what its particles fill when nothing
presses on them (mean and worst of thirty moments), how much lies denser than at rest in that moment at surfaces and in
spray, which the first does not count, the worst divergence that a step has left, and what a period of the
water (1/30 s) costs in processor time of its own thread. Ends with an error where anything is not a number. With fewer
cells (across, of a box of the same size) it is sooner done.
"""

import argparse
import time
from dataclasses import replace

import numpy as np

from sim.commands import PilotInput, SetPilotInput
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.water.flip import TankBox, TankWater
from sim.water.flip.box import PER_CELL
from sim.water.flip.coupled import WaterBox
from sim.world import load_world

_LOOKED_AT = 60
"""Every so many periods the volume is measured."""


def main() -> None:
    """Print a line a minute."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--cells", type=int, default=48)
    asked = parser.parse_args()
    scene = load_scene("tank")
    said = scene.environment
    assert isinstance(said, WaterBox)
    edge_m, cells = float(said.box.size_m[0]), asked.cells
    cell_m = edge_m / cells
    box = TankBox((cells, cells, cells // 16 * 8), cell_m, (-0.5 * edge_m, -0.5 * edge_m, 0.0))
    world = load_world("plaza")
    running = Simulation(replace(scene, environment=replace(said, box=box)), world)
    coupling = running.run.flown.coupling
    assert coupling is not None
    water = coupling.environment
    assert isinstance(water, TankWater)
    tank, spent, left, volumes = water.tank, [], [], []
    advance = tank.advance

    def timed(*given):  # type: ignore[no-untyped-def]
        begun = time.thread_time()
        out = advance(*given)
        spent.append(time.thread_time() - begun)
        left.append(tank.left)
        if len(left) % _LOOKED_AT == 0:  # here, in the water's own thread: between two steps
            volumes.append((tank.volume_m3, tank.crowded_m3))
        return out

    tank.advance = timed  # type: ignore[method-assign]
    random, full_m3 = np.random.default_rng(5), tank.count / PER_CELL * cell_m**3
    print(
        f"{'minute':>6} {'volume':>9} {'worst':>9} {'crowded':>8} {'divergence':>11} {'ms':>7}   {tank.count} particles"
    )
    for minute in range(1, asked.minutes + 1):
        for _ in range(30):
            thrust, turn = random.uniform(-1.0, 1.0, 2).tolist()
            running.submit(SetPilotInput(PilotInput(pitch=thrust, roll=turn)))
            running.advance(2.0)
        if not (np.isfinite(tank.place).all() and np.isfinite(tank.velocity).all()):
            raise SystemExit(f"not a number after {minute} minutes")
        if not running.run.flown.running:
            raise SystemExit(f"the boat stopped in minute {minute}: {running.snapshot.message}")
        strays, crowded = (100.0 * np.array(volumes) / full_m3 - (100.0, 0.0)).T
        worst = np.abs(strays).argmax()
        print(
            f"{minute:6d} {strays.mean():8.2f}% {strays[worst]:8.2f}% {crowded[worst]:7.2f}% {max(left):11.1e} "
            f"{1e3 * np.median(spent):7.1f}",
            flush=True,
        )
        spent.clear()
        left.clear()
        volumes.clear()


if __name__ == "__main__":
    main()
