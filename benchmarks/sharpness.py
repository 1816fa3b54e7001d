"""How sharp pictures are that a moving window draws: `python benchmarks/sharpness.py [--efforts 1,0.5]`.

A picture is compared with a reference of the same view and moment, drawn with four by four samples a pixel.
Contrast at a spatial frequency is what the picture has of the reference's own amplitude there: the mean over a ring
of frequencies of the cross spectrum with the reference, by the reference's power, so that flicker and steps that the
reference has not do not count as sharpness. The effective scale is the frequency at which contrast falls to half, by
the window's Nyquist frequency: 1 where every pixel says something of its own. Medians over a flight down the canyon,
or over a trip across the harbour in waves; beside them CPU time and triangles. A window tells which effort it has
time for (`python -m benchmarks.water_window --scenes canyon,harbour`).
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import moderngl
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.frame_time import flight, moved_on, trip
from render.frame import Frame
from render.frame_budget import EFFORTS
from render.passes.targets import Canvas
from render.quality import PRESETS, detect
from render.renderer import Renderer
from sim.world import load_world

SAMPLES = 4
RINGS = 48


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


def references(
    ctx: moderngl.Context, world: object, quality: str, frames: list[Frame], size: tuple[int, int]
) -> Iterator[np.ndarray]:
    """Luma of every frame, of many samples a pixel."""
    large = SAMPLES * size[0], SAMPLES * size[1]
    renderer, canvas = Renderer(ctx, large, world, quality=quality, supersampling=1), Canvas(ctx, large)
    renderer.set_effort(renderer.whole_effort)
    for frame in frames:
        renderer.draw(frame, canvas.framebuffer)
        yield averaged(luma(canvas.image()), SAMPLES)
    canvas.release()
    renderer.release()


def main() -> None:
    """Print a row for every effort."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", choices=list(PRESETS))
    parser.add_argument("--world", choices=["canyon", "harbour"], default="canyon")
    parser.add_argument("--efforts", default=",".join(map(str, EFFORTS)))
    parser.add_argument("--frames", type=int, default=4)
    parser.add_argument(
        "--size", type=lambda text: tuple(int(n) for n in text.split("x")), default=(904, 628)
    )
    options = parser.parse_args()
    ctx = moderngl.create_context(standalone=True, backend="egl", require=410)
    quality = options.quality or detect(ctx)
    world = load_world(options.world, seed=7)
    if options.world == "canyon":
        frames = list(flight(world, options.frames, options.size))
    else:
        frames = list(trip(world, options.frames, options.size, waves=True))
    wanted = list(references(ctx, world, quality, frames, options.size))
    renderer, canvas = Renderer(ctx, options.size, world, quality=quality), Canvas(ctx, options.size)
    print(f"{ctx.info['GL_RENDERER']}, {options.world}, {quality}, {options.size[0]}x{options.size[1]}")
    print(f"  {'effort':>8s} {'scale':>8s} {'effective':>10s} {'cpu ms':>8s} {'triangles':>10s}")
    for effort in (float(text) for text in options.efforts.split(",")):
        renderer.set_effort(effort)
        scales, times, triangles = [], [], []
        for frame, reference in zip(frames, wanted, strict=True):
            renderer.draw(moved_on(frame), canvas.framebuffer)  # warm
            ctx.finish()
            begun = time.process_time()
            renderer.draw(frame, canvas.framebuffer)
            ctx.finish()
            times.append(1e3 * (time.process_time() - begun))
            scales.append(effective_scale(luma(canvas.image()), reference))
            triangles.append(sum(renderer.drawn_triangles.values()))
        row = renderer.scale, np.median(scales), np.median(times), int(np.median(triangles))
        print(f"  {effort:8.2f} {row[0]:8.2f} {row[1]:10.2f} {row[2]:8.1f} {row[3]:10d}")
    canvas.release()
    renderer.release()


if __name__ == "__main__":
    main()
