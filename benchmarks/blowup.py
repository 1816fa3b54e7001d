"""The settings at which Runge-Kutta blows up, at a small step instead: who is nearer the reference there?

    python -m benchmarks.blowup [--step-ms 5] [--seconds 5]

Flies the scenes blowup, blowup-slab and blowup-racket untouched, and tells of each method how far it is from the
scenes' own reference solution in the end, as the Errors tab does.
"""

import argparse
from dataclasses import replace

from sim.scene import LaneSpec, load_scene
from sim.simulation import Simulation
from sim.world import load_world

SCENES = ("blowup", "blowup-slab", "blowup-racket")
METHODS = ("variational-exact", "variational", "rk4", "rk2")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step-ms", type=float, default=5.0)
    parser.add_argument("--seconds", type=float, default=5.0)
    chosen = parser.parse_args()
    step_s = chosen.step_ms / 1e3
    print(f"after {chosen.seconds:g} s at h = {chosen.step_ms:g} ms, off the reference by")
    for name in SCENES:
        scene = load_scene(name)
        lanes = tuple(LaneSpec(method, step_s) for method in METHODS[1:])
        scene = replace(scene, integrator=METHODS[0], step_s=step_s, lanes=lanes)
        snapshot = Simulation(scene, load_world(scene.world, seed=scene.seed)).advance(chosen.seconds)
        for lane in snapshot.lanes:
            off = lane.deviation
            if off is not None:
                print(
                    f"  {name:14s} {lane.integrator:18s} {off.rotation_rad:8.1e} rad {off.position_m:8.1e} m"
                )


if __name__ == "__main__":
    main()
