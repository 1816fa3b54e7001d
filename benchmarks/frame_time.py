"""What a frame costs, pass by pass: `python benchmarks/frame_time.py [--quality high] [--frames 8] [--world harbour]`.

"submit" is the CPU side of a frame (nothing waits for the GPU); the passes are measured with a finish around each, so
their sum is above the time of an undisturbed frame, which "frame" gives. Medians over a flight down the canyon, or
over a trip across the harbour: on still water, then in waves.
"""

import argparse
import math
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import moderngl
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from render.frame import DrawnSea, DrawnVehicle, Frame
from render.passes.targets import Canvas
from render.quality import PRESETS, detect
from render.renderer import Renderer
from render.still import view_from
from sim.vehicle_config import config_named
from sim.vehicles import vehicle
from sim.water.water import water_about
from sim.world import World, load_world


class PassClock:
    """Collects milliseconds by pass, of the wall and of all CPU cores together; counts nothing while `on` is false.

    On a software renderer the CPU time tells the cost even on a busy machine; two cores need at least half of it.
    """

    def __init__(self, ctx: moderngl.Context):
        self._ctx = ctx
        self.on = True
        self.times_ms: dict[str, list[tuple[float, float]]] = defaultdict(list)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        if not self.on:
            yield
            return
        self._ctx.finish()
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self._ctx.finish()
        self.times_ms[name].append(((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3))


def flight(world: World, frames: int, size_px: tuple[int, int]) -> Iterator[Frame]:
    """Views behind a helicopter that follows the world's path."""
    places = np.linspace(0.05, 0.85, frames) * (len(world.path) - 1)
    for number, place in enumerate(places.astype(int)):
        position = world.path[place]
        heading = world.path_heading_rad[place]
        forward = np.array([math.cos(heading), math.sin(heading), 0.0])
        T_wb = np.eye(4)
        T_wb[:2, :2] = [[forward[0], -forward[1]], [forward[1], forward[0]]]
        T_wb[:3, 3] = position
        helicopter = DrawnVehicle(
            model="helicopter",
            T_wb=T_wb,
            controls=np.zeros(4),
            shape=np.zeros(0),
            time_s=0.3 * number / 41.0,
            config=config_named("helicopter"),
        )
        eye = position - 18.0 * forward + np.array([0.0, 0.0, 6.0])
        yield Frame(view=view_from(eye, position, size_px), vehicles=(helicopter,), wall_s=number / 60.0)


def trip(world: World, frames: int, size_px: tuple[int, int], *, waves: bool) -> Iterator[Frame]:
    """Views behind a motor boat that crosses the harbour."""
    state = water_about(vehicle("motorboat", waves=8.0, fetch=4000.0), world.water_level_m).state
    for number, x in enumerate(np.linspace(-20.0, 30.0, frames)):
        T_wb = np.eye(4)
        T_wb[:3, 3] = (x, 0.0, world.water_level_m)
        boat = DrawnVehicle(
            "motorboat", T_wb, np.zeros(2), np.zeros(0), time_s=0.3 * number, config=config_named("motorboat")
        )
        eye = T_wb[:3, 3] + (-9.0, 0.0, 3.5)
        sea = DrawnSea(state, 0.3 * number) if waves else None
        yield Frame(
            view_from(eye, T_wb[:3, 3] + (3.0, 0.0, 0.0), size_px), (boat,), sea=sea, wall_s=number / 60
        )


def moved_on(frame: Frame) -> Frame:
    """The same view a sixtieth of a second later: it is drawn anew, and waves are worked out anew."""
    later = replace(frame, wall_s=frame.wall_s + 1.0 / 60.0)
    if frame.sea is None:
        return later
    return replace(later, sea=replace(frame.sea, time_s=frame.sea.time_s + 1.0 / 60.0))


def measure(
    ctx: moderngl.Context,
    world: World,
    quality: str,
    options: argparse.Namespace,
    frames: Iterable[Frame],
    title: str,
) -> None:
    """Print one table."""
    clock = PassClock(ctx)
    begun = time.perf_counter()
    renderer = Renderer(ctx, options.size, world, quality=quality, probe=clock)
    renderer.set_effort(options.effort)
    ctx.finish()
    built = time.perf_counter() - begun
    canvas = Canvas(ctx, options.size)
    clock.on = False
    triangles = []
    for frame in frames:
        renderer.draw(frame, canvas.framebuffer)  # warm
        ctx.finish()
        frame = moved_on(frame)
        wall, cpu = time.perf_counter(), time.process_time()
        renderer.draw(frame, canvas.framebuffer)
        clock.times_ms["submit"].append(
            ((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3)
        )
        ctx.finish()
        clock.times_ms["frame"].append(
            ((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3)
        )
        triangles.append(sum(renderer.drawn_triangles.values()))
        clock.on = True
        renderer.draw(moved_on(moved_on(frame)), canvas.framebuffer)
        clock.on = False
    size = f"{options.size[0]}x{options.size[1]}, scale {renderer.scale:.2f}"
    print(f"\n{title}, {quality} at {size}, built in {built:.1f} s, {ctx.error}")
    print(f"  {'ms':24s} {'wall':>8s} {'worst':>8s} {'cpu':>8s}")
    for name, times in clock.times_ms.items():
        wall, cpu = np.median(times, axis=0)
        print(f"  {name:24s} {wall:8.2f} {max(times)[0]:8.2f} {cpu:8.2f}")
    print(f"  {'triangles of the land':24s} {int(np.median(triangles)):8d}      most {max(triangles):8d}")
    canvas.release()
    renderer.release()


def main() -> None:
    """Measure one quality, or the one that suits the renderer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", choices=[*PRESETS, "all"])
    parser.add_argument("--world", choices=["canyon", "harbour"], default="canyon")
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument(
        "--size", type=lambda text: tuple(int(n) for n in text.split("x")), default=(1280, 800)
    )
    parser.add_argument(
        "--effort", type=float, default=1.0, help="share of the scale, as a frame budget sets it"
    )
    options = parser.parse_args()
    ctx = moderngl.create_context(standalone=True, backend="egl", require=410)
    print(ctx.info["GL_RENDERER"])
    world = load_world(options.world, seed=7)
    names = list(PRESETS) if options.quality == "all" else [options.quality or detect(ctx)]
    for name in names:
        if options.world == "canyon":
            views = flight(world, options.frames, options.size)
            measure(ctx, world, name, options, views, "down the canyon")
        else:
            for waves, title in ((False, "on still water"), (True, "in waves")):
                views = trip(world, options.frames, options.size, waves=waves)
                measure(ctx, world, name, options, views, title)


if __name__ == "__main__":
    main()
