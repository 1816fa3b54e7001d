"""Lanes in real time: `python benchmarks/lanes.py [--lanes 8] [--step-ms 1] [--seconds 6] [--no-picture]`.

Runs the canyon's helicopter under the autopilot with ghosts of several methods, all at one step, in the simulation's
own thread. First alone, then with the main thread drawing the scene as fast as it can, as an open window does; with
the share of one core that the simulation takes when it runs as fast as it goes.
"""

import argparse
import math
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sim.commands import SetDemo, SetReference
from sim.scene import LaneSpec, Scene, load_scene
from sim.simulation import Simulation
from sim.world import World, load_world

METHODS = (
    "variational",
    "rk4",
    "rk2",
    "variational-exp",
    "variational-cay",
    "variational-split",
    "lie-euler",
)


def scene_of(lanes: int, step_s: float) -> Scene:
    """The canyon with ghosts beside the flown lane."""
    ghosts = tuple(LaneSpec(METHODS[k % len(METHODS)], step_s, name=f"ghost {k}") for k in range(lanes - 1))
    return replace(load_scene("canyon"), step_s=step_s, lanes=ghosts)


def in_one_thread(scene: Scene, world: World, seconds: float) -> float:
    """Wall seconds per simulated second, with a snapshot 120 times a second."""
    simulation = Simulation(scene, world)
    simulation.submit(SetDemo(True))
    simulation.submit(SetReference(True))
    simulation.advance(1.0)
    began = time.perf_counter()
    for _ in range(round(120 * seconds)):
        simulation.advance(1.0 / 120.0)
    return (time.perf_counter() - began) / seconds


class Picture:
    """What the window's main thread does besides panels."""

    def __init__(self, scene: Scene, world: World, size_px: tuple[int, int]) -> None:
        from export.studio import Studio

        self._studio = Studio(scene, world, size_px=size_px, quality="auto")

    def draw(self, simulation: Simulation, dt_s: float) -> None:
        self._studio.follow(simulation.snapshot, dt_s)
        self._studio.picture()

    def release(self) -> None:
        self._studio.release()


def live(scene: Scene, world: World, seconds: float, picture: Picture | None) -> tuple[list[float], int]:
    """Real-time factors sampled over a run in the simulation's thread, and frames drawn."""
    simulation = Simulation(scene, world)
    simulation.submit(SetDemo(True))
    simulation.submit(SetReference(True))
    if picture is not None:
        picture.draw(simulation, 0.0)
    simulation.start()
    factors: list[float] = []
    frames, began, last = 0, time.perf_counter(), time.perf_counter()
    while (now := time.perf_counter()) - began < seconds:
        if picture is None:
            time.sleep(1.0 / 60.0)
        else:
            picture.draw(simulation, now - last)
        last, frames = now, frames + 1
        factor = simulation.snapshot.real_time_factor
        if now - began > 1.0 and math.isfinite(factor):
            factors.append(factor)
    stopped = [lane.name for lane in simulation.snapshot.lanes if lane.status.value != "running"]
    simulation.stop()
    if stopped:
        print(f"  stopped on the way: {', '.join(stopped)}")
    return factors, frames


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--lanes", type=int, default=8)
    parser.add_argument("--step-ms", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--no-picture", action="store_true")
    options = parser.parse_args()
    scene = scene_of(options.lanes, options.step_ms / 1e3)
    world = load_world(scene.world, seed=scene.seed)
    print(f"{options.lanes} lanes at h = {options.step_ms:g} ms, a reference beside them")
    share = in_one_thread(scene, world, options.seconds)
    print(f"as fast as it goes:   {share:.3f} s a simulated second")
    factors, _ = live(scene, world, options.seconds, None)
    print(f"thread alone:         real time x {statistics.median(factors):.3f}, worst {min(factors):.3f}")
    if options.no_picture:
        return
    picture = Picture(scene, world, (936, 628))
    factors, frames = live(scene, world, options.seconds, picture)
    picture.release()
    print(
        f"while drawing:        real time x {statistics.median(factors):.3f}, worst {min(factors):.3f}, "
        f"{frames / options.seconds:.1f} pictures a second"
    )


if __name__ == "__main__":
    main()
