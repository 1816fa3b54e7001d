"""Sun, sky and shade come from one model of the air."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import View, look_at, perspective
from render.light import Sun
from render.passes.shadows import sun_view, texture_from_world, vehicle_view
from render.passes.sky import Sky, irradiance_harmonics, sun_at_ground
from render.passes.targets import Canvas
from render.passes.uniforms import FrameUniforms
from render.programs import SAMPLER_UNITS, Programs
from render.quality import preset
from render.renderer import Renderer
from tests.render.small_world import small_frame, small_scenery, small_world


@pytest.fixture
def light_of(ctx):
    programs = Programs(ctx, defines=preset("software").defines)
    sky = Sky(ctx, programs)
    yield sky.light
    sky.release()
    programs.release()


def irradiance(harmonics: np.ndarray, n: np.ndarray) -> np.ndarray:
    x, y, z = n
    basis = [1, y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y]
    return np.asarray(basis) @ harmonics


def test_a_uniform_sky_lights_every_side_with_pi():
    harmonics = irradiance_harmonics(np.ones((128, 256, 3)))
    for n in np.eye(3):
        np.testing.assert_allclose(irradiance(harmonics, n), np.pi, rtol=2e-3)


def test_a_uniform_surround_lights_every_side_with_pi_wherever_the_table_is_densest():
    harmonics = irradiance_harmonics(np.ones((256, 256, 3)), -0.37)
    for n in np.eye(3):
        np.testing.assert_allclose(irradiance(harmonics, n), np.pi, rtol=2e-3)


@pytest.fixture(params=[250e3, 900e3])
def orbit_sky(ctx, request):
    programs = Programs(ctx, defines=preset("software").defines)
    sky = Sky(ctx, programs, orbit_m=request.param)
    yield sky, request.param
    sky.release()
    programs.release()


def test_in_orbit_the_light_that_is_not_the_suns_comes_from_the_planet_by_day_only(orbit_sky):
    sky, _ = orbit_sky
    day, night = sky.light(Sun(0.4, 0.7)), sky.light(Sun(0.4, -1.2))
    up, down = (irradiance(day.sky_harmonics, np.array([0, 0, sign])) for sign in (1.0, -1.0))
    assert down.sum() > 5.0 * abs(up.sum())
    assert irradiance(night.sky_harmonics, np.array([0, 0, -1.0])).sum() < 1e-3 * down.sum()
    assert (day.sun_irradiance > 0.0).all()
    assert (night.sun_irradiance == 0.0).all()


def test_in_orbit_the_planet_ends_where_a_line_of_sight_touches_it(ctx, orbit_sky):
    sky, orbit_m = orbit_sky
    light = sky.light(Sun(0.3, 0.9))
    sky.take()
    sky.bind()
    noise = ctx.texture((512, 512), 4, np.full((512, 512, 4), 128, np.uint8).tobytes())
    noise.use(SAMPLER_UNITS["noise_map"])
    uniforms = FrameUniforms(ctx)
    uniforms.set_light(light, water_level_m=0.0)
    rows, fov = 512, 0.7
    edge = -np.arccos(6360e3 / (6360e3 + orbit_m))
    forward = np.array([np.cos(edge), 0.0, np.sin(edge)])
    view = View(np.zeros(3), look_at(np.zeros(3), forward), perspective(fov, 1.0, 0.5, 12e3))
    uniforms.set_view(view, (rows, rows))
    uniforms.upload()
    uniforms.bind()
    target = ctx.framebuffer([ctx.texture((rows, rows), 4, dtype="f4")])
    target.use()
    ctx.enable_only(0)
    sky.draw()
    seen = np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(rows, rows, 4)
    middle = seen[:, rows // 2 - 4 : rows // 2 + 4, :3].mean(axis=(1, 2))  # from below
    air_m = 60e3  # above it a line of sight has no air that shines
    over = -np.arccos((6360e3 + air_m) / (6360e3 + orbit_m)) - edge
    dark = round(rows / 2 * (1.0 + np.tan(over) / np.tan(fov / 2.0)))
    assert middle[rows // 2 - 12 : rows // 2 - 4].min() > 0.2  # 0.4 to 0.8 of light on the planet's side
    assert middle[dark + 4 :].mean() < 0.02
    target.release()
    noise.release()
    uniforms.release()


def test_skylight_is_blue_and_brighter_from_above(light_of):
    light = light_of(Sun())
    up, down = (
        irradiance(light.sky_harmonics, np.array([0, 0, 1.0])),
        irradiance(light.sky_harmonics, np.array([0, 0, -1.0])),
    )
    assert up[2] > 1.5 * up[0]
    assert up.sum() > 1.4 * down.sum()


def test_a_low_sun_is_dim_and_red():
    high, low = sun_at_ground(Sun(0.0, 0.9).direction_w), sun_at_ground(Sun(0.0, 0.06).direction_w)
    assert low.sum() < 0.5 * high.sum()
    assert low[0] / low[2] > 2.0 * high[0] / high[2]
    assert (sun_at_ground(Sun(0.0, -0.1).direction_w) == 0.0).all()


def test_the_sky_is_brightest_around_the_sun(light_of):
    east, west = light_of(Sun(0.0, 0.5)), light_of(Sun(np.pi, 0.5))
    towards = np.array([1.0, 0.0, 0.0])
    assert (
        irradiance(east.sky_harmonics, towards).sum() > 1.15 * irradiance(west.sky_harmonics, towards).sum()
    )


def test_the_canyon_map_holds_the_whole_canyon():
    low, high = np.array([-60.0, -432.0, -4.0]), np.array([1620.0, 432.0, 180.0])
    matrix = texture_from_world(sun_view(low, high, Sun().direction_w))
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
    mapped = corners @ matrix[:3, :3].T + matrix[:3, 3]
    assert (mapped > 0.0).all()
    assert (mapped < 1.0).all()


def test_the_vehicle_map_has_its_vehicle_in_the_middle():
    centre = np.array([100.0, 20.0, 60.0])
    view, _ = vehicle_view(centre, 8.0, Sun().direction_w)
    np.testing.assert_allclose((texture_from_world(view) @ [*centre, 1.0])[:3], 0.5, atol=1e-9)


@pytest.mark.parametrize("elevation_deg", [2.0, 4.0, 8.0])
def test_dusk_is_lit_by_an_orange_sun_and_a_blue_sky(light_of, elevation_deg):
    light = light_of(Sun(0.0, np.radians(elevation_deg)))
    up = irradiance(light.sky_harmonics, np.array([0, 0, 1.0]))
    assert up[2] > 1.15 * up[0]  # 1.24 at 2 degrees
    assert light.sun_irradiance[0] > 2.0 * light.sun_irradiance[2]


def test_a_picture_is_exposed_longer_the_lower_the_sun_and_evenly_by_day(light_of):
    exposures = [light_of(Sun(0.0, np.radians(e))).exposure for e in (2.0, 5.0, 10.0, 20.0)]
    assert (np.diff(exposures) < 0.0).all()
    assert exposures[-1] > 1.0
    assert light_of(Sun()).exposure == 1.0


def test_a_sky_that_is_kept_for_many_pictures_is_the_one_that_is_drawn_for_each(ctx):
    """By software it is laid out flat once, and drifts on a little with each picture."""
    size = (240, 160)
    eye = np.array([10.0, 0.0, 60.0])
    projection = perspective(np.radians(60.0), size[0] / size[1], 0.2, 20_000.0)
    shown = {}
    for quality in ("software", "medium"):
        renderer = Renderer(
            ctx, size, small_world(), quality=quality, sun=Sun(0.4, 0.5, 0.4), scenery=small_scenery()
        )
        canvas = Canvas(ctx, size)
        for towards in ((1.0, 0.2, 1.1), (-0.3, 1.0, 0.9), (0.1, 0.0, 1.0)):
            view = View(eye, look_at(eye, eye + np.array(towards)), projection)
            renderer.draw(replace(small_frame(size), view=view, vehicles=(), wall_s=1.0), canvas.framebuffer)
            shown[quality, towards] = canvas.image().astype(float)
        canvas.release()
        renderer.release()
    for (quality, towards), picture in shown.items():
        off = np.abs(picture - shown["medium", towards])
        assert off.mean() < 4.0, (quality, towards)  # 2.5; 21 and more where it is mirrored
        assert shown["medium", towards].std() > 4.0, "there are clouds"


@pytest.mark.parametrize("clouds, drifts", [(0.45, True), (0.0, False)])
def test_the_ground_darkens_below_clouds_as_they_pass(ctx, clouds, drifts):
    world = small_world(river=False)
    sun = replace(Sun(), clouds=clouds)
    renderer = Renderer(ctx, (64, 40), world, quality="low", sun=sun, scenery=small_scenery())
    canvas = Canvas(ctx, (64, 40))
    light = []
    for wall_s in np.linspace(0.0, 1400.0, 15):
        renderer.draw(replace(small_frame((64, 40)), wall_s=float(wall_s)), canvas.framebuffer)
        light.append(canvas.image()[24:, :, :3].mean())  # the lower part, where no sky is
    darkest = min(light) / max(light)
    assert darkest < 0.85 if drifts else darkest > 0.99
    renderer.release()
    canvas.release()
