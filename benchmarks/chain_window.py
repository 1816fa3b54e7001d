"""A chain of 200 links with the window open at h = 5 ms: does it hold real time? `python -m benchmarks.chain_window`.
A ragdoll on the ground and a delta robot with its loops closed are looked at likewise.

The window opens on a screen of its own (Xvfb) and draws by software where there is no graphics card. Told are the
real-time factor, as the window shows it (1: all simulated time that was asked for was done), and a step's wall time.
Measured on two cores with a load of five beside: 55 us a step, real time x 1.00 throughout.
"""

import argparse
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

import sim
from sim.integrators import integrator
from sim.steppers.dynamics import tree_stepper
from tests.app.desktop import App, Screen

SCENE = """
title = "A long chain"
vehicle = "chain"
integrator = "{method}"
step_s = 0.005
flight_mode = "raw"
camera = "orbit"
[world]
name = "plain"
[start]
position_m = [0.0, 0.0, 0.0]
[parameters.chain]
links = {links}
"""


def step_us(links: int, method: str) -> tuple[float, float]:
    """Median and greatest wall time of a step [us] over the first ten seconds, without a window."""
    vehicle = sim.vehicle("chain", links=links)
    stepper, p = tree_stepper(vehicle, integrator(method)), vehicle.parameter_vector
    u, w = vehicle.neutral_controls, np.zeros(stepper.dim)
    y, costs = stepper.start(vehicle.default_state().node, u, p, 0.005), []
    for _ in range(1000):
        began = time.perf_counter()
        stepper.advance(y, u, w, p, 0.005, 2)
        costs.append(0.5e6 * (time.perf_counter() - began))
    return statistics.median(costs), max(costs)


def real_time_factors(scene: str, seconds: float) -> list[float]:
    """As the window shows them, four a second. `scene`: its name, or the text of one."""
    screen, factors = Screen(), []
    with tempfile.TemporaryDirectory() as folder, closing(screen):
        if "\n" in scene:
            file = Path(folder) / "long.toml"
            file.write_text(scene)
            scene = str(file)
        with closing(App(screen, Path(folder), scene, "--quality", "software")) as app:
            app.wait_until(lambda p: p["clock_s"] > 2.0, timeout_s=60.0, what="it moves")
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                time.sleep(0.25)
                shown = app.seen()
                if shown is not None:
                    factors.append(shown["real_time_factor"])
    return factors


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=200)
    parser.add_argument("--method", default="riqn")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--scenes", nargs="*", default=["ragdoll", "delta"], help="others to look at so")
    asked = parser.parse_args()
    median, greatest = step_us(asked.links, asked.method)
    print(f"{asked.method}, {asked.links} links, h = 5 ms: {median:.0f} us a step, at most {greatest:.0f} us")
    long = SCENE.format(method=asked.method, links=asked.links)
    for name, scene in {"this chain": long, **{name: name for name in asked.scenes}}.items():
        factors = real_time_factors(scene, asked.seconds)
        print(
            f"{name}, with the window open: real time x {statistics.median(factors):.3f}, at least {min(factors):.3f}"
        )


if __name__ == "__main__":
    main()
