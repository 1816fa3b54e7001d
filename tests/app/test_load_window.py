"""In windows: keys fly a quadrotor, put a load on the pad and move a formation's load; the way of a load is planned."""

import math
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sim.world import load_world
from tests.app.desktop import App, Probe, Screen
from tests.app.program import ROOT

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]

LOAD_S = 240.0
SMALL = ("--size", "480x320", "--quality", "software")
FARTHEST_OF_PATH_M = -1.0
"""Along world x, of the eight in the scene `quadrotors`."""


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


def test_a_load_is_led_along_its_path_until_keys_take_its_target(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "quadrotors", *SMALL)
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        screen.xdotool("mousemove", 240, 160)
        begin = np.array(seen["lanes"][0]["x_w"])
        app.wait_until(
            lambda p: np.linalg.norm(p["lanes"][0]["x_w"] - begin) > 1.0,
            timeout_s=60,
            what="it is led along its path",
        )
        screen.xdotool("keydown", "w")
        app.wait_until(
            lambda p: p["lanes"][0]["x_w"][0] > FARTHEST_OF_PATH_M + 0.5,
            timeout_s=60,
            what="w has moved the load away from its path",
        )
        screen.xdotool("keyup", "w")
        seen = app.wait_until(
            lambda p: np.linalg.norm(p["lanes"][0]["v_b"]) < 0.2, timeout_s=60, what="it has come to rest"
        )
        assert seen["lanes"][0]["status"] == "running"
        assert seen["lanes"][0]["x_w"][0] > FARTHEST_OF_PATH_M
        assert seen["gl_errors"] == []
    finally:
        app.close()


def planned(app: App) -> Probe:
    """Plan's button has been pressed and a plan is found."""
    app.click("plan/start")
    seen = app.wait_until(
        lambda p: p["plan"]["phase"] == "idle" and p["plan"]["status"] == "solved",
        timeout_s=60,
        what="the way is planned",
    )
    assert seen["plan"]["message"].startswith("Solved")
    return seen


def flown(app: App) -> Probe:
    """Fly's button has been pressed and the plan is flown to its end."""
    before = app.wait_until(lambda p: True, timeout_s=10, what="a probe")["lanes"][0]["generation"]
    app.click("plan/fly")
    return app.wait_until(
        lambda p: (
            p["lanes"][0]["generation"] > before
            and p["paused"]
            and p["clock_s"] > 0.999 * p["plan"]["duration_s"]
        ),
        timeout_s=60,
        what="it has been flown",
    )


def opened(app: App, words: str, name: str, vehicle: str) -> None:
    """The scene has been searched for by some words of its title and opened."""
    app.click("tab/Scene")
    app.click("scene/search")
    app.screen.xdotool("key", "ctrl+a")
    app.wait_frames(2)
    app.screen.xdotool("type", words)
    app.wait_until(lambda p: f"scene/open/{name}" in p["widgets"], timeout_s=30, what="it is found")
    app.click(f"scene/open/{name}")
    app.wait_until(
        lambda p: p["lanes"][0]["vehicle"] == vehicle and p["plan"]["status"] == "",
        timeout_s=LOAD_S,
        what="it is opened",
    )


def test_the_way_through_gates_and_a_swing_up_are_planned_and_flown(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "plan-quadrotor-gates", "--quality", "software")
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        app.click("transport/speed_up")
        planned(app)
        seen = flown(app)
        assert math.dist(seen["lanes"][0]["x_w"], seen["plan"]["end_w"]) < 1e-6
        opened(app, "swung", "plan-pendulum-swing-up", "pendulum")
        planned(app)
        x, y, z = flown(app)["lanes"][0]["x_w"]
        assert (x, y, z) == pytest.approx(
            (0.0, 0.0, 3.0), abs=1e-6
        )  # on its head, 1.2 m above the fixed point
        assert app.wait_frames(1)["gl_errors"] == []
    finally:
        app.close()


def test_the_carrying_of_a_load_is_planned_in_the_window(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "plan-sling", "--quality", "software")
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        assert planned(app)["gl_errors"] == []
    finally:
        app.close()
