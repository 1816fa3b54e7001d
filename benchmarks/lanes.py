"""Lanes in real time: `python benchmarks/lanes.py [--lanes 8] [--step-ms 1] [--seconds 10] [--reference]`.

Runs the canyon's helicopter with ghosts of several methods, all at one step, under sticks that never rest: as fast as
it goes, then in the app's own window (a display is needed), from its first picture on. The real-time factor is told of
every window of one second: simulated seconds over wall seconds.
"""

import argparse
import math
import statistics
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyglet

from render.errors import DisplayError
from sim.commands import PilotInput, SetPilotInput, SetReference
from sim.scene import LaneSpec, Scene, load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World, load_world

WINDOW_S = 1.0

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


def sticks(time_s: float) -> SetPilotInput:
    """Live input: every axis moves all the time."""
    pitch, roll, yaw = 0.3 * math.sin(time_s), 0.3 * math.sin(1.3 * time_s), 0.2 * math.sin(0.7 * time_s)
    return SetPilotInput(PilotInput(pitch=pitch, roll=roll, yaw=yaw, throttle=0.4 + 0.3 * math.sin(time_s)))


def as_fast_as_it_goes(scene: Scene, world: World, seconds: float, *, reference: bool) -> float:
    """CPU seconds of one thread per simulated second, with a snapshot 120 times a second."""
    simulation = Simulation(scene, world)
    simulation.submit(SetReference(reference))
    simulation.advance(1.0)
    began_s = time.thread_time()
    for k in range(round(120 * seconds)):
        simulation.submit(sticks(k / 120.0))
        simulation.advance(1.0 / 120.0)
    return (time.thread_time() - began_s) / seconds


class Watch:
    """Moves the sticks and takes notes at every picture of a window; ends the run."""

    def __init__(self, simulation: Simulation, seconds: float) -> None:
        self._simulation, self._seconds = simulation, seconds
        self.frames: list[float] = []
        self.notes: list[tuple[float, float]] = []
        """(wall time, simulated time) of each snapshot seen."""
        self.cpu_s: list[float] = []
        self.stopped: list[str] = []

    def frame(self, snapshot: Snapshot, **_: object) -> None:
        """After a picture."""
        now_s = time.perf_counter()
        thread = next(t for t in threading.enumerate() if t.name == "simulation")
        self.cpu_s.append(time.clock_gettime(time.pthread_getcpuclockid(thread.ident)))
        self.frames.append(now_s)
        if snapshot.wall_s > self.frames[0] and (not self.notes or snapshot.wall_s > self.notes[-1][0]):
            self.notes.append((snapshot.wall_s, snapshot.clock_s))
        self._simulation.submit(sticks(now_s - self.frames[0]))
        if now_s > self.frames[0] + self._seconds:
            self.stopped = [lane.name for lane in snapshot.lanes if lane.status.value != "running"]
            pyglet.app.exit()

    def report(self) -> str:
        """What was seen, in words."""
        wall_s, clock_s = np.array(self.notes).T
        last = np.searchsorted(wall_s, wall_s + WINDOW_S)
        first = np.flatnonzero(last < len(wall_s))
        last = last[first]
        factors = (clock_s[last] - clock_s[first]) / (wall_s[last] - wall_s[first])
        simulated_s, drawn_s = clock_s[-1] - clock_s[0], self.frames[-1] - self.frames[0]
        lines = [
            f"real time x {statistics.median(factors):.3f}, first second {factors[0]:.3f}, "
            f"worst second {factors.min():.3f}",
            f"{(len(self.frames) - 1) / drawn_s:.1f} pictures a second",
            f"{(self.cpu_s[-1] - self.cpu_s[0]) / simulated_s:.3f} CPU s of the simulation's thread "
            "a simulated second",
        ]
        return "\n  ".join(lines + [f"stopped on the way: {name}" for name in self.stopped])


def in_the_window(scene: Scene, seconds: float, *, reference: bool) -> str:
    """The app with its panels, at its usual size."""
    from render.quality import detect
    from ui.desktop.session import Session
    from ui.desktop.window_run import opened
    from ui.features.scenes.loader import Loader
    from ui.window.app_window import AppWindow

    with closing(AppWindow()) as window, closing(Loader()) as loader:
        loader.load(lambda: scene, detect(window.ctx), commands=(SetReference(reference),))
        loaded = opened(window, loader, scene.title, None)
        if loaded is None:
            return "closed"
        watch = Watch(loaded.simulation, seconds)
        with closing(Session(window, loader, loaded)) as session:
            session.run(watch)
    return watch.report()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--lanes", type=int, default=8)
    parser.add_argument("--step-ms", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--no-window", action="store_true")
    options = parser.parse_args()
    scene = scene_of(options.lanes, options.step_ms / 1e3)
    world = load_world(scene.world, seed=scene.seed)
    beside = ", a reference beside them" if options.reference else ""
    print(f"{options.lanes} lanes at h = {options.step_ms:g} ms{beside}")
    cost = as_fast_as_it_goes(scene, world, options.seconds, reference=options.reference)
    print(f"as fast as it goes:\n  {cost:.3f} CPU s a simulated second")
    if not options.no_window:
        try:
            told = in_the_window(scene, options.seconds, reference=options.reference)
        except DisplayError as error:
            parser.exit(2, f"{error}; --no-window measures without one\n")
        print(f"window open:\n  {told}")


if __name__ == "__main__":
    main()
