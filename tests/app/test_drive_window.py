"""Wheels as a user has them: keys drive a lap between the cones, a held key takes the snakeboard out of rest."""

import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sim.world.level_grounds import driving_grounds
from tests.app.desktop import App, Probe, Screen

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]

LOAD_S = 240.0
SMALL = ("--size", "480x320")
"""Quickly drawn: keys are looked at once a frame."""
CRUISE_MPS = 7.5
WHEELBASE_M = 2.4
REACTION_S = 0.15
"""From what the probe shows to what a key does, beside the time between two looks."""
BLIND_M = 1.9
"""The car may go this far within a reaction: where the machine is busy, it is driven more slowly."""
STALL_S, BACK_M = 0.5, 1.0
"""Who has not looked for so long has not driven: how far that led aside counts again once the car is back so near."""
LAP_S = 300.0
"""Simulated time within which the lap has to be done: at the cruising speed it takes a quarter of that."""


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


class Reaction:
    """Simulated seconds from what is seen to what is done about it: the longest of late."""

    def __init__(self, clock_s: float) -> None:
        self._clock_s, self.time_s = clock_s, REACTION_S

    def looked(self, clock_s: float) -> None:
        """At a moment, which need not be a new one."""
        if clock_s == self._clock_s:
            return
        self.time_s = max(0.95 * self.time_s, REACTION_S + clock_s - self._clock_s)
        self._clock_s = clock_s


def steering(lap: np.ndarray, lane: Probe, reaction_s: float) -> tuple[float, float]:
    """(bend wanted towards a point ahead on the lap, distance from its centre line now)."""
    place, heading, speed = np.array(lane["x_w"][:2]), lane["heading_rad"], lane["v_b"][0]
    off = float(np.linalg.norm(lap - place, axis=1).min())
    travel = speed * reaction_s
    place = place + travel * np.array([math.cos(heading), math.sin(heading)])
    heading += travel * lane["shape"][1] / WHEELBASE_M
    nearest = int(np.linalg.norm(lap - place, axis=1).argmin())
    ahead = lap[(nearest + round(2 * (3.0 + 0.6 * speed))) % (len(lap) - 1)] - place
    left = math.cos(heading) * ahead[1] - math.sin(heading) * ahead[0]
    return 2.0 * left / float(ahead @ ahead), off


def keys_for(bend: float, off: float, lane: Probe, reaction_s: float) -> list[str]:
    """Held keys: the wheel is turned while the car's own bend falls short of the one wanted; slower when astray."""
    speed, cruise = lane["v_b"][0], min(CRUISE_MPS, BLIND_M / reaction_s) / (1.0 + off**2)
    held = ["w"] if speed < max(cruise, 1.0) else ["s"] if speed > cruise + 2.0 else []
    missing = bend - lane["shape"][1] / WHEELBASE_M
    if abs(missing) > 0.012:
        held.append("a" if missing > 0.0 else "d")
    return held


def test_keys_drive_a_lap_between_the_cones(screen: Screen, tmp_path: Path) -> None:
    grounds = driving_grounds()
    app, keys, passed, worst = App(screen, tmp_path, "drive", *SMALL), Keys(screen), 0, 0.0
    astray = False
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        screen.xdotool("mousemove", 240, 160)
        begun = seen["clock_s"]
        reaction = Reaction(begun)
        while passed < len(grounds.lap) - 12:
            seen = app.wait_until(lambda p: True, timeout_s=10, what="still there")
            assert seen["clock_s"] - begun < LAP_S, f"{passed} of {len(grounds.lap)} points passed"
            lane = seen["lanes"][0]
            reaction.looked(seen["clock_s"])
            bend, off = steering(grounds.lap, lane, reaction.time_s)
            astray = off > BACK_M and (astray or reaction.time_s > STALL_S)
            worst = worst if astray else max(worst, off)
            keys.hold(*keys_for(bend, off, lane, reaction.time_s))
            at = int(np.linalg.norm(grounds.lap - lane["x_w"][:2], axis=1).argmin())
            passed = at if 0 <= at - passed < 80 else passed
            time.sleep(0.04)
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
