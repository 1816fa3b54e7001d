"""Laws of rain: it dims sun and sky, falls before them, lies in rings on the sea that is felt, and wets."""

from dataclasses import replace

import moderngl
import numpy as np
import pytest

from render.frame import DrawnSea, DrawnVehicle, Frame, View, look_at, perspective
from render.light import Day, Sun
from render.passes.sky import Sky
from render.passes.targets import Canvas
from render.passes.uniforms import FrameUniforms
from render.programs import Programs
from render.quality import PRESETS
from render.renderer import Renderer
from render.water.marks import WaterMarks
from render.water.sea import SeaSurface
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.scene.tables import read_sun
from sim.vehicle_config import config_named
from sim.world import World, load_world
from tests.render.small_world import small_scenery
from tests.render.test_sea import AT_S, felt_about, felt_heights

SIZE = (320, 200)
OVERCAST = Sun(-1.2, 0.3, clouds=1.0)
POURING = replace(OVERCAST, rain=0.8)
ABOVE_M = 0.02


@pytest.fixture(scope="module")
def world() -> World:
    return load_world("sea")


def level_view(eye: tuple[float, float, float], target: tuple[float, float, float]) -> View:
    projection = perspective(0.84, SIZE[0] / SIZE[1], 0.5, 12_000.0)
    return View(np.array(eye), look_at(np.array(eye), np.array(target)), projection)


def test_rain_is_read_between_none_and_the_heaviest() -> None:
    assert read_sun(TomlTable("scene.toml", {"rain": 0.4}, "sun.")).rain == 0.4
    assert read_sun(TomlTable("scene.toml", {}, "sun.")).rain == 0.0
    with pytest.raises(InputError, match="rain"):
        read_sun(TomlTable("scene.toml", {"rain": 1.5}, "sun."))


def test_it_rains_at_every_hour_of_the_day() -> None:
    day = Day.of(POURING)
    assert day.at(day.hour + 1.0).rain == POURING.rain


def test_rain_takes_light_from_the_sun_and_from_the_deck(ctx) -> None:
    programs = Programs(ctx, defines=PRESETS["software"].defines)
    sky = Sky(ctx, programs)
    dry, wet = sky.light(OVERCAST), sky.light(POURING)
    for light in ("sun_irradiance", "sky_irradiance_above"):
        assert (getattr(wet, light) < 0.85 * getattr(dry, light)).all()
    assert dry.rain == 0.0
    sky.release()
    programs.release()


def test_rings_lie_on_the_sea_that_is_felt(ctx, world) -> None:
    """Their corners, over the height under hulls. Measured: 2.5 mm from it at the mean, 12 at most,
    where the sea deviates by 0.15 m."""
    water = felt_about()
    view = level_view((-8.0, -3.0, 3.5), (4.0, 0.0, 0.0))
    frame = Frame(view=view, vehicles=(), sea=DrawnSea(water.state, AT_S), wall_s=1.0)
    preset = PRESETS["high"]
    programs = Programs(ctx, defines={**preset.defines, "SHADOW_TAPS": 1})
    marks = WaterMarks(ctx, programs, preset)
    surface = SeaSurface(ctx, programs, world, preset, marks, planar=False)
    surface.prepare(frame)
    program = programs.load_transform("rain_rings.vert", ("p_w",))
    surface.describe_to(program)
    uniforms, canvas = FrameUniforms(ctx), Canvas(ctx, SIZE)
    uniforms.set_view(view, SIZE, wall_s=3.7)
    uniforms.upload()
    uniforms.bind()
    surface.bind()
    canvas.framebuffer.use()
    count = 240
    out, array = ctx.buffer(reserve=12 * count), ctx.vertex_array(program, [])
    array.transform(out, moderngl.POINTS, count)
    corners = np.frombuffer(out.read(), "f4").reshape(-1, 3).astype(float)
    for thing in (canvas, array, out, uniforms, surface, marks, programs):
        thing.release()
    off = corners[:, 2] - ABOVE_M - felt_heights(water, corners[:, :2], AT_S)
    assert np.ptp(corners[:, 2]) > 0.2
    assert np.ptp(corners[:, :2], axis=0).min() > 15.0
    assert np.abs(off).mean() < 0.01


def pictures(ctx, world: World, sun: Sun) -> list[np.ndarray]:
    """(height, width, 3) of two moments of the wall's clock in which nothing else has moved."""
    renderer = Renderer(ctx, SIZE, world, quality="software", scenery=small_scenery(), sun=sun)
    canvas = Canvas(ctx, SIZE)
    view = level_view((0.0, 0.0, 60.0), (30.0, 0.0, 66.0))
    sea = DrawnSea(felt_about().state, AT_S)
    found = []
    for wall_s in (2.0, 2.06):
        renderer.draw(Frame(view=view, vehicles=(), sea=sea, wall_s=wall_s), canvas.framebuffer)
        found.append(canvas.image()[: SIZE[1] // 3].astype(float))
    renderer.release()
    canvas.release()
    return found


def test_drops_fall_before_the_sky_and_without_rain_there_are_none(ctx, world) -> None:
    """Pixels of the sky that another 60 ms change by more than 4 of 255. Measured: 3.3 % of them, and none."""
    wet, dry = pictures(ctx, world, POURING), pictures(ctx, world, OVERCAST)
    changed = [(np.abs(late - early).max(axis=2) > 4.0).mean() for early, late in (wet, dry)]
    assert changed[0] > 0.005
    assert changed[1] == 0.0


def test_water_runs_down_a_hull_while_it_rains_and_then_only(ctx, world) -> None:
    """Of a boat that is drawn alone, at two moments of the wall's clock. Measured: 2.3 % of its pixels change by more
    than 4 of 255, and none."""
    hanging = np.eye(4)
    hanging[:3, 3] = 0.0, 0.0, 60.0
    boat = DrawnVehicle("motorboat", hanging, np.zeros(2), np.zeros(0), config_named("motorboat"))
    view = level_view((-7.0, -9.0, 62.5), (0.0, 0.0, 60.6))
    changed = []
    for sun in (POURING, OVERCAST):
        renderer = Renderer(ctx, SIZE, world, quality="software", scenery=small_scenery(), sun=sun)
        canvas, seen = Canvas(ctx, SIZE), []
        for wall_s in (2.0, 2.5):
            cover = renderer.cutout(Frame(view=view, vehicles=(boat,), wall_s=wall_s), canvas.framebuffer)
            seen.append(canvas.image().astype(float)[cover > 0.99])
        changed.append((np.abs(seen[1] - seen[0]).max(axis=1) > 4.0).mean())
        renderer.release()
        canvas.release()
    assert changed[0] > 0.003
    assert changed[1] == 0.0
