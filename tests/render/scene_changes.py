"""Prints by how many MB a fresh process grows over changes of scene; run by test_memory.py."""

import ctypes
import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import moderngl

from export.studio import offscreen_context
from render.land.scenery import load_scenery
from render.quality import preset
from render.renderer import Renderer
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world

SIZE_PX = (96, 64)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def change(ctx: moderngl.Context) -> None:
    """A scene is made by other threads, as for the window, shown once by its renderer, and left."""
    scene = load_scene("canyon")
    with ThreadPoolExecutor(2) as pool:
        world = pool.submit(load_world, scene.world, seed=scene.seed).result()
        scenery = pool.submit(load_scenery, world, preset("low")).result()
        running = pool.submit(Simulation, scene, world).result()
    renderer = Renderer(ctx, SIZE_PX, world, quality="low", scenery=scenery)
    running.advance(0.1)
    running.stop()
    del world, scenery, running
    renderer.release()


def main() -> None:
    """One figure: resident memory after five changes, less what it was after two."""
    ctx = offscreen_context()
    for _ in range(2):  # the first one loads code, too, and the second one's threads have heaps of their own
        change(ctx)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    needed_mb = resident_mb()
    for _ in range(5):
        change(ctx)
    assert ctx.error == "GL_NO_ERROR"
    print(resident_mb() - needed_mb)


if __name__ == "__main__":
    main()
