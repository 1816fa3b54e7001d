"""Undo as a user has it, by keys and mouse: a deleted obstacle, a lane."""

import math
import sys
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_a_deleted_obstacle_and_a_lane_come_back_and_go_again(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "plan-boat-docking", "--quality", "software")
    both = ["west buoy", "east buoy"]
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        assert seen["plan"]["obstacles"] == both
        app.click("plan/handle/obstacle 0")
        screen.xdotool("key", "Delete")
        app.wait_until(lambda p: p["plan"]["obstacles"] == both[1:], timeout_s=30, what="it is deleted")
        screen.xdotool("key", "ctrl+z")
        app.wait_until(lambda p: p["plan"]["obstacles"] == both, timeout_s=30, what="it is there again")
        screen.xdotool("key", "ctrl+shift+z")
        app.wait_until(lambda p: p["plan"]["obstacles"] == both[1:], timeout_s=30, what="it is gone again")
        screen.xdotool("key", "ctrl+z")
        app.wait_until(lambda p: p["plan"]["obstacles"] == both, timeout_s=30, what="it is back for good")
        app.click("tab/Lanes")
        app.click("lanes/integrator/combo")
        app.click("lanes/integrator/item/variational")
        app.click("lanes/add")
        seen = app.wait_until(lambda p: len(p["lanes"]) == 2, timeout_s=120, what="there are two lanes")
        name = seen["lanes"][1]["name"]
        app.rest()
        screen.xdotool("key", "ctrl+z")
        app.wait_until(lambda p: len(p["lanes"]) == 1, timeout_s=60, what="it is one lane again")
        screen.xdotool("key", "ctrl+y")
        seen = app.wait_until(lambda p: len(p["lanes"]) == 2, timeout_s=60, what="the lane is back")
        assert seen["lanes"][1]["name"] == name
        assert seen["gl_errors"] == []
    finally:
        app.close()


def test_a_goal_is_taken_by_one_drag_of_its_dot_and_comes_back(screen: Screen, tmp_path: Path) -> None:
    """Of a tool that hinges keep in a plane."""
    app = App(screen, tmp_path, "plan-chain", "--quality", "software")
    try:
        begin = app.wait_until(
            lambda p: "plan/handle/goal" in p["widgets"] and p["paused"],
            timeout_s=240,
            what="the goal is drawn",
        )
        x, y, width, height = begin["widgets"]["plan/handle/goal"]
        x, y = round(x + 0.5 * width), round(y + 0.5 * height)
        screen.xdotool("mousemove", x, y)
        app.wait_frames(3)
        screen.xdotool("mousedown", 1)
        app.wait_frames(3)
        for k in range(1, 7):
            screen.xdotool("mousemove", x - 5 * k, y + 4 * k)
            app.wait_frames(1)
        screen.xdotool("mouseup", 1)
        app.wait_frames(3)  # a key in the frame of the last move would undo what comes after it
        before = begin["plan"]["goal_w"]
        moved = app.wait_until(
            lambda p: math.dist(p["plan"]["goal_w"], before) > 0.05, timeout_s=30, what="it has been dragged"
        )["plan"]["goal_w"]
        assert moved[1] == pytest.approx(before[1], abs=1e-6)
        screen.xdotool("key", "ctrl+z")
        app.wait_until(
            lambda p: math.dist(p["plan"]["goal_w"], before) < 1e-6, timeout_s=30, what="it is back"
        )
    finally:
        app.close()
