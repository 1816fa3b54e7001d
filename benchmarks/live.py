"""Round trips of another program: `python -m benchmarks.live`. A simulation in its thread, a client in this process.

Then what a reader costs that asks for a thousand snapshots a second and sleeps: simulated seconds a second beside it
and without it, in turn, and the memory that comes to be held.
"""

import os
import tempfile
import time
from concurrent.futures import Future

import numpy as np
import psutil

import sim
from sim.live.client import Connection
from sim.live.server import Server
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world

ROUNDS = 2000
ASLEEP_S, NAPS = 5.0, 3


def _pace(app: Connection) -> float:
    """Simulated seconds a second, over a nap."""
    began_s, from_s = time.perf_counter(), app.snapshot()["time_s"]
    time.sleep(ASLEEP_S)
    return (app.snapshot()["time_s"] - from_s) / (time.perf_counter() - began_s)


def main() -> None:
    """Print medians and the slowest of a hundred, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOLONOMY_CONFIG"] = folder
        scene = load_scene("canyon")
        simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
        server = Server(lambda: simulation, lambda name: Future())
        simulation.start()
        try:
            with sim.connect() as app:
                app.pause()
                controls = app.controls
                for what, ask in {
                    "controls, carried out": lambda: app.command("SetControls", values=controls.tolist()),
                    "controls, a step, what came of it": lambda: app.step(1, controls),
                    "what the window shows": app.snapshot,
                }.items():
                    taken = []
                    for _ in range(ROUNDS):
                        began = time.perf_counter()
                        ask()
                        taken.append(1e3 * (time.perf_counter() - began))
                    median, slow = np.quantile(taken, [0.5, 0.99])
                    print(f"{what:36} {median:6.2f} ms median, {slow:6.2f} ms at 99 %")
            with sim.connect() as app:
                app.command("Reset")
                app.resume()
                alone, beside, before = [], [], psutil.Process().memory_info().rss
                for _ in range(NAPS):
                    alone.append(_pace(app))
                    asleep = app.stream(every_s=0.001)
                    next(asleep)
                    beside.append(_pace(app))
                    asleep.close()
                held_MB = 1e-6 * (psutil.Process().memory_info().rss - before)
                print(f"simulated seconds a second: alone {np.median(alone):.3f}, ", end="")
                print(f"beside a reader that sleeps {np.median(beside):.3f}; {held_MB:.1f} MB more are held")
        finally:
            server.close()
            simulation.stop()


if __name__ == "__main__":
    main()
