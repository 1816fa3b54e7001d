"""Laws of the light in a room."""

from dataclasses import replace
from time import perf_counter

import moderngl
import numpy as np
import pytest

from render.frame import Frame
from render.land.room import openness, panels_of
from render.light import Sun
from render.passes.targets import Canvas
from render.renderer import Renderer
from render.room_light import RoomLight
from render.still import view_from
from render.vehicles.scene_view import SceneView, ViewOptions
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world
from sim.world.hall import hall_grounds
from sim.world.props import Block, Opening, Room

NO_SUN, UP = np.zeros(3), np.array([0.0, 0.0, 1.0])


def sky(brightness: float) -> np.ndarray:
    """Harmonics of one that is alike in all directions."""
    harmonics = np.zeros((9, 3))
    harmonics[0] = brightness
    return harmonics


def shell(room: Room) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Corners (n, 4, 3), areas (n,) and kinds."""
    panels = panels_of(room)
    corners = np.array([panel.corners_w for panel in panels])
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 0]), axis=1)
    return corners, area, [panel.kind for panel in panels]


def test_panels_cover_the_shell_once_and_face_inwards() -> None:
    room = hall_grounds().room
    corners, area, kinds = shell(room)
    (x, y), z = room.half_m, room.height_m
    assert area.sum() == pytest.approx(2.0 * 4.0 * x * y + 2.0 * z * (2.0 * x + 2.0 * y), rel=1e-9)
    glass = sum((o.along_m[1] - o.along_m[0]) * (o.up_m[1] - o.up_m[0]) for o in room.openings)
    assert area[[kind == "pane" for kind in kinds]].sum() == pytest.approx(glass, rel=1e-9)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 0])
    inwards = np.array([0.0, 0.0, 0.5 * z]) - corners.mean(axis=1)
    assert ((normal * inwards).sum(axis=1) > 0.0).all()


def test_a_room_without_windows_is_dark() -> None:
    light = RoomLight(Room((6.0, 4.0), 3.0), UP, np.full(3, 10.0), sky(3.0))
    assert not light.sent.any()
    assert not light.table(16, 32).any()


def test_a_room_all_of_glass_sends_the_same_light_to_every_side() -> None:
    x, y, z = 6.0, 4.0, 3.0
    openings = [Opening(wall, (-x, x), (0.0, z)) for wall in ("south", "north")]
    openings += [Opening(wall, (-y, y), (0.0, z)) for wall in ("west", "east")]
    room = Room((x, y), z, (*openings, Opening("roof", (-x, x), (-y, y))))
    walls = RoomLight(room, UP, NO_SUN, sky(2.0)).sent
    glass = walls[walls[:, 0] > 0.5 * walls.max()]
    assert glass.min() > 0.0
    assert glass.max() / glass.min() < 1.6  # the land's light comes to walls, not to the roof


def test_light_falls_with_twice_the_sky_to_twice_and_is_brightest_below_the_roof_lights() -> None:
    room = hall_grounds().room
    once, twice = (RoomLight(room, UP, NO_SUN, sky(level)) for level in (1.0, 2.0))
    np.testing.assert_allclose(twice.sent, 2.0 * once.sent, rtol=1e-12)
    places = np.array([(0.0, 7.0, 0.5), (0.0, 14.5, 0.5)])
    middle, corner = once.irradiance(places, np.tile(UP, (2, 1)))[:, 1]
    assert middle > corner > 0.0


def test_corners_and_places_under_things_are_less_open() -> None:
    room, bench = Room((6.0, 4.0), 3.0), Block((2.0, 0.0), (0.8, 0.4), 0.9, 0.0, "wood", 0.8)
    places = np.array([(-2.0, 0.0, 0.0), (2.0, 0.0, 0.0), (-5.9, -3.9, 0.0)])
    found = openness(np.column_stack([places, np.tile(UP, (3, 1))]), room, (bench,))
    assert found[0] == pytest.approx(1.0)
    assert found[1] < 0.85
    assert found[2] < 0.75


def test_a_beams_shadow_lies_on_a_box_where_the_sun_has_it_and_without_steps(ctx: moderngl.Context) -> None:
    scene, size_px = load_scene("plan-push"), (300, 300)
    world, sun = load_world(scene.world, seed=scene.seed), Sun.of(scene.sun)
    simulation = Simulation(scene, world)
    renderer, canvas = Renderer(ctx, size_px, world, quality="software", sun=sun), Canvas(ctx, size_px)
    view = SceneView(world)
    view.observe(simulation.snapshot, perf_counter())
    T_wb = simulation.snapshot.lanes[0].bodies["box"].copy()
    top_m, half_m = 2.0 * T_wb[2, 3], 0.1
    eye_w = T_wb[:3, 3] + [0.1, 0.0, 1.2]

    def shade(frame: Frame, y: float, z: float, around: float) -> np.ndarray:
        """(201,) of brightness at places (x, y, z) with x to either side of `around`."""
        renderer.set_effort(1.0)
        renderer.draw(frame, canvas.framebuffer)
        x = around + np.linspace(-half_m, half_m, 201)
        at = np.stack([x, np.full_like(x, y), np.full_like(x, z), np.ones_like(x)])
        clip = frame.view.projection @ frame.view.view @ at
        columns = (0.5 + 0.5 * clip[0] / clip[3]) * size_px[0] - 0.5
        rows = (0.5 - 0.5 * clip[1] / clip[3]) * size_px[1] - 0.5
        image = canvas.image().astype(float).mean(axis=2)
        left, above = np.floor(columns).astype(int), np.floor(rows).astype(int)
        a, b = columns - left, rows - above
        upper = (1.0 - a) * image[above, left] + a * image[above, left + 1]
        lower = (1.0 - a) * image[above + 1, left] + a * image[above + 1, left + 1]
        return np.asarray((1.0 - b) * upper + b * lower)

    def middle(shade: np.ndarray, around: float) -> float:
        """Of the part that is darker than the mean of both extremes."""
        x = around + np.linspace(-half_m, half_m, 201)
        return float(x[shade < 0.5 * (shade.min() + shade.max())].mean())

    down_w = eye_w - [1e-3, 0.0, 1.0]
    frame = view.frame(view_from(eye_w, down_w, size_px), ViewOptions())
    on_ground = middle(shade(frame, 0.3, 0.0, 0.75), 0.75)
    to_sun_w = sun.direction_w
    on_top = on_ground + top_m * to_sun_w[0] / to_sun_w[2]
    box = frame.vehicles[0]
    T_wb[0, 3] = on_top
    frame = replace(frame, vehicles=(replace(box, bodies={**box.bodies, "box": T_wb}), *frame.vehicles[1:]))
    seen = [middle(shade(frame, y, top_m, on_top), on_top) for y in np.linspace(-0.08, 0.08, 33)]
    assert np.abs(np.array(seen) - on_top).max() < 0.02  # 0.007; lifted by as much as outdoors 0.065
    assert np.ptp(seen) < 0.007  # 0.004; by one look at the map 0.010
    renderer.release()
    canvas.release()
