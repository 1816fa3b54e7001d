"""The gallery in its window: a scene is found by a word and opened by its picture; what was chosen is remembered."""

import json
import sys
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_a_scene_is_searched_for_and_what_was_chosen_is_remembered(screen: Screen, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(
        json.dumps({"cameras": {"plain": ["orbit", "cockpit"]}, "scenes": ["skate", "plain"]})
    )
    app = App(screen, tmp_path, "plain", "--quality", "software", "--size", "1280x800")
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        assert seen["camera"] == "cockpit"  # as it was left, where the scene has another
        screen.xdotool("key", "t")  # the trail
        app.click("tab/Scene")
        app.click("scene/search")
        screen.xdotool("type", "pendulum")
        app.wait_until(
            # Pendula fit until the last letters are there: the list has come to rest once they are gone.
            lambda p: "scene/open/pendulum" in p["widgets"] and "scene/open/pendula" not in p["widgets"],
            timeout_s=30,
            what="only what fits is shown",
        )
        app.click("scene/open/pendulum")
        seen = app.wait_until(
            lambda p: p["lanes"][0]["vehicle"] == "pendulum", timeout_s=60, what="it is opened"
        )
        assert seen["gl_errors"] == []
    finally:
        app.close()
    kept = json.loads(settings.read_text())
    assert kept["scenes"] == ["pendulum", "plain", "skate"]
    assert kept["cameras"] == {"plain": ["orbit", "cockpit"]}
    assert kept["look"]["trail"] is False


def test_what_is_typed_right_after_a_click_on_the_search_is_all_its(screen: Screen, tmp_path: Path) -> None:
    app = App(screen, tmp_path, "plain", "--quality", "software", "--size", "1280x800")
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        camera = seen["camera"]
        app.click("tab/Scene")
        x, y, width, height = app.wait_frames(3)["widgets"]["scene/search"]
        screen.xdotool(
            *("mousemove", round(x + width / 2), round(y + height / 2), "click", 1),
            *("type", "--delay", 1, "chaingang"),  # c: the next camera, were it the scene's
        )
        app.wait_until(
            lambda p: not any(name.startswith("scene/open/") for name in p["widgets"]),
            timeout_s=30,
            what="nothing fits that word",
        )
        assert app.wait_frames(4)["camera"] == camera
        for _ in "gang":
            screen.xdotool("key", "BackSpace")
        app.wait_until(
            lambda p: "scene/open/chain" in p["widgets"] and "scene/open/plain" not in p["widgets"],
            timeout_s=30,
            what="the first letter is in the field too",
        )
    finally:
        app.close()
