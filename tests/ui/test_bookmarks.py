"""Laws of bookmarks: what is set is found again, in this session and the next."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from render.cameras.rig import CameraRig
from render.frame import look_at
from sim.commands import Reset, StartAt
from sim.platform.errors import InputError
from tests.sim.simulation_scenes import fly, helicopter_scene, simulation
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.view import (
    BOOKMARKS,
    MOST,
    BookmarkKeeper,
    Bookmarks,
    DropBookmark,
    OpenBookmark,
    SceneBookmarks,
    SetBookmark,
    draw_bookmarks,
    eye_of,
    start_of,
)
from ui.settings.view_settings import ViewSettings
from ui.window.context import ChangeView


def test_lanes_begin_at_a_start_that_was_set_in_flight_and_come_back_to_it() -> None:
    running = simulation(helicopter_scene())
    there = fly(running, 3.0, throttle=1.0, pitch=0.5, yaw=0.4)
    assert there.height_above_ground_m > 1.0
    fly(running, 2.0, roll=0.3)
    for command in (StartAt(start_of(there)), Reset()):
        running.submit(command)
        back = running.advance(0.0).lanes[0]
        np.testing.assert_allclose(back.T_wb, there.T_wb, atol=1e-9)
        np.testing.assert_allclose(back.twist_b, there.twist_b, atol=1e-9)
        running.advance(0.5)
    running.submit(StartAt(replace(start_of(there), position_w=(1e9, 0.0, 0.0))))
    before = running.snapshot.lanes[0].T_wb
    assert "refused" in running.advance(0.0).message
    np.testing.assert_array_equal(running.snapshot.lanes[0].T_wb, before)


def test_a_view_that_was_set_is_what_the_free_camera_sees_again() -> None:
    seen = look_at(np.array([30.0, -12.0, 45.0]), np.array([-8.0, 20.0, 12.0]))
    *eye_w, bearing_rad, pitch_rad = eye_of(seen)
    rig = CameraRig("free")
    rig.stand_at(np.array(eye_w), bearing_rad, pitch_rad)
    view = rig.update(np.eye(4), np.zeros(6), 1.0 / 60.0)
    np.testing.assert_allclose(view.view, seen, atol=1e-6)


def test_bookmarks_outlive_the_session_and_belong_to_their_scene(tmp_path: Path) -> None:
    keeper, now, view = BookmarkKeeper(tmp_path), fakes.snapshot(), ViewSettings()
    seen = look_at(np.array([3.0, -2.0, 5.0]), np.zeros(3))
    for request in (SetBookmark("start"), SetBookmark("view"), SetBookmark("view")):
        assert keeper.resolved(request, now, view, seen) == []
    again = BookmarkKeeper(tmp_path)
    assert [mark.name for mark in again.of(now.scene)] == ["Start 1", "View 1", "View 2"]
    assert again.of("another scene") == ()
    assert again.resolved(OpenBookmark("Start 1"), now, view, seen) == [StartAt(start_of(now.lanes[0]))]
    (asked,) = again.resolved(OpenBookmark("View 2"), now, view, seen)
    assert asked == ChangeView(replace(view, camera="free", eye=eye_of(seen), eyes=1))
    again.resolved(DropBookmark("View 1"), now, view, seen)
    assert [mark.name for mark in BookmarkKeeper(tmp_path).of(now.scene)] == ["Start 1", "View 2"]


def test_there_are_no_more_than_can_be_shown() -> None:
    marks = Bookmarks()
    for _ in range(MOST):
        marks = marks.with_one("canyon", "View", eye=(0.0, 0.0, 1.0, 0.0, 0.0))
    with pytest.raises(InputError, match=f"no more than {MOST}"):
        marks.with_one("canyon", "View", eye=(0.0, 0.0, 1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 5000,
        json.dumps({"scenes": {"canyon": [{"name": "x", "eye": [1e300, 0, 0, 0, 0]}]}}),
        json.dumps({"scenes": {"canyon": [{"name": "\u0000", "eye": [0, 0, 0, 0, 0]}]}}),
        json.dumps({"scenes": {"canyon": 3}}),
    ],
)
def test_a_damaged_file_is_set_aside(text: str, tmp_path: Path) -> None:
    (tmp_path / BOOKMARKS.name).write_text(text)
    assert BOOKMARKS.read(tmp_path) == Bookmarks()
    assert (tmp_path / f"{BOOKMARKS.name}.damaged").exists()


def test_bookmarks_are_set_opened_and_dropped_by_clicks(bench: Bench) -> None:
    now = fakes.snapshot()
    bench.context.show(
        SceneBookmarks(Bookmarks().with_one("x", "View", eye=(0.0, 0.0, 1.0, 0.0, 0.0)).of("x"))
    )
    assert bench.click("bookmarks/start", draw_bookmarks, now) == [SetBookmark("start")]
    assert bench.click("bookmarks/view", draw_bookmarks, now) == [SetBookmark("view")]
    assert bench.click("bookmarks/open/View 1", draw_bookmarks, now) == [OpenBookmark("View 1")]
    assert bench.click("bookmarks/drop/View 1", draw_bookmarks, now) == [DropBookmark("View 1")]
