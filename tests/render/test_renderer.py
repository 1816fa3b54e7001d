"""Pictures of a small canyon at every quality: light where light falls, no GL error, nothing left behind."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import pytest

from render.frame import DrawnVehicle, Polyline, View, look_at, perspective
from render.frame_budget import EFFORTS
from render.land.ground_cover import boulder_meshes
from render.light import Sun
from render.passes.post import Post
from render.passes.targets import Canvas, Targets
from render.programs import Programs
from render.quality import PRESETS
from render.renderer import Renderer
from sim.multibody.shapes import Link
from sim.vehicle_config import config_named
from tests.render.small_world import Chunk, Scatter, ground, small_frame, small_scenery, small_world

SIZE = (320, 200)


@pytest.fixture(scope="module")
def scenery():
    return small_scenery()


def picture(ctx, scenery, quality: str, size=SIZE, **options) -> np.ndarray:
    renderer = Renderer(ctx, size, small_world(), quality=quality, scenery=scenery, **options)
    canvas = Canvas(ctx, size)
    renderer.draw(small_frame(size), canvas.framebuffer)
    image = canvas.image().astype(float) / 255.0
    canvas.release()
    renderer.release()
    return image


@pytest.mark.parametrize("quality", PRESETS)
def test_a_picture_has_sky_sun_and_shade(ctx, scenery, quality):
    image = picture(ctx, scenery, quality)
    assert ctx.error == "GL_NO_ERROR"
    luma = image @ [0.2126, 0.7152, 0.0722]
    assert 0.2 < luma.mean() < 0.7
    assert np.mean(luma > 0.98) < 0.02
    assert np.mean(luma < 0.02) < 0.02
    sky = image[:40, 130:190].mean(axis=(0, 1))
    lit, shaded = image[60:130, 10:60].mean(axis=(0, 1)), image[60:130, 260:310].mean(axis=(0, 1))
    assert sky[2] > 1.1 * sky[0]
    assert lit[0] > 1.2 * lit[2]
    assert lit.sum() > 1.4 * shaded.sum()


def test_qualities_agree_on_the_colours(ctx, scenery):
    means = [picture(ctx, scenery, name).reshape(-1, 3).mean(axis=0) for name in ("high", "software")]
    np.testing.assert_allclose(*means, atol=0.06)


def test_supersampling_changes_detail_not_light(ctx, scenery):
    plain, fine = (picture(ctx, scenery, "high", supersampling=n) for n in (1, 2))
    assert plain.shape == fine.shape
    np.testing.assert_allclose(plain.mean(axis=(0, 1)), fine.mean(axis=(0, 1)), atol=0.02)


@pytest.mark.parametrize("width_px", [3.0, 8.0])
def test_a_line_is_as_wide_whatever_the_samples_of_a_pixel(ctx, scenery, width_px):
    ends = np.array([[60.0, -20.0, 40.0], [60.0, 20.0, 40.0]])
    line = Polyline(ends, (1.0, 0.0, 1.0), np.ones(2), width_px)

    def changed(supersampling: int) -> float:
        """Pixels, by how much of each the line covers."""
        renderer = Renderer(
            ctx, SIZE, small_world(), quality="high", scenery=scenery, supersampling=supersampling
        )
        canvas = Canvas(ctx, SIZE)
        images = []
        for frame in (small_frame(SIZE), replace(small_frame(SIZE), lines=(line,))):
            renderer.draw(frame, canvas.framebuffer)
            images.append(canvas.image().astype(float))
        canvas.release()
        renderer.release()
        difference = np.abs(images[1] - images[0]).max(axis=2)
        return float(difference.sum() / difference.max())

    once, twice = changed(1), changed(2)
    assert once > 50.0
    assert twice == pytest.approx(once, rel=0.15)  # measured: 4 and 5 percent less


def test_the_software_level_keeps_its_triangle_budget(ctx, scenery):
    renderer = Renderer(ctx, SIZE, small_world(), quality="software", scenery=scenery)
    canvas = Canvas(ctx, SIZE)
    renderer.draw(small_frame(SIZE), canvas.framebuffer)
    assert 0 < renderer.drawn_triangles["terrain"] <= PRESETS["software"].terrain_triangles
    assert renderer.drawn_triangles["scatter"] <= 2 * (
        PRESETS["software"].shrubs + PRESETS["software"].boulders
    )
    canvas.release()
    renderer.release()


@pytest.mark.parametrize("quality", PRESETS)
def test_a_rock_that_stops_a_car_is_drawn_at_every_quality_and_least_effort(ctx, scenery, quality):
    """0.45 m in radius, 50 m ahead of a window of 800 rows; the least of more of a cell than any budget allows for."""
    size = (1280, 800)
    rng = np.random.default_rng(3)
    others = np.ones((PRESETS[quality].boulders + 3000, 8), "f4")
    others[:, :3] = rng.uniform([150.0, 10.0, 30.0], [250.0, 30.0, 40.0], (len(others), 3))
    rock = np.array([[70.0, -6.0, 30.6, 0.45, 5.0, 0.0, 5.0, 0.0]], "f4")
    places = np.vstack([others, rock])[:, :3]
    pictures = []
    for ahead in (rock, rock[:0]):
        instances = np.vstack([others, ahead])
        cell = Chunk(0, len(instances), places.min(axis=0) - 1.0, places.max(axis=0) + 1.0)
        placed = Scatter(instances, (cell,), np.ones(len(instances), bool))
        strewn = replace(scenery, boulders=[placed], boulder_levels=[boulder_meshes(2, detail=0)])
        renderer = Renderer(ctx, size, small_world(), quality=quality, scenery=strewn)
        renderer.set_effort(EFFORTS[-1])
        canvas = Canvas(ctx, size)
        renderer.draw(small_frame(size), canvas.framebuffer)
        pictures.append(canvas.image().astype(int))
        canvas.release()
        renderer.release()
    changed = np.abs(pictures[0] - pictures[1]).max(axis=2)
    assert (changed > 20).sum() >= 10  # 46 to 60; nothing where only the budget counts


@pytest.mark.parametrize("quality", PRESETS)
def test_a_frame_like_the_last_one_is_copied_and_any_other_is_drawn(ctx, scenery, quality):
    passes: list[str] = []

    def probe(name: str):
        passes.append(name)
        return nullcontext()

    renderer = Renderer(ctx, SIZE, small_world(), quality=quality, scenery=scenery, probe=probe)
    canvas = Canvas(ctx, SIZE)

    def drawn(frame) -> tuple[np.ndarray, bool]:
        """The picture, and whether it was drawn anew."""
        passes.clear()
        renderer.draw(frame, canvas.framebuffer)
        return canvas.image().astype(int), passes != ["repeat"]

    def hovering(x_m: float):
        T_wb = np.eye(4)
        T_wb[:3, 3] = x_m, -1.0, 27.0
        return DrawnVehicle(
            "quadrotor", T_wb, np.zeros(4), np.zeros(0), time_s=0.2, config=config_named("quadrotor")
        )

    still = small_frame(SIZE)
    for effort in {1.0, renderer.whole_effort}:
        renderer.set_effort(effort)
        frame = replace(still, vehicles=(hovering(30.0),))
        first, anew = drawn(frame)
        assert anew
        for _ in range(3):
            again, anew = drawn(replace(still, vehicles=(hovering(30.0),)))
            assert not anew
            assert np.abs(again - first).max() <= 1  # rounded once more between FXAA and the window: 0 to 1
    later, anew = drawn(replace(still, vehicles=(hovering(29.9),)))
    assert anew
    assert (later != first).any()
    for change in (
        lambda: renderer.set_sun(Sun(azimuth_rad=2.0)),
        lambda: renderer.resize(SIZE),
        lambda: renderer.set_effort(0.6),
    ):
        assert not drawn(replace(still, vehicles=(hovering(29.9),)))[1]
        change()
        assert drawn(replace(still, vehicles=(hovering(29.9),)))[1]
    canvas.release()
    renderer.release()


def test_resizing_goes_on_drawing(ctx, scenery):
    renderer = Renderer(ctx, SIZE, small_world(), quality="medium", scenery=scenery)
    for size in ((160, 120), (321, 201), (8, 8)):
        renderer.resize(size)
        canvas = Canvas(ctx, size)
        renderer.draw(small_frame(size), canvas.framebuffer)
        assert canvas.image().mean() > 30
        assert ctx.error == "GL_NO_ERROR"
        canvas.release()
    renderer.release()


def test_a_viewport_leaves_the_rest_of_the_target_alone(ctx, scenery):
    renderer = Renderer(ctx, (160, 100), small_world(), quality="software", scenery=scenery)
    canvas = Canvas(ctx, (320, 200))
    canvas.framebuffer.clear(0.0, 0.0, 0.0)
    renderer.draw(small_frame((160, 100)), canvas.framebuffer, (160, 0, 160, 100))
    image = canvas.image()
    assert image[100:, 160:].mean() > 30
    assert image[:, :160].max() == 0
    canvas.release()
    renderer.release()


def test_the_sun_can_move(ctx, scenery):
    from render.light import Sun

    morning = picture(ctx, scenery, "software", sun=Sun(0.5, 0.5))
    evening = picture(ctx, scenery, "software", sun=Sun(-2.5, 0.12))
    assert np.abs(morning - evening).mean() > 0.03


def test_a_shadow_begins_at_the_foot_of_what_casts_it(ctx, scenery):
    """A post of 1 m seen from above: 12 cm behind its foot the ground has no sun, as 60 cm behind it."""
    foot = np.array([150.0, 20.0, float(ground(150.0, 20.0))])
    eye, T_wb = foot + np.array([0.0, 0.0, 5.0]), np.eye(4)
    T_wb[:3, 3] = foot
    post = Link("post", (0.0, 0.0, -0.2), (0.0, 0.0, 1.0), 0.06, 2)
    vehicle = DrawnVehicle(
        "post",
        T_wb,
        np.zeros(0),
        np.zeros(0),
        bodies={"post": T_wb},
        links=(post,),
        config=config_named("post"),
    )
    away = -Sun().direction_w[:2] / np.linalg.norm(Sun().direction_w[:2])
    view = View(
        eye_w=eye,
        view=look_at(eye, foot, (0.0, 1.0, 0.0)),
        projection=perspective(0.6, SIZE[0] / SIZE[1], 0.2, 500.0),
    )
    renderer = Renderer(ctx, SIZE, small_world(), quality="high", scenery=scenery)
    canvas, seen = Canvas(ctx, SIZE), []
    for vehicles in ((), (vehicle,)):
        renderer.draw(replace(small_frame(SIZE), view=view, vehicles=vehicles), canvas.framebuffer)
        picture = canvas.image().astype(float).sum(axis=2)
        lumas = []
        for behind_m in (0.12, 0.6):
            x, y = foot[:2] + behind_m * away
            u, v, _, w = view.projection @ view.view @ [x, y, float(ground(x, y)), 1.0]
            row, column = SIZE[1] * (1.0 - v / w) / 2.0, SIZE[0] * (1.0 + u / w) / 2.0
            lumas.append(
                picture[round(row) - 1 : round(row) + 1, round(column) - 1 : round(column) + 1].mean()
            )
        seen.append(lumas)
    canvas.release()
    renderer.release()
    assert np.all(np.divide(seen[1], seen[0]) < 0.75), seen


def test_a_world_without_a_river_is_drawn(ctx, scenery):
    renderer = Renderer(ctx, SIZE, small_world(river=False), quality="high", scenery=scenery)
    canvas = Canvas(ctx, SIZE)
    renderer.draw(small_frame(SIZE), canvas.framebuffer)
    assert canvas.image().mean() > 30
    canvas.release()
    renderer.release()


def test_release_frees_everything(ctx, scenery, monkeypatch):
    made, freed = _count_objects(ctx, monkeypatch)
    renderer = Renderer(ctx, SIZE, small_world(), quality="high", scenery=scenery)
    canvas = Canvas(ctx, SIZE)
    renderer.draw(small_frame(SIZE), canvas.framebuffer)
    renderer.resize((100, 80))
    canvas.release()
    renderer.release()
    assert len(made) > 50
    assert [thing for thing in made if thing not in freed] == []


def _count_objects(ctx, monkeypatch):
    """Records every object the context makes, and every one that is released."""
    import moderngl

    made, freed = [], set()
    for kind in ("buffer", "texture", "depth_texture", "renderbuffer", "depth_renderbuffer", "framebuffer"):
        _record(ctx, kind, made, monkeypatch)
    for name in ("Buffer", "Texture", "Renderbuffer", "Framebuffer"):
        original = getattr(moderngl, name).release

        def release(thing, original=original, name=name):
            freed.add((name.lower(), id(thing)))
            original(thing)

        monkeypatch.setattr(getattr(moderngl, name), "release", release)
    return made, freed


def _record(ctx, kind: str, made: list, monkeypatch) -> None:
    import moderngl

    keep = []
    original = getattr(moderngl.Context, kind)

    def make(self, *args, **options):
        thing = original(self, *args, **options)
        keep.append(thing)  # so that no id is used twice
        made.append((kind.removeprefix("depth_"), id(thing)))
        return thing

    monkeypatch.setattr(moderngl.Context, kind, make)


def test_plants_make_room_for_a_stand_and_come_back(ctx, scenery):
    shrubs, (boulders,) = scenery.shrubs.instances, [each.instances for each in scenery.boulders]
    place = shrubs[7, :3]
    inside = sum(
        int(
            (
                np.linalg.norm(each[:, :2] - place[:2], axis=1)
                <= config_named("heavy-top").model.clear_around_m + each[:, 3]
            ).sum()
        )
        for each in (shrubs, boulders)
    )
    T_wb = np.eye(4)
    T_wb[:3, 3] = place
    top = DrawnVehicle("heavy-top", T_wb, np.zeros(0), np.zeros(0), config=config_named("heavy-top"))
    renderer = Renderer(ctx, SIZE, small_world(), quality="high", scenery=scenery)
    canvas = Canvas(ctx, SIZE)
    plain = small_frame(SIZE)
    counts = []
    for vehicles in ((), (top,), (replace(top, model="car", config=config_named("car")),)):
        renderer.draw(replace(plain, vehicles=vehicles), canvas.framebuffer)
        counts.append(renderer.strewn)
    canvas.release()
    renderer.release()
    assert inside >= 1
    assert counts[0] - counts[1] == inside
    assert counts[2] == counts[0]


def test_programs_of_a_renderer_before_draw_the_next_world_as_its_own_would(ctx, scenery):
    programs = Programs(ctx, defines=PRESETS["software"].defines)
    own, first, second = (
        picture(ctx, scenery, "software", programs=kept) for kept in (None, programs, programs)
    )
    programs.release()
    np.testing.assert_array_equal(own, first)
    np.testing.assert_array_equal(own, second)


def test_programs_that_wait_for_motion_are_drawn_by_before_the_first_picture_and_leave_no_trace(ctx, scenery):
    programs = Programs(ctx, defines=PRESETS["software"].defines)
    entered: list[str] = []

    @contextmanager
    def probe(name: str) -> Iterator[None]:
        entered.append(name)
        yield

    given = {"quality": "software", "scenery": scenery, "programs": programs}
    renderers = [
        Renderer(ctx, SIZE, small_world(), **given, lit_later=True, probe=probe),
        Renderer(ctx, SIZE, small_world(), **given),
    ]
    while renderers[0].light_up():
        pass
    canvas, pictures = Canvas(ctx, SIZE), []
    for renderer in renderers:
        for wall_s in (0.0, 1.0):
            renderer.draw(replace(small_frame(SIZE), wall_s=wall_s), canvas.framebuffer)
            pictures.append(canvas.image())
    canvas.release()
    for renderer in renderers:
        renderer.release()
    programs.release()
    assert entered.count("warm up") == 1
    np.testing.assert_array_equal(pictures[:2], pictures[2:])


def test_a_renderer_that_is_given_back_gives_up_the_light_it_was_making(ctx, scenery):
    renderer = Renderer(ctx, SIZE, small_world(), quality="software", scenery=scenery, lit_later=True)
    assert renderer.light_up()
    renderer.release()
    assert not renderer.light_up()


def test_at_less_effort_the_land_keeps_its_light(ctx, scenery):
    renderer = Renderer(ctx, SIZE, small_world(), quality="software", scenery=scenery)
    canvas, pictures = Canvas(ctx, SIZE), []
    for effort in (1.0, 0.85):
        renderer.set_effort(effort)
        renderer.draw(small_frame(SIZE), canvas.framebuffer)
        pictures.append(canvas.image().astype(float) / 255.0)
    canvas.release()
    renderer.release()
    tiles = [image.reshape(20, 10, 20, 16, 3).mean(axis=(1, 3)) for image in pictures]
    np.testing.assert_allclose(tiles[0], tiles[1], atol=0.12)
    assert np.abs(tiles[0] - tiles[1]).mean() < 0.01


def test_a_frame_that_is_shown_already_is_left_where_it_is_if_nobody_wants_it_again(ctx, scenery):
    renderer = Renderer(ctx, SIZE, small_world(), quality="software", scenery=scenery)
    canvas, frame = Canvas(ctx, SIZE), small_frame(SIZE)
    assert renderer.draw(frame, canvas.framebuffer, again=False)
    first = canvas.image().copy()
    canvas.framebuffer.clear()
    assert not renderer.draw(frame, canvas.framebuffer, again=False)
    assert not canvas.image().any()
    assert renderer.draw(frame, canvas.framebuffer)
    np.testing.assert_array_equal(canvas.image(), first)
    assert renderer.draw(replace(frame, wall_s=frame.wall_s + 1.0), canvas.framebuffer, again=False)
    canvas.release()
    renderer.release()


@pytest.mark.parametrize("adds_up", [False, True])
def test_a_frame_that_was_begun_comes_into_the_target_once_it_is_finished(ctx, scenery, adds_up):
    """And one that was begun and given up does not pass for one that is there."""
    canvas, frame = Canvas(ctx, SIZE), small_frame(SIZE)
    later, pictures = replace(frame, wall_s=frame.wall_s + 1.0), []
    for given_up in ((), (frame,)):
        renderer = Renderer(ctx, SIZE, small_world(), quality="software", scenery=scenery)
        for other in given_up:
            renderer.begin(other, canvas.framebuffer)
        canvas.framebuffer.clear()
        show = renderer.begin(frame, canvas.framebuffer, adds_up=adds_up)
        ctx.finish()
        assert not canvas.image().any()
        assert show(False)
        pictures.append(canvas.image().copy())
        assert not renderer.begin(frame, canvas.framebuffer)(False)
        assert renderer.begin(later, canvas.framebuffer)(False)
        renderer.release()
    canvas.release()
    assert pictures[0].any()
    np.testing.assert_array_equal(*pictures)


def test_edges_of_a_picture_at_rest_are_smoothed_by_software_too(ctx, scenery):
    """Against 4 x 4 samples a pixel."""
    fine = picture(ctx, scenery, "software", supersampling=4)
    renderer = Renderer(ctx, SIZE, small_world(), quality="software", scenery=scenery)
    canvas, apart = Canvas(ctx, SIZE), []
    for effort in (1.0, renderer.whole_effort):
        renderer.set_effort(effort)
        renderer.draw(small_frame(SIZE), canvas.framebuffer)
        apart.append(np.abs(canvas.image() / 255.0 - fine).mean())
    canvas.release()
    renderer.release()
    assert apart[1] < 0.75 * apart[0]


@pytest.mark.parametrize(("rise", "run"), [(1, 3), (2, 7), (5, 2)])
def test_steps_of_a_vehicles_slanted_edge_are_smoothed_by_software(ctx, rise, run):
    """Against how much of each pixel the edge covers; a picture of a hard edge at the size of the window."""
    width, height = 48, 40
    quality, programs = PRESETS["software"], Programs(ctx, defines=PRESETS["software"].defines)
    targets = Targets(ctx, (width, height), samples=1, mirror_scale=0.0, refraction=False, shade_late=False)
    post, canvas = Post(ctx, programs, quality, targets, (width, height)), Canvas(ctx, (width, height))
    x, y = np.meshgrid((np.arange(8 * width) + 0.5) / 8, (np.arange(8 * height) + 0.5) / 8)
    inside = (y - 0.5 * height) * run > (x - 0.5 * width) * rise
    cover = inside.reshape(height, 8, width, 8).mean(axis=(1, 3))
    edge = (cover > 0.0) & (cover < 1.0)

    def shown(light: np.ndarray, vehicles=()) -> np.ndarray:
        scene = np.full((height, width, 4), -1.0, "f2")
        scene[..., :3] = light[..., None]
        targets.scene_map.write(scene.tobytes())
        post.draw(targets.scene_map, canvas.framebuffer, (0, 0, width, height), 1.0, vehicles)
        return canvas.image()[::-1, :, 1] / 255.0

    dark, bright = shown(np.full(cover.shape, 0.05)), shown(np.full(cover.shape, 0.3))
    light = np.where(cover > 0.5, 0.3, 0.05)
    off = [
        np.abs((shown(light, vehicles) - dark) / (bright - dark) - cover)[edge].mean()
        for vehicles in ((), ((0, 0, width, height),))
    ]
    for each in (post, canvas, targets, programs):
        each.release()
    assert off[1] < 0.65 * off[0]  # 0.27 to 0.54


def test_an_enlarged_picture_has_its_outermost_pixels(ctx):
    """A bright frame, one pixel wide, about a dark picture."""
    quality, programs = PRESETS["software"], Programs(ctx, defines=PRESETS["software"].defines)
    targets = Targets(ctx, (24, 20), samples=1, mirror_scale=0.0, refraction=False, shade_late=False)
    post, canvas = Post(ctx, programs, quality, targets, (48, 40)), Canvas(ctx, (48, 40))
    scene = np.full((20, 24, 4), 0.4, "f2")
    scene[1:-1, 1:-1, :3] = 0.05
    targets.scene_map.write(scene.tobytes())
    post.draw(targets.scene_map, canvas.framebuffer, (0, 0, 48, 40), 1.0)
    shown = canvas.image()[..., 1].astype(float)
    middle = shown[8:-8, 8:-8].mean()
    for edge in (shown[0], shown[-1], shown[:, 0], shown[:, -1]):
        assert edge.min() > 1.5 * middle  # 2.8; 0 where the outermost are left out
    for each in (post, targets, canvas, programs):
        each.release()
