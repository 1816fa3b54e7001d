"""Laws of the map in which paving looks its sun up, where pictures are drawn without a graphics card."""

from contextlib import ExitStack

import moderngl
import numpy as np
from scipy.ndimage import distance_transform_edt

from render.frame import View
from render.land.props import Props, prop_mesh
from render.light import Light, Sun
from render.passes.culling import frustum_planes
from render.passes.shadows import SunShadows
from render.passes.still_light import finish
from render.passes.targets import PassContext, PassName, unbind
from render.passes.uniforms import FrameUniforms
from render.programs import Programs
from render.quality import PRESETS
from sim.world.props import Block, Grounds, Paving

SUN = Sun(azimuth_rad=0.7, elevation_rad=0.8)
POST = Block(centre_m=(1.3, -0.4), half_m=(0.45, 0.8), height_m=3.1, heading_rad=0.3)
SUN_TEXEL_M = 0.035
"""Of the sun's map over these 100 m."""


def covered(x_m: np.ndarray, y_m: np.ndarray, height_m: float) -> np.ndarray:
    """Whether rays from points of that height to the sun meet the post."""
    direction = SUN.direction_w
    c, s = np.cos(POST.heading_rad), np.sin(POST.heading_rad)
    x, y = x_m - POST.centre_m[0], y_m - POST.centre_m[1]
    low, high = np.zeros(x.shape), np.full(x.shape, (POST.height_m - height_m) / direction[2])
    for at, along, half in (
        (c * x + s * y, c * direction[0] + s * direction[1], POST.half_m[0]),
        (-s * x + c * y, -s * direction[0] + c * direction[1], POST.half_m[1]),
    ):
        ends = np.stack([(-half - at) / along, (half - at) / along])
        low, high = np.maximum(low, ends.min(axis=0)), np.minimum(high, ends.max(axis=0))
    return low < high


def level_sun(ctx: moderngl.Context, *, coarser: int = 1) -> np.ndarray:
    """(rows, columns) 0..1 of a paved square of 12 m with a post on it."""
    grounds = Grounds(
        half_m=(50.0, 50.0),
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        paving=(Paving(np.array([[-6.0, 0.0], [6.0, 0.0]]), 6.0, "slabs"),),
        blocks=(POST,),
    )
    quality = PRESETS["software"]
    programs = Programs(ctx, defines=quality.defines)
    props = Props(ctx, programs, prop_mesh(grounds), by_kind=True)
    shadows = SunShadows(ctx, quality, (np.array([-50.0, -50.0, -5.0]), np.array([50.0, 50.0, 25.0])))
    light = Light(SUN.direction_w, np.ones(3), np.zeros((9, 3)))

    def context_of(name: PassName, view: View, size_px: tuple[int, int]) -> PassContext:
        planes = frustum_planes(view.projection @ view.view)
        return PassContext(ctx, programs, name, view, size_px, light, quality, planes)

    shadows.set_light(light, 0.0)
    finish(shadows.cast_world([props.draw], context_of))
    shadows.take()
    uniforms = FrameUniforms(ctx)
    uniforms.set_light(light, water_level_m=-10.0)
    uniforms.set_shadows(shadows.frames)
    uniforms.upload()
    uniforms.bind()
    shadows.bind()
    assert props.level_sun is not None
    with ExitStack() as given_up:
        baking = props.level_sun.bake(light, given_up, coarser)
        try:
            while True:
                next(baking)
        except StopIteration as end:
            end.value()
    image = props.level_sun.lit()["map"][..., 0] / 255.0
    props.level_sun.take_light(props.level_sun.lit())
    np.testing.assert_array_equal(props.level_sun.lit()["map"][..., 0] / 255.0, image)
    unbind(ctx)
    for one in (uniforms, shadows, props, programs):
        one.release()
    assert ctx.error == "GL_NO_ERROR"
    return image


def places(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = image.shape
    x = -6.0 + 12.0 * (np.arange(columns) + 0.5) / columns
    y = -6.0 + 12.0 * (np.arange(rows) + 0.5) / rows
    return tuple(np.meshgrid(x, y))


def test_paving_is_dark_where_rays_to_the_sun_meet_a_block_and_bright_elsewhere(
    ctx: moderngl.Context,
) -> None:
    image = level_sun(ctx)
    x, y = places(image)
    dark = covered(x, y, 0.35)
    texel_m = 12.0 / image.shape[1]
    off_edge_m = texel_m * (distance_transform_edt(dark) + distance_transform_edt(~dark))
    beside = (
        np.hypot(x - POST.centre_m[0], y - POST.centre_m[1]) > 1.2
    )  # at its foot the map's own bias shows
    assert 0.01 < dark[beside].mean() < 0.2
    np.testing.assert_allclose((1.0 - image)[beside].mean(), dark[beside].mean(), rtol=0.02)  # 0.011
    sure = beside & (off_edge_m > 4.0 * SUN_TEXEL_M)
    assert sure.mean() > 0.9
    assert np.abs(image + dark - 1.0)[sure].max() < 0.02


def test_edges_of_shadows_on_paving_have_no_steps(ctx: moderngl.Context) -> None:
    image = level_sun(ctx)
    steps = np.maximum(np.abs(np.diff(image, axis=0)).max(), np.abs(np.diff(image, axis=1)).max())
    assert steps < 0.5  # 0.36; 0.93 where the sun's map is looked up once


def test_a_coarse_map_tells_the_same_shadow(ctx: moderngl.Context) -> None:
    fine, coarse = level_sun(ctx), level_sun(ctx, coarser=4)
    assert coarse.shape[0] == fine.shape[0] // 4
    np.testing.assert_allclose(coarse.mean(), fine.mean(), atol=0.004)
