"""The app as a user has it: keys fly it, mouse clicks on its panels swap integrator and vehicle."""

import math
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from sim.scene import CAMERAS
from tests.app.desktop import App, Probe, Screen

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]

LOAD_S = 240.0
"""Cold: the canyon is grown and kernels are compiled. Warm: about 3 s."""
COMPILE_S = 240.0


@pytest.fixture(scope="module")
def flight(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with closing(App(screen, tmp_path_factory.mktemp("window"), "canyon")) as app:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        screen.xdotool("mousemove", 400, 400)
        yield app


def height(probe: Probe) -> float:
    return probe["lanes"][0]["height_above_ground_m"]


def test_it_starts_standing_on_the_pad(flight: App) -> None:
    seen = flight.wait_until(lambda p: p["clock_s"] > 0.5, timeout_s=20, what="time runs")
    (lane,) = seen["lanes"]
    assert (lane["vehicle"], lane["integrator"], lane["status"]) == (
        "helicopter",
        "variational-exact",
        "running",
    )
    assert lane["on_ground"]
    assert abs(height(seen)) < 0.1


def test_it_takes_off_by_the_climb_key_and_hovers_hands_off(flight: App) -> None:
    flight.screen.xdotool("keydown", "r")
    flight.wait_until(lambda p: height(p) > 6.0, timeout_s=60, what="it has climbed 6 m")
    flight.screen.xdotool("keyup", "r")
    until = flight.wait_until(lambda p: True, timeout_s=5, what="still there")["clock_s"] + 4.0
    seen = flight.wait_until(lambda p: p["clock_s"] > until, timeout_s=30, what="four seconds are over")
    lane = seen["lanes"][0]
    assert not lane["on_ground"]
    assert lane["status"] == "running"
    assert height(seen) > 4.0
    assert math.hypot(*lane["v_b"]) < 2.0


def test_a_click_on_the_panel_swaps_the_integrator_in_flight(flight: App) -> None:
    before = flight.wait_until(lambda p: True, timeout_s=5, what="still there")
    flight.click("integrator/combo")
    flight.click("integrator/item/variational-exp")
    after = flight.wait_until(
        lambda p: p["lanes"][0]["integrator"] == "variational-exp",
        timeout_s=COMPILE_S,
        what="variational-exp flies",
    )
    assert math.dist(before["lanes"][0]["x_w"], after["lanes"][0]["x_w"]) < 20.0
    assert after["lanes"][0]["status"] == "running"


def test_a_click_on_the_panel_swaps_the_vehicle_where_it_is(flight: App) -> None:
    before = flight.wait_until(lambda p: True, timeout_s=5, what="still there")
    flight.click("tab/Vehicle")
    flight.click("vehicle/combo")
    flight.click("vehicle/item/rigid-body")
    after = flight.wait_until(
        lambda p: p["lanes"][0]["vehicle"] == "rigid-body", timeout_s=COMPILE_S, what="the rigid body flies"
    )
    assert math.dist(before["lanes"][0]["x_w"], after["lanes"][0]["x_w"]) < 60.0


def test_the_camera_key_cycles_through_all_cameras(flight: App) -> None:
    seen = flight.wait_until(lambda p: True, timeout_s=5, what="still there")
    shown = [seen["camera"]]
    for _ in CAMERAS[1:]:
        flight.screen.xdotool("key", "c")
        shown.append(
            flight.wait_until(lambda p: p["camera"] != shown[-1], timeout_s=10, what="next camera")["camera"]
        )
    assert shown == list(CAMERAS)


def test_no_gl_error_was_seen_in_any_frame(flight: App) -> None:
    seen = flight.wait_until(lambda p: True, timeout_s=5, what="still there")
    assert seen["gl_errors"] == []
    assert seen["frames"] > 20
    assert "Traceback" not in flight.log()
