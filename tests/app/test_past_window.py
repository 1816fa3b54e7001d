"""After a crash, by keys and mouse: the playhead is drawn through a plot; three seconds back it waits, and the first
control flies on from there."""

import sys
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")

FALLING = """
vehicle = "helicopter"
flight_mode = "raw"

[world]
name = "plain"

[start]
position_m = [0.0, 0.0, 60.0]
velocity_mps = [0.0, 0.0, -6.0]
"""


def scrubbed(app: App, begin: float, end: float) -> None:
    """The playhead, drawn through a plot of the whole recording from one share of its width to another."""
    app.click("plots/span/0")
    first, whole_s = None, app.wait_frames(2)["recorded_s"]
    x, y, width, height = app.wait_frames(2)["widgets"]["plots/energy/area"]
    for share in (begin, end):
        app.screen.xdotool("mousemove", round(x + share * width), round(y + height / 2))
        app.wait_frames(2)
        if first is None:
            app.screen.xdotool("mousedown", 1)
        seen = app.wait_until(lambda p: p["look_back"] is not None, timeout_s=30, what="it looks back")
        wanted_s = whole_s[0] + share * (whole_s[1] - whole_s[0])
        seen = app.wait_until(
            lambda p, at_s=wanted_s: abs(p["clock_s"] - at_s) < 0.3, timeout_s=30, what="that moment is shown"
        )
        assert seen["paused"]
        first = first or seen
    app.screen.xdotool("mouseup", 1)
    assert app.wait_frames(3)["clock_s"] == seen["clock_s"]
    assert first is not None
    assert first["lanes"][0]["x_w"][2] > seen["lanes"][0]["x_w"][2]


def test_after_a_crash_three_seconds_back_waits_and_the_first_control_flies_on(
    screen: Screen, tmp_path: Path
) -> None:
    scene = tmp_path / "falling.toml"
    scene.write_text(FALLING)
    app = App(screen, tmp_path, str(scene), "--quality", "low", "--size", "1024x640")
    try:
        crashed = app.wait_until(
            lambda p: p["lanes"][0]["status"] == "crashed", timeout_s=120, what="it has crashed"
        )
        assert (
            "banner/reset"
            in app.wait_until(
                lambda p: "banner/replay" in p["widgets"], timeout_s=60, what="the fall is shown again"
            )["widgets"]
        )
        scrubbed(app, 0.2, 0.5)
        screen.xdotool("key", "F8")
        app.wait_until(lambda p: "banner/back" in p["widgets"], timeout_s=30, what="it has crashed, now")
        app.click("banner/back")
        back = app.wait_until(lambda p: p["look_back"] is not None, timeout_s=30, what="it looks back")
        assert back["paused"]
        assert back["clock_s"] == pytest.approx(crashed["recorded_s"][1] - 3.0, abs=0.1)
        waited = app.wait_frames(10)
        assert (waited["clock_s"], waited["paused"]) == (back["clock_s"], True)
        assert "past" in waited["widgets"]
        screen.xdotool("keydown", "r")
        flying = app.wait_until(lambda p: p["look_back"] is None, timeout_s=30, what="it flies on")
        assert not flying["paused"]
        assert flying["lanes"][0]["status"] == "running"
        climbing = app.wait_until(
            lambda p: p["clock_s"] > crashed["recorded_s"][1] + 1.0,
            timeout_s=60,
            what="it flies where it had crashed",
        )
        assert climbing["lanes"][0]["status"] == "running"
        assert climbing["lanes"][0]["v_b"][2] > 0.0
        assert climbing["gl_errors"] == []
    finally:
        screen.xdotool("keyup", "r")
        app.close()
