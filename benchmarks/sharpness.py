"""How sharp pictures are that a moving window draws: `python benchmarks/sharpness.py [--scenes canyon,drive]`.

A picture is compared with a reference of the same view and moment, drawn with four by four samples a pixel.
Contrast at a spatial frequency is what the picture has of the reference's own amplitude there: the mean over a ring
of frequencies of the cross spectrum with the reference, by the reference's power, so that flicker and steps that the
reference has not do not count as sharpness. The effective scale is the frequency at which contrast falls to half, by
the window's Nyquist frequency: 1 where every pixel says something of its own. Medians over moments of a ride, before
each of which successive pictures, thirty a second, were drawn as a window does; beside them CPU time and triangles. A
window tells which effort it has time for (`python -m benchmarks.water_window --scenes canyon,harbour`).
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import moderngl
import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.frame_time import PassClock
from export.studio import Follower
from render.frame import Frame
from render.frame_budget import EFFORTS
from render.light import Sun
from render.passes.targets import Canvas
from render.quality import PRESETS, detect
from render.renderer import Renderer
from render.vehicles.scene_view import ViewOptions
from sim.commands import PilotInput, SetDemo, SetPilotInput
from sim.scene import Scene, load_scene
from sim.simulation import Simulation
from sim.world import World, load_world

SAMPLES = 4
RINGS = 48
TICK_S = 1.0 / 30.0
SETTLED, APART, RUN = 90, 60, 12
"""Pictures: before the first moment's, from moment to moment, and drawn up to each."""
GAIT = frozenset({"gait-drive"})


def luma(image: np.ndarray) -> np.ndarray:
    """(ny, nx) of an encoded picture (ny, nx, 3) uint8, 0..1."""
    return image @ np.array([0.2126, 0.7152, 0.0722]) / 255.0


def contrast(picture: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(frequencies by Nyquist's (n,), contrast (n,)) of a picture's luma (ny, nx) beside its reference's."""
    ny, nx = picture.shape
    window = np.hanning(ny)[:, None] * np.hanning(nx)
    one, other = (np.fft.rfft2((image - image.mean()) * window) for image in (picture, reference))
    frequency = 2.0 * np.hypot(np.fft.fftfreq(ny)[:, None], np.fft.rfftfreq(nx))
    ring = np.minimum((frequency * RINGS).astype(int), RINGS).ravel()
    cross = np.bincount(ring, (one * other.conj()).real.ravel(), RINGS + 1)[:RINGS]
    power = np.bincount(ring, (np.abs(other) ** 2).ravel(), RINGS + 1)[:RINGS]
    return (np.arange(RINGS) + 0.5) / RINGS, cross / power


def effective_scale(picture: np.ndarray, reference: np.ndarray) -> float:
    """Frequency, by Nyquist's, at which contrast falls to half for the first time; 1 where it does not."""
    frequency, share = contrast(picture, reference)
    low = np.flatnonzero(share < 0.5)
    if not len(low):
        return 1.0
    k = int(low[0])
    if k == 0:
        return float(frequency[0])
    part = (share[k - 1] - 0.5) / (share[k - 1] - share[k])
    return float(frequency[k - 1] + part * (frequency[k] - frequency[k - 1]))


def averaged(image: np.ndarray, samples: int) -> np.ndarray:
    """(ny, nx) means of samples x samples texels of (samples ny, samples nx)."""
    ny, nx = image.shape[0] // samples, image.shape[1] // samples
    return image[: ny * samples, : nx * samples].reshape(ny, samples, nx, samples).mean(axis=(1, 3))


def ride(scene: Scene, world: World, moments: int, size: tuple[int, int]) -> list[list[Frame]]:
    """RUN successive frames up to each of so many moments, as the scene's camera sees what moves under full thrust, or
    by its autopilot."""
    simulation, follower = Simulation(scene, world), Follower(scene, world)
    simulation.advance(0.0)
    if scene.name == "canyon":
        simulation.submit(SetDemo(True))
    frames: list[list[Frame]] = []
    since = 0
    for tick in range(SETTLED + moments * APART):
        if scene.name != "canyon":
            simulation.submit(SetPilotInput(PilotInput(pitch=0.8, roll=0.12, actions=GAIT)))
        simulation.advance(TICK_S)
        view = follower.follow(simulation.snapshot, TICK_S, size[0] / size[1])
        since = (tick - SETTLED) % APART
        if tick >= SETTLED and since >= APART - RUN:
            if since == APART - RUN:
                frames.append([])
            frames[-1].append(follower.scene_view.frame(view, ViewOptions(), wall_s=tick * TICK_S))
    return frames


def references(
    ctx: moderngl.Context, renderer_of: Callable[..., Renderer], frames: list[Frame], size: tuple[int, int]
) -> Iterator[np.ndarray]:
    """Luma of every frame, of many samples a pixel."""
    large = SAMPLES * size[0], SAMPLES * size[1]
    renderer, canvas = renderer_of(ctx, large, supersampling=1), Canvas(ctx, large)
    renderer.set_effort(renderer.whole_effort)
    for frame in frames:
        renderer.draw(frame, canvas.framebuffer)
        yield averaged(luma(canvas.image()), SAMPLES)
    canvas.release()
    renderer.release()


def measure(ctx: moderngl.Context, name: str, options: argparse.Namespace) -> None:
    """Print the table of a scene."""
    scene, size = load_scene(name), options.size
    world = load_world(scene.world, seed=scene.seed)
    quality = options.quality or detect(ctx)
    renderer_of = partial(Renderer, world=world, quality=quality, sun=Sun.of(scene.sun))
    runs = ride(scene, world, options.frames, size)
    wanted = list(references(ctx, renderer_of, [run[-1] for run in runs], size))
    clock = PassClock(ctx)
    clock.on = False
    renderer, canvas = renderer_of(ctx, size, probe=clock), Canvas(ctx, size)
    print(f"{ctx.info['GL_RENDERER']}, {name}, {quality}, {size[0]}x{size[1]}")
    print(f"  {'effort':>8s} {'scale':>8s} {'effective':>10s} {'cpu ms':>8s} {'triangles':>10s}")
    for effort in (float(text) for text in options.efforts.split(",")):
        renderer.set_effort(effort)
        scales, times, triangles = [], [], []
        for run, reference in zip(runs, wanted, strict=True):
            for frame in run:
                begun = time.process_time()
                renderer.draw(frame, canvas.framebuffer, adds_up=not options.apart)
                ctx.finish()
                times.append(1e3 * (time.process_time() - begun))
            scales.append(effective_scale(luma(canvas.image()), reference))
            triangles.append(sum(renderer.drawn_triangles.values()))
            if options.stills:
                Image.fromarray(canvas.image()).save(options.stills / f"{name}-{effort:g}-{len(scales)}.png")
        row = renderer.scale, np.median(scales), np.median(times), int(np.median(triangles))
        print(f"  {effort:8.2f} {row[0]:8.2f} {row[1]:10.2f} {row[2]:8.1f} {row[3]:10d}", flush=True)
        if options.passes:
            by_pass(renderer, canvas, runs, clock)
    canvas.release()
    renderer.release()


def by_pass(renderer: Renderer, canvas: Canvas, runs: list[list[Frame]], clock: PassClock) -> None:
    """Print the median CPU time of every pass over the pictures of all runs."""
    clock.on = True
    clock.times_ms.clear()
    for run in runs:
        for frame in run:
            renderer.draw(frame, canvas.framebuffer, adds_up=True)
    clock.on = False
    for name, times in clock.times_ms.items():
        print(f"    {name:30s} {np.median(times, axis=0)[1]:6.1f} ms in {len(times)} pictures", flush=True)


def main() -> None:
    """Print a row for every effort, scene by scene."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", choices=list(PRESETS))
    parser.add_argument("--scenes", default="canyon")
    parser.add_argument("--efforts", default=",".join(map(str, EFFORTS)))
    parser.add_argument("--frames", type=int, default=4, help="moments that are compared")
    parser.add_argument("--apart", action="store_true", help="no picture is added to the ones before")
    parser.add_argument("--passes", action="store_true", help="CPU time by pass, too")
    parser.add_argument("--stills", type=Path, help="folder for the pictures")
    parser.add_argument(
        "--size", type=lambda text: tuple(int(n) for n in text.split("x")), default=(904, 628)
    )
    options = parser.parse_args()
    ctx = moderngl.create_context(standalone=True, backend="egl", require=410)
    for name in options.scenes.split(","):
        measure(ctx, name, options)


if __name__ == "__main__":
    main()
