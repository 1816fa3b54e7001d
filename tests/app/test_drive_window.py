"""Wheels as a user has them: keys drive between the cones, a held key takes the snakeboard out of rest."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from sim.world.level_grounds import driving_grounds
from tests.app.desktop import App, Screen
from tests.app.program import ROOT
from tests.driving import Reaction, further, keys_for, steering

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]

LOAD_S = 240.0
SMALL = ("--size", "480x320")
"""Quickly drawn: keys are looked at once a frame."""
STEPS = 5
"""That time goes on by, from one look to the next: it stands meanwhile, however long a busy machine takes for them."""
LAP_S = 300.0
"""Simulated time within which it has to be done: at the cruising speed it takes a twentieth of that."""
FROM, TO = 460, 580
"""Points of the lap, half a metre apart: its sharpest bends to the right and to the left, at 510 and 573."""
USUAL_START = "position_m = [-34.0, -34.0, 0.0]"


class Keys:
    """Keys that are held, pressed and released only where that changes."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._down: frozenset[str] = frozenset()

    def hold(self, *names: str) -> None:
        wanted = frozenset(names)
        for name in self._down - wanted:
            self._screen.xdotool("keyup", name)
        for name in wanted - self._down:
            self._screen.xdotool("keydown", name)
        self._down = wanted


def in_the_bends(folder: Path, lap: np.ndarray) -> Path:
    """The scene `drive` begun on the lap before its sharpest bends to either side."""
    ahead = lap[FROM + 1] - lap[FROM]
    begin = f"position_m = [{lap[FROM][0]}, {lap[FROM][1]}, 0.0]"
    heading = f"heading_deg = {math.degrees(math.atan2(ahead[1], ahead[0]))}"
    text = (ROOT / "scenes" / "drive.toml").read_text(encoding="utf-8")
    assert text.count(USUAL_START) == 1
    path = folder / "bends.toml"
    path.write_text(text.replace(USUAL_START, f"{begin}\n{heading}"), encoding="utf-8")
    return path


def test_keys_drive_through_bends_between_the_cones(screen: Screen, tmp_path: Path) -> None:
    """The whole lap is driven by the same keys without a window: `tests/ui/test_driving.py`."""
    grounds = driving_grounds()
    app, keys = App(screen, tmp_path, str(in_the_bends(tmp_path, grounds.lap)), *SMALL), Keys(screen)
    passed, worst = FROM, 0.0
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        screen.xdotool("mousemove", 240, 160)
        screen.xdotool("key", "space")
        seen = app.wait_until(lambda p: p["paused"], timeout_s=60, what="time stands")
        begun = seen["clock_s"]
        reaction = Reaction(begun)
        while passed < TO:
            assert seen["clock_s"] - begun < LAP_S, f"{passed} of {TO} points passed"
            lane = seen["lanes"][0]
            reaction.looked(seen["clock_s"])
            bend, off = steering(grounds.lap, lane, reaction.time_s)
            worst = max(worst, off)
            keys.hold(*keys_for(bend, off, lane, reaction.time_s))
            passed = further(grounds.lap, passed, lane)
            reached_s = seen["clock_s"] + (STEPS - 0.5) * lane["step_s"]
            for _ in range(100):  # a press that the display loses is made again
                missing = math.ceil((reached_s - seen["clock_s"]) / lane["step_s"])
                screen.xdotool("key", "--repeat", missing, "--delay", 10, "n")
                seen = app.wait_until(lambda p: True, timeout_s=5, what="still there")
                drawn = seen["frames"]
                seen = app.wait_until(
                    lambda p, end_s=reached_s, n=drawn: p["clock_s"] > end_s or p["frames"] >= n + 4,
                    timeout_s=60,
                    what="frames go on",
                )
                if seen["clock_s"] > reached_s:
                    break
            assert seen["clock_s"] > reached_s, "time goes on by some steps"
        keys.hold()
        assert lane["status"] == "running"
        assert worst < grounds.lap_half_width_m - 0.8, f"{worst:.2f} m off the centre line"
        assert seen["gl_errors"] == []
    finally:
        keys.hold()
        app.close()


def test_a_held_gait_key_takes_the_snakeboard_out_of_rest(screen: Screen, tmp_path: Path) -> None:
    app, keys = App(screen, tmp_path, "skate", *SMALL), Keys(screen)
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        screen.xdotool("mousemove", 240, 160)
        keys.hold("1")
        seen = app.wait_until(
            lambda p: p["lanes"][0]["x_w"][0] < -2.5, timeout_s=60, what="it has moved along -x"
        )
        keys.hold()
        assert abs(seen["lanes"][0]["x_w"][1]) < 1.0
        assert seen["gl_errors"] == []
    finally:
        keys.hold()
        app.close()
