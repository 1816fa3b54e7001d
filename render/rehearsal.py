"""Programs drawn by before there is a world: in a small made-up valley that has every kind of thing in it.

Software GL compiles a program where it is first drawn by, for what is bound just then, and takes as long for all that a
valley is drawn by as the growing of one. A machine with two processors does both at once.
"""

from collections.abc import Generator
from dataclasses import replace

import moderngl
import numpy as np

from render.frame import DrawnVehicle, Frame
from render.land.ground_cover import INSTANCE_FLOATS, Scatter, by_cell, scatter_of
from render.land.scenery import Scenery, load_scenery
from render.programs import Programs
from render.quality import Quality
from render.renderer import Renderer
from render.still import view_from
from sim.vehicle_config import VehicleConfig
from sim.world import World
from sim.world.path import Pad, River
from sim.world.terrain import Terrain

SIZE_PX = 320, 200
_LENGTH_M, _HALF_M, _SPACING_M = 400.0, 160.0, 4.0
_PAD_X_M, _PAD_OFF_RIVER_M = 120.0, 34.0
_STREWN, _STREWN_M = 80, 60.0
"""Things of each kind; how far ahead of the pad they stand at most."""
_HEIGHT_M = 1.5
_EYES_B = ((-18.0, 0.0, 6.0), (-7.0, 0.0, -0.5))
"""[m] from where the vehicle stands, from afar and close to the ground: by what is seen of either, other textures."""


def _ground_m(river: River, x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray:
    """Heights: a bed below the river's level, banks beside it, and walls."""
    off_m = np.abs(y_m - river.centre(x_m))
    return -2.0 + 0.12 * off_m + 80.0 / (1.0 + np.exp((55.0 - off_m) / 6.0))


def _valley(seed: int) -> World:
    river = River.meandering(seed)
    x = np.arange(0.0, _LENGTH_M + 1.0, _SPACING_M)
    y = np.arange(-_HALF_M, _HALF_M + 1.0, _SPACING_M)
    heights = _ground_m(river, *np.meshgrid(x, y)).astype(np.float32)
    terrain = Terrain(heights, (0.0, -_HALF_M), _SPACING_M)
    path = np.stack([x, np.asarray(river.centre(x)), np.full_like(x, 22.0)], axis=1)
    y_m = float(river.centre(_PAD_X_M)) + _PAD_OFF_RIVER_M
    centre_w = np.array([_PAD_X_M, y_m, float(terrain.height(_PAD_X_M, y_m))])
    pad = Pad("start", centre_w, 8.0, float(np.arctan(river.slope(_PAD_X_M))))
    return World("valley", seed, f"valley-{seed}", terrain, None, (pad,), river, path)


def _strewn(world: World) -> Scatter:
    """Things on both sides of the way ahead of the pad."""
    T_wb = world.pads[0].standing_pose(0.0)
    ahead = np.linspace(10.0, _STREWN_M, _STREWN)
    aside = np.where(np.arange(_STREWN) % 2, 0.3, -0.3) * ahead
    x, y = (T_wb[:2, :2] @ np.stack([ahead, aside])) + T_wb[:2, 3:]
    things = np.full((_STREWN, INSTANCE_FLOATS), 0.1)
    things[:, :4] = np.column_stack([x, y, world.terrain.height(x, y), np.ones(_STREWN)])
    return scatter_of(by_cell(things, np.arange(_STREWN)))


def _scenery(world: World, quality: Quality) -> Scenery:
    """As of a canyon, with no more in it than shows every kind of thing."""
    scenery, strewn = load_scenery(world, quality), _strewn(world)
    return replace(
        scenery,
        far=scenery.terrain[-1:],
        shrubs=strewn,
        tufts=strewn,
        reeds=strewn,
        boulders=[strewn] * len(scenery.boulder_levels),
        key="",
    )


def rehearsed(
    ctx: moderngl.Context,
    target: moderngl.Framebuffer,
    programs: Programs,
    quality: Quality,
    model: str,
    config: VehicleConfig,
) -> Generator[bool]:
    """Have the programs compiled that a flight of a vehicle through a canyon is drawn by, a share at a step, and
    tell whether the target was drawn into in that one.

    target: is drawn into, of the kind that will be drawn into later. `programs`, of that quality, are the caller's.
    model, config: of the vehicle.
    """
    world = _valley(seed=7)
    scenery = _scenery(world, quality)
    yield False
    renderer = Renderer(
        ctx, SIZE_PX, world, quality=quality.name, scenery=scenery, programs=programs, lit_later=True
    )
    try:
        yield False
        while not renderer.lit and renderer.light_up():
            yield False
        T_wb = world.pads[0].standing_pose(_HEIGHT_M)
        flown = DrawnVehicle(model, T_wb, np.zeros(0), np.zeros(0), config, time_s=0.0)
        far, near = (
            view_from(T_wb[:3, :3] @ np.array(eye_b) + T_wb[:3, 3], T_wb[:3, 3], SIZE_PX) for eye_b in _EYES_B
        )
        for _ in renderer.warm_up(Frame(far, (flown,))):
            yield False
        for k, (view, adds_up) in enumerate(((near, True), (far, False)), start=1):
            renderer.draw(Frame(view, (flown,), wall_s=0.1 * k), target, adds_up=adds_up)
            yield True
    finally:
        renderer.release()
