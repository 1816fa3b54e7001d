"""The spacecraft in a window of its own, flown by the article's keys; then another vehicle, which has other keys."""

import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.app.desktop import App, Probe, Screen

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]
START_S, ANSWER_S = 60.0, 30.0


@pytest.fixture(scope="module")
def orbit(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with closing(App(screen, tmp_path_factory.mktemp("orbit"), "orbit", "--quality", "software")) as app:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=START_S, what="the window is drawn")
        screen.xdotool("mousemove", 400, 300)
        yield app


def nose_up(probe: Probe) -> float:
    """Vertical part of the unit vector along the nose; the engine pushes along it."""
    return probe["lanes"][0]["nose_w"][2]


def test_t_held_turns_the_engine_down(orbit: App) -> None:
    orbit.screen.xdotool("keydown", "t")
    orbit.wait_until(lambda p: nose_up(p) > 0.999, timeout_s=ANSWER_S, what="the nose points up")
    orbit.screen.xdotool("keyup", "t")


def test_g_fires_the_engine(orbit: App) -> None:
    before = orbit.wait_until(lambda p: True, timeout_s=5, what="still there")["lanes"][0][
        "height_above_ground_m"
    ]
    orbit.screen.xdotool("keydown", "g")
    orbit.wait_until(lambda p: p["lanes"][0]["controls"][3] == 1.0, timeout_s=ANSWER_S, what="full thrust")
    orbit.screen.xdotool("keyup", "g")
    orbit.wait_until(
        lambda p: p["lanes"][0]["height_above_ground_m"] > before + 5.0, timeout_s=ANSWER_S, what="it rises"
    )


def test_backspace_goes_back_to_the_start_and_space_pauses(orbit: App) -> None:
    before = orbit.wait_until(lambda p: True, timeout_s=5, what="still there")
    orbit.screen.xdotool("key", "BackSpace")
    after = orbit.wait_until(
        lambda p: p["lanes"][0]["generation"] > before["lanes"][0]["generation"],
        timeout_s=ANSWER_S,
        what="reset",
    )
    assert after["clock_s"] < before["clock_s"]
    assert not after["paused"]
    orbit.screen.xdotool("key", "space")
    orbit.wait_until(lambda p: p["paused"], timeout_s=ANSWER_S, what="it pauses")


def test_another_vehicle_has_space_for_the_pause_too(orbit: App) -> None:
    orbit.click("tab/Vehicle")
    orbit.click("vehicle/combo")
    orbit.click("vehicle/item/rigid-body")
    orbit.wait_until(
        lambda p: p["lanes"][0]["vehicle"] == "rigid-body", timeout_s=START_S, what="it is swapped"
    )
    orbit.screen.xdotool("key", "space")
    orbit.wait_until(lambda p: not p["paused"], timeout_s=ANSWER_S, what="it goes on")


def test_no_gl_error_was_seen_in_any_frame(orbit: App) -> None:
    seen = orbit.wait_frames(3)
    assert seen["gl_errors"] == []
    assert "Traceback" not in orbit.log()
