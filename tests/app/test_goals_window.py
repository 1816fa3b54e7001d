"""The guided first flight in its window: done to its end by its prompts; its steps skipped, begun again, hidden."""

import sys
from pathlib import Path

import pytest

from sim.scene import load_scene
from sim.scene.conditions import AlongWay
from tests.app.desktop import App, Screen
from tests.app.first_flight import Beginner

LONGEST_S = 600.0
"""Simulated; the flight takes 100 s, more where pictures come so late that it crashes and goes back."""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_the_first_steps_are_done_by_their_keys_and_can_be_skipped_and_begun_again(
    screen: Screen, tmp_path: Path
) -> None:
    app = App(screen, tmp_path, "canyon", "--quality", "software", "--size", "900x600")
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        assert (seen["goals"]["due"], "goals" in seen["widgets"]) == ("Take off", True)
        screen.xdotool("keydown", "r")
        app.wait_until(lambda p: p["goals"]["due"] == "Hover", timeout_s=60, what="it has taken off")
        screen.xdotool("keyup", "r")
        seen = app.wait_until(
            lambda p: p["goals"]["due"].startswith("Fly") and "goal_marker" in p["widgets"],
            timeout_s=60,
            what="it has hovered, and is shown where to fly",
        )
        ways = (goal.find(AlongWay) for goal in load_scene("canyon").goals)
        way_m = next(way.way_m for way in ways if way is not None)
        assert seen["goals"]["distance_m"] == pytest.approx(way_m, abs=15.0)  # all of it is left
        screen.xdotool("key", "F2")
        app.wait_until(lambda p: p["goals"]["due"] == "Slow down", timeout_s=30, what="a goal is skipped")
        screen.xdotool("key", "F3")
        app.wait_until(lambda p: p["goals"]["at"] <= 1, timeout_s=30, what="it begins again")
        screen.xdotool("key", "F4")
        seen = app.wait_until(lambda p: "goals" not in p["widgets"], timeout_s=30, what="they are hidden")
        assert seen["gl_errors"] == []
    finally:
        screen.xdotool("keyup", "r")
        app.close()


def test_who_follows_its_prompts_by_keys_lands_on_the_far_pad(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "canyon", "--quality", "software", "--size", "640x400")
    beginner = Beginner(app)
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        while seen["goals"]["due"]:
            assert seen["clock_s"] < LONGEST_S, (seen["goals"], seen["lanes"][0])
            beginner.look(seen)
            drawn = seen["frames"]
            seen = app.wait_until(lambda p, n=drawn: p["frames"] > n, timeout_s=60, what="a frame")
        goals = seen["goals"]
        assert (goals["due"], goals["at"], goals["skipped"], goals["graded"]) == ("", 5, False, True)
        assert seen["lanes"][0]["on_ground"]
        assert seen["gl_errors"] == []
    finally:
        beginner.let_go()
        app.close()
