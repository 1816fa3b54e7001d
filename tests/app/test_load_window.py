"""In windows: keys fly a quadrotor, put a load on the pad and move a formation's load; the way of a load is planned."""

import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sim.world import load_world
from tests.app.desktop import App, Screen
from tests.app.program import ROOT

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]

LOAD_S = 240.0
SMALL = ("--size", "480x320", "--quality", "software")


def near_the_pad(folder: Path) -> Path:
    """The scene `delivery` with its last goal alone, 25 m before the far pad and held still by its pilot."""
    x, y, z = load_world("canyon", seed=7).pad("landing").centre_w
    text = (ROOT / "scenes" / "delivery.toml").read_text(encoding="utf-8")
    text = text.replace('pad = "start"', f"position_m = [{x - 25.0}, {y}, {z + 18.0}]")
    text = text.replace('flight_mode = "attitude"', 'flight_mode = "hold"')
    before, *goals = re.split(r"(?m)^(?=\[\[goals\]\])", text)
    path = folder / "near.toml"
    path.write_text(before + goals[-1], encoding="utf-8")
    return path


def test_keys_carry_the_load_to_the_pad_and_put_it_down(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, str(near_the_pad(tmp_path)), *SMALL)
    held: set[str] = set()

    def hold(*wanted: str) -> None:
        for key in held - set(wanted):
            screen.xdotool("keyup", key)
        for key in set(wanted) - held:
            screen.xdotool("keydown", key)
        held.clear()
        held.update(wanted)

    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        screen.xdotool("mousemove", 240, 160)
        assert seen["goals"]["due"] == "Put it down"
        x = float(load_world("canyon", seed=7).pad("landing").centre_w[0])
        while seen["goals"]["due"]:
            seen = app.wait_until(lambda p: True, timeout_s=10, what="still there")
            lane = seen["lanes"][0]
            assert lane["status"] == "running"
            assert seen["clock_s"] < 240.0, seen["goals"]
            left, speed = x - lane["x_w"][0], lane["v_b"][0]
            wanted = ["w"] if left - 3.0 * max(speed, 0.0) > 2.0 and speed < 4.0 else []
            wanted += ["s"] if left - 3.0 * min(speed, 0.0) < -3.0 and speed > -3.0 else []
            hold(*(wanted or (["f"] if seen["goals"]["distance_m"] < 4.0 else [])))
            time.sleep(0.04)
        assert seen["gl_errors"] == []
    finally:
        hold()
        app.close()


def test_keys_fly_the_quadrotor_and_hands_off_it_hovers(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "quadrotor", *SMALL)
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        screen.xdotool("mousemove", 240, 160)
        begin = np.array(seen["lanes"][0]["x_w"])
        for key, moved in (("r", lambda x: x[2] > 3.0), ("w", lambda x: x[0] > 3.0)):
            screen.xdotool("keydown", key)
            app.wait_until(
                lambda p, moved=moved: moved(np.array(p["lanes"][0]["x_w"]) - begin),
                timeout_s=60,
                what=f"{key} has moved it",
            )
            screen.xdotool("keyup", key)
        seen = app.wait_until(
            lambda p: np.linalg.norm(p["lanes"][0]["v_b"]) < 0.3, timeout_s=60, what="it hovers"
        )
        assert seen["lanes"][0]["status"] == "running"
        assert seen["gl_errors"] == []
    finally:
        app.close()


def test_keys_move_the_target_of_a_formation_and_its_load_follows(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "quadrotors", *SMALL)
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        screen.xdotool("mousemove", 240, 160)
        begin = np.array(seen["lanes"][0]["x_w"])
        screen.xdotool("keydown", "w")
        app.wait_until(
            lambda p: np.linalg.norm(p["lanes"][0]["x_w"][:2] - begin[:2]) > 1.0,
            timeout_s=60,
            what="w has moved the load",
        )
        screen.xdotool("keyup", "w")
        seen = app.wait_until(
            lambda p: np.linalg.norm(p["lanes"][0]["v_b"]) < 0.2, timeout_s=60, what="it has come to rest"
        )
        assert seen["lanes"][0]["status"] == "running"
        assert abs(seen["lanes"][0]["x_w"][2] - begin[2]) < 0.2
        assert seen["gl_errors"] == []
    finally:
        app.close()


def test_the_carrying_of_a_load_is_planned_in_the_window(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "plan-sling", "--quality", "software")
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        app.click("plan/start")
        seen = app.wait_until(
            lambda p: p["plan"]["phase"] == "idle" and p["plan"]["status"] == "solved",
            timeout_s=60,
            what="the way is planned",
        )
        assert seen["plan"]["message"].startswith("Solved")
        assert seen["gl_errors"] == []
    finally:
        app.close()
