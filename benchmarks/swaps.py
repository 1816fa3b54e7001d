"""How long a swap of the method in flight takes, and a change of scene: `python -m benchmarks.swaps [--scenes A,B]`.

The simulation runs in its thread as in the window. Each of the scene's ten usual methods is asked for, in a fresh
process in which nothing but the flown one is loaded, then in another one in which they have been made ready ahead. A
change of scene is timed from the wish to its first picture. Kernels and worlds are in the cache on disk.

`--unseen` swaps to vehicles and methods whose machine code is nowhere: the cache is an empty folder in which only the
first flight has left what it needs. In CPU seconds: those of the clock tell of whatever else the machine does. Time
stands still: what a flight takes while a process compiles what is made once a machine is no part of a swap.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

SOON_S, CHANGE_S = 0.2, 1.5
POLL_S = 2e-3
SIZE_PX = (1280, 800)
UNSEEN_S, SETTLE_S, PATIENCE_S = 0.4, 2.0, 90.0
OTHERS = ("helicopter", "quadrotor", "spacecraft", "car", "snakeboard", "bicycle", "rolling-disc", "chain")


def swaps(scene_name: str, ahead: bool) -> dict[str, float]:
    """Seconds by method, from the command to the first snapshot that flies by it, each while the one before flies."""
    from sim.commands import SetIntegrator
    from sim.integrators import usual
    from sim.platform.processes import CacheWorkers
    from sim.scene import load_scene
    from sim.simulation import KernelStore, Simulation, starting_methods
    from sim.world import load_world

    scene = load_scene(scene_name)
    vehicle, _ = starting_methods(scene)
    running = Simulation(scene, load_world(scene.world, seed=scene.seed), kernels=KernelStore(CacheWorkers()))
    flown = running.snapshot.lanes[0].integrator
    running.start(ahead=ahead)
    try:
        while ahead and not running.snapshot.ready_ahead:
            time.sleep(POLL_S)
        taken_s = {}
        for name in [*(m for m in usual(vehicle, flown) if m != flown), flown]:
            began_s = time.perf_counter()
            running.submit(SetIntegrator(name))
            while running.snapshot.lanes[0].integrator != name:
                time.sleep(POLL_S)
            taken_s[name] = time.perf_counter() - began_s
        return taken_s
    finally:
        running.stop()


def unseen(scene_name: str) -> dict[str, float]:
    """CPU seconds of this process by pair, from the command to the first snapshot that flies it, nothing kept of it,
    while time stands still."""
    from sim.commands import SetIntegrator, SetPaused, SetVehicle
    from sim.integrators import usual
    from sim.platform.processes import CacheWorkers
    from sim.scene import load_scene
    from sim.simulation import KernelStore, Simulation
    from sim.simulation.lanes.snapshot import LaneSnapshot
    from sim.world import load_world

    scene = load_scene(scene_name)
    running = Simulation(scene, load_world(scene.world, seed=scene.seed), kernels=KernelStore(CacheWorkers()))
    running.start(ahead=False)

    def taken(command: object, flies: Callable[[LaneSnapshot], bool]) -> float:
        began_s, at_s = time.process_time(), time.perf_counter()
        running.submit(command)
        while not flies(running.snapshot.lanes[0]):
            if time.perf_counter() > at_s + PATIENCE_S:
                return float("nan")
            time.sleep(POLL_S)
        taken_s = time.process_time() - began_s
        print(f"  {command!s:60.60s} {taken_s:8.3f}", flush=True)
        return taken_s

    try:
        time.sleep(SETTLE_S)
        running.submit(SetPaused(True))
        time.sleep(SETTLE_S)
        flown, taken_s = running.snapshot.lanes[0], {}
        for name in (m for m in usual(scene.vehicle, flown.integrator) if m != flown.integrator):
            taken_s[name] = taken(SetIntegrator(name), lambda lane, name=name: lane.integrator == name)
        for name in (v for v in OTHERS if v != scene.vehicle.name):
            taken_s[name] = taken(SetVehicle(name), lambda lane, name=name: lane.vehicle == name)
        return taken_s
    finally:
        running.stop()


def change(from_scene: str, to_scene: str) -> dict[str, float]:
    """Seconds until the scene is loaded, until its renderer is made, until its first picture is drawn."""
    import moderngl

    from render.frame import Frame
    from render.passes.targets import Canvas
    from render.programs import Programs
    from render.quality import choose, detect
    from render.renderer import Renderer
    from render.still import view_from
    from sim.scene import load_scene
    from ui.features.scenes.loader import Loader

    ctx = moderngl.create_context(standalone=True, backend="egl", require=410)
    programs = Programs(ctx, defines=choose(ctx, detect(ctx)).defines)
    loader, canvas, quality = Loader(), Canvas(ctx, SIZE_PX), detect(ctx)
    shown, renderer, marks = "", None, [0.0]
    for name in (from_scene, to_scene):
        marks = [time.perf_counter()]
        loader.load(lambda name=name: load_scene(name), quality, shown=shown)
        loaded = None
        while loaded is None:
            time.sleep(POLL_S)
            loaded = loader.take()
        marks.append(time.perf_counter())
        if loaded.world.key != shown:
            if renderer is not None:
                renderer.release()
            renderer = Renderer(
                ctx, SIZE_PX, loaded.world, quality=quality, scenery=loaded.scenery, programs=programs
            )
        shown = loaded.world.key
        marks.append(time.perf_counter())
        place = loaded.simulation.snapshot.lanes[0].T_wb[:3, 3]
        renderer.draw(
            Frame(view_from(place + np.array([-15.0, 4.0, 6.0]), place, SIZE_PX), ()), canvas.framebuffer
        )
        ctx.finish()
        marks.append(time.perf_counter())
        loaded.simulation.stop()
        loaded.planning.close()
    loader.close()
    return {what: marks[k] - marks[0] for k, what in ((1, "loaded"), (2, "renderer"), (3, "first picture"))}


def _afresh(work: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """In a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _print_unseen(scenes: list[str]) -> None:
    """A table a scene, each with an empty cache."""
    for scene in scenes:
        print(f"\n{scene}: swap to what was never flown, CPU seconds")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["HOLONOMY_CACHE"] = folder
            taken = _afresh(unseen, scene)
        soon = sum(seconds <= UNSEEN_S for seconds in taken.values())
        print(f"  {soon} of {len(taken)} within {UNSEEN_S} s, median {np.nanmedian([*taken.values()]):.3f} s")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", default="canyon,drive,heavy-top")
    parser.add_argument("--changes", default="plain:canyon,canyon:drive,drive:canyon,canyon:heavy-top")
    parser.add_argument(
        "--unseen", action="store_true", help="vehicles and methods without machine code, CPU time"
    )
    options = parser.parse_args()
    if options.unseen:
        _print_unseen(options.scenes.split(","))
        return
    for scene in filter(None, options.scenes.split(",")):
        _afresh(swaps, scene, True)  # whatever is missing on disk
        loaded, ready = _afresh(swaps, scene, False), _afresh(swaps, scene, True)
        print(f"\n{scene}: swap in flight, seconds\n  {'method':24s} {'from disk':>10s} {'made ahead':>10s}")
        for name, seconds in ready.items():
            print(f"  {name:24s} {loaded[name]:10.3f} {seconds:10.3f}")
        for title, taken in (("from disk", loaded), ("made ahead", ready)):
            soon = sum(seconds <= SOON_S for seconds in taken.values())
            print(
                f"  {title}: {soon} of {len(taken)} within {SOON_S} s, median {np.median([*taken.values()]):.3f} s"
            )
    print(f"\nchange of scene, seconds (wanted: {CHANGE_S})")
    for pair in filter(None, options.changes.split(",")):
        before, _, after = pair.partition(":")
        taken = _afresh(change, before, after)
        told = ", ".join(f"{what} {seconds:.2f}" for what, seconds in taken.items())
        print(f"  {before} to {after}: {told}")


if __name__ == "__main__":
    main()
