"""Round trips of another program: `python -m benchmarks.live`. A simulation in its thread, a client in this process."""

import os
import tempfile
import time

import numpy as np

import sim
from sim.live.server import Server
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world

ROUNDS = 2000


def main() -> None:
    """Print medians and the slowest of a hundred, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOLONOMY_CONFIG"] = folder
        scene = load_scene("canyon")
        simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
        server = Server(lambda: simulation, lambda name: None)
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
        finally:
            server.close()
            simulation.stop()


if __name__ == "__main__":
    main()
