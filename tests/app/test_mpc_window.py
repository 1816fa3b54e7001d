"""Plans made in flight, by the mouse only: the boat follows a goal that is dragged, and goes where one clicks."""

import math
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.app.desktop import App, Probe, Screen

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]


@pytest.fixture(scope="module")
def app(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("pursuit")
    with closing(App(screen, folder, "chase-boat", "--quality", "software", "--size", "1024x640")) as app:
        yield app


def pursuit(probe: Probe) -> dict:
    return (probe.get("plan") or {}).get("mpc") or {"phase": "none"}


def away_m(probe: Probe) -> float:
    """From the boat to the goal."""
    return math.dist(probe["lanes"][0]["x_w"][:2], probe["plan"]["goal_w"][:2])


def middle(rect: list[float]) -> tuple[int, int]:
    x, y, width, height = rect
    return round(x + width / 2), round(y + height / 2)


def test_plans_fly_as_soon_as_the_scene_is_open(app: App) -> None:
    seen = app.wait_until(lambda p: pursuit(p)["phase"] == "flying", timeout_s=60, what="plans fly it")
    assert not seen["paused"]
    assert "hud/pursuit" in seen["widgets"]
    assert seen["lanes"][0]["status"] == "running"
    assert app.wait_frames(2)["goals"]["due"] == "Say where to go"


def test_a_goal_that_is_dragged_is_followed(app: App) -> None:
    begin = app.wait_until(lambda p: away_m(p) < 0.5, timeout_s=60, what="the first goal is reached")
    app.click("plan/handle/goal")  # taken and let go: there it stays
    x, y = middle(app.wait_frames(2)["widgets"]["plan/handle/goal"])
    app.screen.xdotool("mousemove", x, y)
    app.wait_frames(2)
    app.screen.xdotool("mousedown", 1)
    app.wait_frames(2)
    for k in range(1, 11):
        app.screen.xdotool("mousemove", x - 12 * k, y + 3 * k)
        app.wait_frames(1)
    held = app.wait_frames(2)
    app.screen.xdotool("mouseup", 1)
    far = math.dist(begin["plan"]["goal_w"], held["plan"]["goal_w"])
    assert far > 1.0
    after = app.wait_until(lambda p: away_m(p) < 0.4 * far, timeout_s=60, what="the boat has followed")
    assert pursuit(after)["failed"] <= 0.1 * pursuit(after)["asked"]
    assert after["lanes"][0]["status"] == "running"
    assert after["camera"] == begin["camera"]


def test_it_goes_where_one_clicks(app: App) -> None:
    before = app.wait_frames(2)
    x, y, width, height = before["widgets"]["scene"]
    app.screen.xdotool("mousemove", round(x + 0.62 * width), round(y + 0.62 * height))
    app.wait_frames(2)
    app.screen.xdotool("click", 1)
    clicked = app.wait_until(
        lambda p: math.dist(p["plan"]["goal_w"], before["plan"]["goal_w"]) > 1.0,
        timeout_s=10,
        what="the goal is where the mouse was",
    )
    far = away_m(clicked)
    app.wait_until(lambda p: away_m(p) < 0.6 * far, timeout_s=60, what="the boat goes there")


def test_it_is_given_back_by_the_same_button(app: App) -> None:
    app.click("plan/page/pilot")
    app.click("plan/pilot")
    seen = app.wait_until(lambda p: pursuit(p)["phase"] == "none", timeout_s=10, what="one flies oneself")
    assert "hud/pursuit" not in app.wait_frames(2)["widgets"]
    assert seen["gl_errors"] == []
    assert "Traceback" not in app.log()
