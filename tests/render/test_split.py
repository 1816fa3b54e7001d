"""Laws of linked pictures: they share the room, and each sees its lane as the first sees its own."""

import numpy as np
import pytest

from render.frame import View, look_at, perspective
from render.panes import draw_panes, linked, on_screen, pane_rects, panes, spread_along
from render.vehicles.scene_view import SceneView, ViewOptions
from render.vehicles.shown import wreck_marker
from sim.simulation.lanes.snapshot import LaneStatus
from tests.ui import fakes

ROOM = (10, 20, 901, 600)


def camera(eye_w: np.ndarray, aim_w: np.ndarray) -> View:
    return View(eye_w, look_at(eye_w, aim_w, (0.0, 0.0, 1.0)), perspective(0.8, 1.5, 0.4, 1e4))


def observed(*lanes) -> SceneView:
    scene_view = SceneView()
    scene_view.observe(fakes.snapshot(*lanes), np.inf)
    return scene_view


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_pictures_fill_their_room_and_do_not_overlap(count: int) -> None:
    rects = panes(ROOM, count)
    covered = np.zeros((ROOM[3], ROOM[2]), int)
    for x, y, width, height in rects:
        assert (width, height) == rects[0][2:]
        covered[y - 20 : y - 20 + height, x - 10 : x - 10 + width] += 1
    assert len(rects) == count
    assert covered.max() == 1
    assert covered.mean() > 0.98


def test_there_are_no_more_pictures_than_lanes() -> None:
    assert len(pane_rects(ROOM, 4, ("a", "b"))) == 2
    assert pane_rects(ROOM, 1, ("a", "b")) == (ROOM,)


def test_a_linked_camera_sees_its_lane_where_the_first_sees_the_flown_one() -> None:
    flown, other = np.array([3.0, 4.0, 5.0]), np.array([13.0, -4.0, 9.0])
    view = camera(np.array([-9.0, 2.0, 8.0]), flown)
    moved = linked(view, other - flown)
    seen = on_screen(view, flown, ROOM), on_screen(moved, other, ROOM)
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-9)
    np.testing.assert_allclose(moved.eye_w - other, view.eye_w - flown)


def test_a_lane_that_was_flung_away_leaves_the_camera_where_it_is() -> None:
    view = camera(np.array([-9.0, 2.0, 8.0]), np.zeros(3))
    for offset in (np.array([1e9, 0.0, 0.0]), np.full(3, np.nan)):
        assert linked(view, offset) is view


class Sheet:
    """In a renderer's place: takes pictures and draws nothing."""

    size_px = ROOM[2:]

    def begin(self, frame, target, *, viewport, adds_up):
        return lambda again: True


@pytest.mark.parametrize("solo", ["", "flown", "far", "gone"])
def test_one_picture_follows_the_flown_lane_or_the_one_shown_alone(solo: str) -> None:
    place = np.eye(4)
    place[:3, 3] = 200.0, -300.0, 40.0
    far = fakes.lane("far", T_wb=place, T_wb_previous=place, status=LaneStatus.DIVERGED)
    scene_view = observed(fakes.lane(), far)
    places = scene_view.places_w()
    view = camera(places["flown"] + [-9.0, 2.0, 8.0], places["flown"])
    lanes, options = ("flown", "far"), ViewOptions(solo=solo)
    (pane,), _ = draw_panes(Sheet(), None, scene_view, view, options, (ROOM,), lanes, wall_s=0.0)
    followed = places["far" if solo == "far" else "flown"]
    middle = (ROOM[0] + 0.5 * ROOM[2], ROOM[1] + 0.5 * ROOM[3])
    np.testing.assert_allclose(on_screen(pane.view, followed, ROOM), middle, atol=1e-6)


def test_what_is_behind_the_camera_is_nowhere_on_the_screen() -> None:
    view = camera(np.array([0.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    assert on_screen(view, np.array([-5.0, 0.0, 0.0]), ROOM) is None
    assert on_screen(view, np.array([1.0, 50.0, 0.0]), ROOM) is None
    np.testing.assert_allclose(on_screen(view, np.array([5.0, 0.0, 0.0]), ROOM), (460.5, 320.0))


def test_lanes_stand_in_a_row_square_to_the_view_about_their_true_place() -> None:
    scene_view = observed(*(fakes.lane(name) for name in ("flown", "a", "b")))
    options = ViewOptions(spread_w=spread_along(np.pi / 2, 5.0))
    places, true = scene_view.places_w(options), scene_view.places_w()
    np.testing.assert_allclose(places["a"], true["a"])
    drawn = scene_view.frame(camera(np.zeros(3), np.ones(3)), options).vehicles
    assert [vehicle.ghost for vehicle in drawn] == [False, False, False]
    np.testing.assert_allclose(places["b"] - places["flown"], [10.0, 0.0, 0.0], atol=1e-9)


def test_a_lane_shown_alone_is_the_only_one_and_one_that_is_gone_hides_nothing() -> None:
    scene_view = observed(fakes.lane(), fakes.lane("a"))
    view = camera(np.zeros(3), np.ones(3))
    assert len(scene_view.frame(view, ViewOptions(solo="a")).vehicles) == 1
    assert len(scene_view.frame(view, ViewOptions(solo="gone")).vehicles) == 2


def test_the_lane_of_a_picture_is_solid_there_and_the_others_are_ghosts() -> None:
    scene_view = observed(fakes.lane(), fakes.lane("a"))
    frame = scene_view.frame(camera(np.zeros(3), np.ones(3)), ViewOptions(highlight="a"))
    assert [vehicle.ghost for vehicle in frame.vehicles] == [True, False]


def test_a_ghost_that_stopped_is_a_wreck_with_a_marker_in_its_colour() -> None:
    stopped = fakes.lane("a", status=LaneStatus.DIVERGED, tint=(0.9, 0.1, 0.1))
    frame = observed(fakes.lane(), stopped).frame(camera(np.zeros(3), np.ones(3)))
    wreck = frame.vehicles[1]
    assert wreck.wreck
    assert not wreck.ghost
    marks = [line for line in frame.lines if line.colour == stopped.tint]
    assert len(marks) == len(wreck_marker(np.zeros(3), 1.0, stopped.tint))
    for line in marks:
        assert np.linalg.norm(line.points_w - stopped.T_wb[:3, 3], axis=1).max() < 20.0
