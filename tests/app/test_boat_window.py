"""The motor boat as a user has her: a key has her sail by plan, keys alone bring her through waves to her berth."""

import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.app.desktop import App, Screen
from tests.app.test_drive_window import LOAD_S, SMALL, Keys
from tests.driving import Reaction

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]

COURSE = ((14.0, -2.5), (19.0, 1.5), (22.0, 8.0))
"""Round into the run to the berth beside the first pontoon."""
BEHIND_M, BACK = 23.6, ((26.0, -5.0), (8.0, -8.0))
"""East of this she has missed the berth, where looks are few and the wind drives her past it: round by these places."""
CRUISE_MPS, RUN_MPS = 1.8, 0.9
WITHIN_M = 2.0
SAIL_S = 400.0
"""Simulated; at the cruising speed it takes a twentieth of that."""


def test_keys_bring_her_to_the_berth(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "harbour", "--quality", "software", *SMALL)
    keys = Keys(screen)
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the harbour is drawn")
        screen.xdotool("key", "j")
        seen = app.wait_until(lambda p: p["berth"] is not None, timeout_s=120, what="a plan is sailed")
        began_m = seen["berth"]["off_m"]
        assert began_m > 20.0
        app.wait_until(lambda p: p["berth"]["off_m"] < began_m - 3.0, timeout_s=120, what="plans are sailed")
        screen.xdotool("key", "j")
        app.wait_until(lambda p: p["berth"] is None, timeout_s=60, what="the helm is given back")
        screen.xdotool("key", "BackSpace")
        seen = app.wait_until(lambda p: p["clock_s"] < 1.0, timeout_s=60, what="back at the start")
        started_s, due = seen["clock_s"], list(COURSE)
        reaction, before = Reaction(seen["clock_s"]), (seen["clock_s"], seen["lanes"][0]["heading_rad"])
        turning = 0.0
        while True:
            seen = app.wait_until(lambda p: True, timeout_s=30, what="a look")
            lane, clock_s = seen["lanes"][0], seen["clock_s"]
            assert lane["status"] == "running"
            assert clock_s - started_s < SAIL_S, f"still {due} to go, at {lane['x_w']}"
            reaction.looked(clock_s)
            if clock_s > before[0] + 0.05:
                turned = math.remainder(lane["heading_rad"] - before[1], 2.0 * math.pi)
                turning, before = turned / (clock_s - before[0]), (clock_s, lane["heading_rad"])
            off = np.array(due[0]) - lane["x_w"][:2]
            speed, away_m = float(lane["v_b"][0]), float(np.linalg.norm(off))
            last = len(due) == 1
            if last and away_m < WITHIN_M and float(np.linalg.norm(lane["v_b"][:2])) < 0.7:
                break
            if not last and away_m < 3.0:
                due.pop(0)
                continue
            if last and lane["x_w"][0] > BEHIND_M:
                due = [*BACK, *COURSE]
                continue
            wanted = min(0.35 * away_m, RUN_MPS) if last else CRUISE_MPS
            bearing = math.atan2(off[1], off[0])
            ahead_rad = turning * (reaction.time_s + 0.3)
            to_port = math.remainder(bearing - lane["heading_rad"] - ahead_rad, 2.0 * math.pi)
            held = []
            if abs(to_port) > 0.15:
                held.append("a" if to_port > 0.0 else "d")
            if speed < wanted - 0.1 and abs(to_port) < 0.7:
                held.append("w")
            elif speed > wanted + 0.4:
                held.append("s")
            keys.hold(*held)
            time.sleep(0.02)
        keys.hold()
        np.testing.assert_allclose(lane["x_w"][:2], COURSE[-1], atol=WITHIN_M)
        seen = app.wait_frames(2)
        assert seen["gl_errors"] == []
        assert "Traceback" not in app.log()
    finally:
        keys.hold()
        app.close()
