"""Models, rotor discs, ghosts, wrecks, lines and arrows reach the picture without a GL error."""

from dataclasses import replace

import moderngl
import numpy as np
import pytest

from render.frame import Arrow, DrawnVehicle, Frame, Polyline, View, look_at, perspective
from render.light import Light
from render.passes.overlay import Overlay, line_strip
from render.passes.targets import PassContext
from render.passes.uniforms import FrameUniforms
from render.programs import Programs
from render.quality import preset
from render.vehicles.library import ModelLibrary
from sim.vehicle_config import config_named
from sim.vehicles import VEHICLES, enter_own

SIZE = (480, 300)
LIGHT = Light(
    direction_w=np.array([-0.6, -0.4, 0.69]),
    sun_irradiance=np.array([18.0, 16.0, 13.0]),
    sky_harmonics=np.vstack([np.full((1, 3), 2.0), np.zeros((8, 3))]),
)
FLYING = DrawnVehicle(
    model="helicopter",
    T_wb=np.eye(4),
    controls=np.array([1.0e4, 0.0, 0.05, 0.02]),
    shape=np.zeros(0),
    time_s=0.7 / 41.0,
    config=config_named("helicopter"),
)


class Studio:
    """An empty scene with one light, in which passes can be drawn one by one."""

    def __init__(self, ctx: moderngl.Context):
        self.ctx, self.quality = ctx, preset("low")
        self.programs = Programs(ctx, defines=self.quality.defines)
        eye = np.array([9.0, 7.0, 3.0])
        projection = perspective(0.9, SIZE[0] / SIZE[1], 0.3, 500.0)
        self.view = View(eye_w=eye, view=look_at(eye, np.zeros(3)), projection=projection)
        self.uniforms = FrameUniforms(ctx)
        self.uniforms.set_light(LIGHT, water_level_m=-10.0)
        self.colour = ctx.texture(SIZE, 4, dtype="f4")
        self.target = ctx.framebuffer([self.colour], ctx.depth_renderbuffer(SIZE))
        self.textures = [ctx.texture((4, 4), 4, np.full(64, 0.5, "f4").tobytes(), dtype="f4")]
        for unit in (1, 2):
            depth = ctx.depth_texture((4, 4))
            depth.compare_func = "<="
            ctx.framebuffer(depth_attachment=depth).clear(depth=1.0)
            self.textures.append(depth)
            depth.use(unit)
        self.textures[0].use(0)

    def draw(self, drawable, name: str, *, view: View | None = None, fresh: bool = True) -> np.ndarray:
        """(ny, nx, 4) of one pass; `drawable(context)` draws."""
        view = view or self.view
        self.uniforms.set_view(view, SIZE)
        self.uniforms.upload()
        self.uniforms.bind()
        self.target.use()
        if fresh:
            self.target.clear(depth=1.0)
        self.ctx.enable_only(moderngl.DEPTH_TEST | (moderngl.BLEND if name == "blend" else 0))
        context = PassContext(
            ctx=self.ctx,
            programs=self.programs,
            name=name,
            view=view,
            size_px=SIZE,
            light=LIGHT,
            quality=self.quality,
            frustum=np.zeros((6, 4)),
        )
        drawable(context)
        assert self.ctx.error == "GL_NO_ERROR"
        return np.frombuffer(self.colour.read(), "f4").reshape(SIZE[1], SIZE[0], 4)


@pytest.fixture
def studio(ctx):
    return Studio(ctx)


@pytest.fixture
def library(ctx, studio):
    library = ModelLibrary(ctx, studio.programs)
    yield library
    library.release()


@pytest.mark.parametrize("name", ["shadow", "opaque", "blend"])
@pytest.mark.parametrize(
    "vehicle",
    [
        FLYING,
        replace(FLYING, ghost=True),
        replace(FLYING, wreck=True),
        replace(FLYING, model="no-such-model", config=config_named("no-such-model")),
    ],
    ids=["flying", "ghost", "wreck", "box"],
)
def test_every_state_draws_in_every_pass(studio, library, name, vehicle):
    picture = studio.draw(lambda context: library.draw(vehicle, context), name)
    assert name == "shadow" or np.isfinite(picture).all()


def test_opaque_alpha_is_the_distance_from_the_eye(studio, library):
    picture = studio.draw(lambda context: library.draw(FLYING, context), "opaque")
    distance = picture[..., 3][picture[..., 3] > 0]
    assert distance.size > 3000
    assert 3.0 < distance.min() < distance.max() < 20.0


def test_a_ghost_shows_only_in_the_blended_pass(studio, library):
    ghost = replace(FLYING, ghost=True, tint=(0.0, 1.0, 0.0))
    assert studio.draw(lambda context: library.draw(ghost, context), "opaque")[..., :3].max() == 0.0
    assert studio.draw(lambda context: library.draw(ghost, context), "blend")[..., 1].max() > 0.1


def test_a_wreck_is_dusty_and_no_black_shape(studio, library):
    whole, battered = (
        studio.draw(lambda context, v=v: library.draw(v, context), "opaque")[..., :3]
        for v in (FLYING, replace(FLYING, wreck=True))
    )
    assert 0.5 < battered.sum() / whole.sum() < 1.1
    drawn = whole.sum(axis=2) > 0.0
    assert np.abs(battered - whole)[drawn].mean() > 0.02


def test_a_part_that_has_come_off_is_drawn_where_it_is(studio, library):
    away = np.eye(4)
    away[:3, 3] = 0.0, 0.0, 500.0
    stays = {"": np.eye(4)}
    parts = [stays, {**stays, "skids": away}, {"": away}]
    covered = [
        (studio.draw(lambda context, v=v: library.draw(v, context), "opaque")[..., 3] > 0).sum()
        for v in (replace(FLYING, pieces=pieces) for pieces in parts)
    ]
    assert covered[0] > covered[1] > covered[2] == 0


def test_a_turning_rotor_leaves_the_solid_blades_out(studio, library):
    above = np.array([0.0, 0.0, 22.0])
    view = View(eye_w=above, view=look_at(above, np.zeros(3), (1, 0, 0)), projection=studio.view.projection)
    standing = replace(FLYING, time_s=None)
    seen = [
        (studio.draw(lambda context, v=v: library.draw(v, context), "opaque", view=view)[..., 3] > 0).sum()
        for v in (FLYING, standing)
    ]
    assert seen[0] < seen[1]


@pytest.mark.parametrize("change", [{}, {"wreck": True, "time_s": None}, {"pieces": "apart"}])
@pytest.mark.parametrize("turned_rad", [0.0, 0.9, 2.5])
@pytest.mark.parametrize("name", ["helicopter", "motorboat", "quadrotor"])
def test_what_a_vehicle_takes_of_a_picture_is_told_closely(studio, library, name, turned_rad, change):
    """A rectangle that all of its solid parts are in, measured to be 1.1 to 2.3 times theirs."""
    c, s = np.cos(turned_rad), np.sin(turned_rad)
    T_wb = np.array([[c, -s, 0.0, 0.3], [s, c, 0.0, -0.2], [0.0, 0.0, 1.0, 0.1], [0.0, 0.0, 0.0, 1.0]])
    vehicle = replace(FLYING, model=name, config=config_named(name), T_wb=T_wb)
    if "pieces" in change:
        away = np.eye(4)
        away[2, 3] = 1.5
        change = {"pieces": {"": np.eye(4), library._load(vehicle).asset.nodes[-1]: away}}
    vehicle = replace(vehicle, **change)
    seen = studio.draw(lambda context: library.draw(vehicle, context), "opaque")[..., 3] != 0.0
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    [(left, bottom, width, height)] = library.rectangles([vehicle], studio.view, SIZE)
    assert left <= columns[0]
    assert columns[-1] < left + width
    assert bottom <= rows[0]
    assert rows[-1] < bottom + height
    assert width * height < 2.5 * (np.ptp(rows) + 6) * (np.ptp(columns) + 6)


def test_a_vehicle_of_ones_own_is_drawn_as_what_its_body_wears(studio, library, tmp_path):
    """To the pixel, and without a box in it."""
    folder = tmp_path / "my_raft"
    folder.mkdir()
    (folder / "vehicle.py").write_text(
        "from sim.vehicles.boat import Boat\n\n\nclass Raft(Boat):\n    name = 'raft'\n"
    )
    (folder / "vehicle.toml").write_text('[model]\nwears = { body = "boat" }\n')
    boat = replace(
        FLYING, model="boat", config=config_named("boat"), controls=np.zeros(2), bodies={"body": FLYING.T_wb}
    )
    try:
        enter_own(f"{folder}/")
        worn, own = (
            studio.draw(lambda context, v=v: library.draw(v, context), "opaque").copy()
            for v in (replace(boat, model="raft", config=config_named("raft")), boat)
        )
    finally:
        VEHICLES.pop("raft", None)
    assert (own[..., 3] > 0).sum() > 1000
    assert np.array_equal(worn, own)


def test_a_pose_that_is_not_finite_draws_nothing(studio, library):
    broken = replace(FLYING, T_wb=np.full((4, 4), np.nan))
    assert studio.draw(lambda context: library.draw(broken, context), "opaque").max() == 0.0


def test_line_has_its_width_in_pixels_near_and_far(ctx, studio):
    overlay = Overlay(ctx, studio.programs)
    eye = np.array([-10.0, 0.0, 0.0])
    view = View(eye_w=eye, view=look_at(eye, np.zeros(3)), projection=studio.view.projection)
    for depth in (2.0, 60.0):
        points = np.array([[depth, -100.0, 0.0], [depth, 0.0, 0.0], [depth, 100.0, 0.0]])
        line = Polyline(points_w=points, colour=(1.0, 1.0, 1.0), alpha=np.ones(3), width_px=5.0)
        frame = Frame(view=view, vehicles=(), lines=(line,))
        picture = studio.draw(lambda context, f=frame: overlay.draw(f, context), "blend", view=view)
        assert (picture[:, SIZE[0] // 2, 0] > 0).sum() in (5, 6, 7)
    overlay.release()


def test_line_strip_leaves_out_repeated_and_broken_points():
    points = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0], [np.nan, 0, 0], [2, 0, 0]])
    line = Polyline(points_w=points, colour=(1.0, 1.0, 1.0), alpha=np.ones(5))
    assert line_strip(line).shape == (6, 14)
    assert len(line_strip(replace(line, points_w=points[:2], alpha=np.ones(2)))) == 0


def test_only_an_arrow_that_is_meant_to_be_is_seen_through_what_stands_before_it(ctx, studio):
    """As one of a contact in a body: a wider arrow of another colour lies between it and the eye."""
    overlay, half_way = Overlay(ctx, studio.programs), 0.5 * studio.view.eye_w
    behind = Arrow(np.array([0.0, 0.0, 0.5]), np.array([0.0, 0.0, 0.5]), (0.0, 1.0, 0.0))
    before = Arrow(half_way - [0.0, 0.0, 4.0], np.array([0.0, 0.0, 8.0]), (1.0, 0.0, 0.0))

    def green(through: bool) -> float:
        frame = Frame(studio.view, (), arrows=(before, replace(behind, through=through)))
        picture = studio.draw(lambda context: overlay.draw(frame, context), "blend")
        return float((picture[..., 1] > picture[..., 0]).sum())

    assert green(True) > 5.0 * max(green(False), 1.0)
    overlay.release()


def test_only_a_line_that_is_meant_to_be_is_seen_through_what_stands_before_it(ctx, studio):
    """As the axis of a joint in its body."""
    overlay, half_way = Overlay(ctx, studio.programs), 0.5 * studio.view.eye_w
    points_w = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 1.0]])
    behind = Polyline(points_w, (0.0, 1.0, 0.0), np.ones(2), width_px=1.5)
    before = Arrow(half_way - [0.0, 0.0, 4.0], np.array([0.0, 0.0, 8.0]), (1.0, 0.0, 0.0))

    def green(through: bool) -> float:
        line = replace(behind, through=through)
        # What hides is drawn first, as bodies are.
        frames = (Frame(studio.view, (), arrows=(before,)), Frame(studio.view, (), lines=(line,)))
        picture = studio.draw(lambda context: [overlay.draw(frame, context) for frame in frames], "blend")
        return float((picture[..., 1] > picture[..., 0]).sum())

    assert green(True) > 5.0 * max(green(False), 1.0)
    overlay.release()


def test_arrow_covers_the_way_from_its_origin_to_its_tip(ctx, studio):
    overlay = Overlay(ctx, studio.programs)
    arrow = Arrow(np.zeros(3), np.array([0.0, 0.0, 2.5]), (1.0, 0.2, 0.1))
    frame = Frame(view=studio.view, vehicles=(), arrows=(arrow, Arrow(np.zeros(3), np.zeros(3), (1, 1, 1))))
    picture = studio.draw(lambda context: overlay.draw(frame, context), "blend")
    rows = np.flatnonzero((picture[..., 0] > 0).any(axis=1))
    clip = studio.view.projection @ studio.view.view @ np.array([[0, 0, 0, 1], [0, 0, 2.5, 1]], float).T
    ends = (clip[1] / clip[3] * 0.5 + 0.5) * SIZE[1]
    assert abs(rows.min() - ends.min()) < 2.5
    assert abs(rows.max() - ends.max()) < 2.5
    overlay.release()
