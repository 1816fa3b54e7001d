"""A look at a world: `python -m render.still --eye 0,0,60 --target 100,0,40 --out still.png`."""

import argparse
import math
from collections.abc import Sequence

import moderngl
import numpy as np
from PIL import Image

from render.frame import DrawnSea, DrawnVehicle, Frame, View, look_at, perspective
from render.light import Sun
from render.passes.targets import Canvas
from render.quality import PRESETS
from render.renderer import Renderer
from sim.vehicle_config import config_of
from sim.vehicles import vehicle
from sim.water.water import water_about
from sim.world import World

NEAR_M, FAR_M = 0.5, 12_000.0
AT_S, FETCH_M = 3.0, 3_000.0
"""Of seas."""


def view_from(
    eye_w: np.ndarray, target_w: np.ndarray, size_px: tuple[int, int], *, fov_deg: float = 48.0
) -> View:
    """A camera at `eye_w` (3,) that looks at `target_w` (3,)."""
    projection = perspective(math.radians(fov_deg), size_px[0] / size_px[1], NEAR_M, FAR_M)
    return View(eye_w=np.asarray(eye_w, float), view=look_at(eye_w, target_w), projection=projection)


def _vector(text: str) -> np.ndarray:
    values = [float(part) for part in text.split(",")]
    if len(values) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not x,y,z")
    return np.array(values)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m render.still", description=__doc__)
    parser.add_argument("--world", default="canyon")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--eye", type=_vector, required=True, metavar="X,Y,Z", help="m")
    parser.add_argument("--target", type=_vector, required=True, metavar="X,Y,Z", help="m")
    parser.add_argument("--fov", type=float, default=48.0, help="vertical, degrees")
    parser.add_argument("--sun", type=float, nargs=2, metavar=("AZIMUTH", "ELEVATION"), help="degrees")
    parser.add_argument(
        "--waves", type=float, metavar="WIND", help="m/s, of a sea in the place of still water"
    )
    parser.add_argument("--afloat", metavar="VEHICLE", help="at the origin, its screws ahead")
    parser.add_argument("--size", type=_size, default=(1280, 800), metavar="WxH")
    parser.add_argument("--quality", choices=list(PRESETS))
    parser.add_argument("--ssaa", type=int, default=1, help="samples a side of a pixel")
    parser.add_argument("--out", default="still.png")
    return parser


def _afloat(name: str, world: World) -> DrawnVehicle:
    floating, T_wb = vehicle(name), np.eye(4)
    controls = np.full(len(floating.controls), 0.6)
    T_wb[2, 3] = world.water_level_m or 0.0
    return DrawnVehicle(name, T_wb, controls, np.zeros(0), config_of(floating), time_s=AT_S)


def _sea(name: str, wind_mps: float, world: World) -> DrawnSea:
    """As what floats on it feels it."""
    about = water_about(vehicle(name, waves=wind_mps, fetch=FETCH_M), world.water_level_m or 0.0)
    return DrawnSea(about.state, AT_S)


def main(arguments: Sequence[str] | None = None) -> None:
    """Render one still and write it."""
    from sim.world import load_world

    options = _parser().parse_args(arguments)
    ctx = moderngl.create_context(standalone=True, backend="egl", require=410)  # type: ignore[arg-type]
    sun = Sun(*np.radians(options.sun)) if options.sun else Sun()
    world = load_world(options.world, seed=options.seed)
    renderer = Renderer(
        ctx, options.size, world, quality=options.quality, sun=sun, supersampling=options.ssaa
    )
    view = view_from(options.eye, options.target, options.size, fov_deg=options.fov)
    name, wind_mps = options.afloat, options.waves
    if wind_mps is not None and name is None:
        raise SystemExit("--waves is felt by what is --afloat; allowed: both, or --afloat alone")
    floats = () if name is None else (_afloat(name, world),)
    sea = None if wind_mps is None else _sea(name, wind_mps, world)
    frame = Frame(view=view, vehicles=floats, sea=sea, wall_s=AT_S)
    canvas = Canvas(ctx, options.size)
    renderer.draw(frame, canvas.framebuffer)
    Image.fromarray(canvas.image()).save(options.out)
    canvas.release()
    renderer.release()
    ctx.release()


if __name__ == "__main__":
    main()
