"""A chain in a window of its own is dragged with the mouse, and follows it."""

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
START_S, ANSWER_S = 120.0, 15.0
SCENE = """
title = "A chain at rest"
vehicle = "chain"
integrator = "riqn"
step_s = 0.005
flight_mode = "raw"
camera = "orbit"
[world]
name = "plain"
[start]
position_m = [0.0, 0.0, 0.0]
[parameters.chain]
links = 10
damping = 6.0
"""


@pytest.fixture(scope="module")
def chain(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("chain")
    scene = folder / "still.toml"
    scene.write_text(SCENE)
    with closing(App(screen, folder, str(scene), "--quality", "software")) as app:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=START_S, what="the window is drawn")
        yield app


def held(probe: Probe) -> dict:
    return probe["lanes"][0]["pull"]


def apart_m(probe: Probe) -> float:
    """From the point that is held to the hand."""
    return math.dist(held(probe)["at_w"], held(probe)["to_w"])


def test_a_chain_is_dragged_by_the_mouse_and_follows(chain: App) -> None:
    shown = chain.wait_until(lambda p: p["clock_s"] > 8.0, timeout_s=ANSWER_S, what="it hangs still")
    left, top, width, height = shown["widgets"]["scene"]
    x, y = round(left + 0.5 * width), round(top + 0.55 * height)
    chain.screen.xdotool("mousemove", x, y)
    chain.screen.xdotool("keydown", "ctrl")
    chain.screen.xdotool("mousedown", 1)
    taken = chain.wait_until(lambda p: held(p) is not None, timeout_s=ANSWER_S, what="a link is held")
    body, start = held(taken)["body"], held(taken)["at_w"]
    assert body.startswith("link ")
    for step in range(1, 9):
        chain.screen.xdotool("mousemove", x + 15 * step, y)
    moved = chain.wait_until(
        lambda p: held(p) is not None and math.dist(held(p)["to_w"], start) > 0.3,
        timeout_s=ANSWER_S,
        what="the hand is where the mouse is",
    )
    assert held(moved)["body"] == body
    followed = chain.wait_until(
        lambda p: held(p) is not None and apart_m(p) < 0.35 * math.dist(held(p)["to_w"], start),
        timeout_s=ANSWER_S,
        what="the link follows the hand",
    )
    assert math.dist(held(followed)["at_w"], start) > 0.2
    chain.screen.xdotool("mouseup", 1)
    chain.screen.xdotool("keyup", "ctrl")
    chain.wait_until(lambda p: held(p) is None, timeout_s=ANSWER_S, what="it is let go")


def test_without_the_key_the_mouse_turns_the_camera(chain: App) -> None:
    shown = chain.wait_until(lambda p: True, timeout_s=5, what="still there")
    left, top, width, height = shown["widgets"]["scene"]
    x, y = round(left + 0.5 * width), round(top + 0.55 * height)
    chain.screen.xdotool("mousemove", x, y, "mousedown", 1, "mousemove", x + 60, y, "mouseup", 1)
    after = chain.wait_frames(3)
    assert held(after) is None
    assert after["gl_errors"] == []
