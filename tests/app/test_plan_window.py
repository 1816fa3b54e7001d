"""Planning as a user has it: press Plan, drag a waypoint, fly it."""

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

LOAD_S, SOLVE_S = 240.0, 120.0


@pytest.fixture(scope="module")
def app(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("plan")
    with closing(App(screen, folder, "plan-boat-docking", "--quality", "software")) as app:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=LOAD_S, what="the window is drawn")
        yield app


def solved(probe: Probe) -> bool:
    plan = probe["plan"]
    return plan["phase"] == "idle" and plan["status"] == "solved" and not plan["stale"]


def test_the_plan_button_plans_and_shows_its_iterations(app: App) -> None:
    app.click("plan/start")
    seen = app.wait_until(solved, timeout_s=SOLVE_S, what="the plan is solved")
    assert seen["plan"]["iterations"] > 3
    assert seen["plan"]["message"].startswith("Solved")


def test_the_plan_follows_a_waypoint_that_is_dragged(app: App) -> None:
    app.click("plan/waypoint/add")
    before = app.wait_until(
        lambda p: solved(p) and p["plan"]["waypoints"], timeout_s=SOLVE_S, what="a waypoint is there"
    )
    app.click("plan/handle/waypoint 0")
    x, y, width, height = app.wait_frames(3)["widgets"]["plan/handle/waypoint 0"]
    x, y = x + width / 2, y + height / 2
    app.screen.xdotool("mousemove", round(x), round(y))
    app.wait_frames(3)
    app.screen.xdotool("mousedown", 1)
    app.wait_frames(3)
    for i in range(1, 7):
        app.screen.xdotool("mousemove", round(x - 4 * i), round(y))
        app.wait_frames(1)
    app.screen.xdotool("mouseup", 1)
    app.wait_frames(3)
    after = app.wait_until(solved, timeout_s=SOLVE_S, what="the plan has followed")
    assert math.dist(before["plan"]["waypoints"][0], after["plan"]["waypoints"][0]) > 0.2
    assert after["plan"]["passes_m"][0] < 1.0
    assert after["camera"] == before["camera"]


def flown(app: App, button: str) -> Probe:
    """The end of a flight that a button starts."""
    before = app.wait_until(lambda p: True, timeout_s=5, what="a probe")["lanes"][0]["generation"]
    app.click(button)

    def ended(p: Probe) -> bool:
        again = p["lanes"][0]["generation"] > before
        return again and p["paused"] and p["clock_s"] > 0.999 * p["plan"]["duration_s"]

    return app.wait_until(ended, timeout_s=120, what="it has been flown")


def missed_m(seen: Probe) -> float:
    return math.dist(seen["lanes"][0]["x_w"][:2], seen["plan"]["end_w"][:2])


def test_it_is_flown_and_lands_on_the_plan(app: App) -> None:
    app.click("transport/speed_up")
    app.click("transport/speed_up")
    seen = flown(app, "plan/fly")
    assert missed_m(seen) < 1e-6
    assert seen["clock_s"] == pytest.approx(seen["plan"]["duration_s"])


def test_it_is_tracked_through_a_wind_that_the_plan_does_not_know(app: App) -> None:
    app.click("plan/page/flight")
    app.click("plan/wind")  # in the middle: 10 m/s
    assert 1e-3 < missed_m(flown(app, "plan/track")) < 0.5  # measured 0.044; open loop it drifts 20 m off


def test_what_would_help_is_clicked_where_the_plan_fails(app: App) -> None:
    app.click("plan/page/task")
    app.screen.xdotool("key", "o")
    app.wait_until(lambda p: p["camera"] == "overview", timeout_s=30, what="the whole plan is seen")
    before = app.wait_until(solved, timeout_s=5, what="there is a plan")["plan"]["asked_s"]
    x, y, width, height = app.wait_frames(3)["widgets"]["plan/time"]
    app.screen.xdotool("mousemove", round(x + 0.25 * width), round(y + height / 2))
    app.wait_frames(2)
    app.screen.xdotool("click", 1)
    app.wait_until(lambda p: p["plan"]["asked_s"] < 0.3 * before, timeout_s=10, what="there is little time")
    app.wait_until(
        lambda p: "plan/violation/remedy/0" in p["widgets"], timeout_s=SOLVE_S, what="a way out is offered"
    )
    app.click("plan/violation/remedy/0")
    app.wait_until(lambda p: p["plan"]["asked_s"] > 0.3 * before, timeout_s=10, what="there is more time")


def test_the_whole_plan_is_framed_at_a_key(app: App) -> None:
    app.screen.xdotool("key", "c")
    app.wait_until(lambda p: p["camera"] != "overview", timeout_s=30, what="another camera is in use")
    app.screen.xdotool("key", "o")
    app.wait_until(lambda p: p["camera"] == "overview", timeout_s=30, what="the overview is back")


def test_nothing_went_wrong_on_the_way(app: App) -> None:
    seen = app.wait_until(lambda p: True, timeout_s=5, what="still there")
    assert seen["gl_errors"] == []
    assert "Traceback" not in app.log()
