"""The blow-up scene in a window of its own, in linked pictures: lanes stop, the window does not."""

import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.app.desktop import App, Screen

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]
START_S = 150.0


@pytest.fixture(scope="module")
def app(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with closing(
        App(screen, tmp_path_factory.mktemp("blowup"), "blowup-slab", "--quality", "software")
    ) as app:
        yield app


def test_untouched_it_blows_up_within_ten_seconds_and_says_why(app: App) -> None:
    app.wait_until(lambda p: True, timeout_s=START_S, what="the first frame")
    for _ in range(2):  # from the quarter of the speed at which the caption is read
        app.screen.xdotool("key", "period")
        app.wait_frames(2)
    seen = app.wait_until(lambda p: p["clock_s"] > 5.2, timeout_s=START_S, what="five seconds are over")
    flown, rk4, rk2, fine = seen["lanes"]
    assert (flown["status"], fine["status"]) == ("running", "running")
    assert (rk4["status"], rk2["status"]) == ("diverged", "diverged")
    assert "energy past" in rk4["status_text"]
    assert "t = 4.75 s" in rk4["status_text"]


def test_the_words_stand_over_the_scene_and_the_errors_below_it(app: App) -> None:
    seen = app.wait_until(lambda p: "caption" in p["widgets"], timeout_s=30, what="the caption")
    assert "window/Errors" in seen["widgets"]
    assert "window/Lanes" in seen["widgets"]


def test_pictures_are_joined_and_split_by_clicks(app: App) -> None:
    for views in ("1", "2", "3", "4"):
        app.click(f"lanes/views/{views}")
    app.click("tab/Polhode")
    app.wait_until(lambda p: "polhode" in p["widgets"], timeout_s=30, what="the polhode")


def test_no_gl_error_was_seen_in_any_frame(app: App) -> None:
    seen = app.wait_frames(3)
    assert seen["gl_errors"] == []
    assert "Traceback" not in app.log()
