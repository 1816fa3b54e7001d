"""Vehicles alone: their own colour, and how much of each pixel they cover."""

from collections.abc import Callable, Sequence

import moderngl
import numpy as np

from render.frame import DrawnVehicle
from render.passes import PassName
from render.targets import Targets

Draw = Callable[[DrawnVehicle, PassName], None]


def cut_out(
    ctx: moderngl.Context, targets: Targets, vehicles: Sequence[DrawnVehicle], draw: Draw
) -> np.ndarray:
    """Leave their own colour up to the edge in the scene's map; returns the cover (height, width) 0..1, from below."""
    scene = targets.scene_map
    before, behind = (_before(ctx, targets, vehicles, draw, level) for level in (0.0, 1.0))
    cover = np.clip(1.0 - (behind - before).mean(axis=-1), 0.0, 1.0)
    straight = np.ones((*cover.shape, 4), "f2")
    straight[..., :3] = before / np.maximum(cover, 1e-3)[..., None]
    scene.write(straight.tobytes())
    return cover


def _before(
    ctx: moderngl.Context, targets: Targets, vehicles: Sequence[DrawnVehicle], draw: Draw, level: float
) -> np.ndarray:
    """(height, width, 3) linear light of the vehicles before a grey wall, bottom row first."""
    targets.scene.use()
    targets.scene.clear(level, level, level, 1.0, depth=1.0)
    ctx.enable_only(moderngl.DEPTH_TEST)
    for vehicle in vehicles:
        draw(vehicle, "opaque")
    ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
    ctx.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
    targets.scene.depth_mask = False
    for vehicle in vehicles:
        draw(vehicle, "blend")
    targets.scene.depth_mask = True
    targets.resolve()
    width, height = targets.size_px
    read = np.frombuffer(targets.scene_map.read(), "f2").reshape(height, width, 4)
    return read[..., :3].astype("f4")
