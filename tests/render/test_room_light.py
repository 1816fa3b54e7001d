"""Laws of the light in a room."""

import numpy as np
import pytest

from render.land.room import openness, panels_of
from render.room_light import RoomLight
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
