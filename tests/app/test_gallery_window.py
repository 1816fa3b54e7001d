"""The gallery in its window: a scene is found by a word and opened by its picture; what was chosen is there again."""

import json
import sys
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_a_scene_is_searched_for_and_what_was_chosen_is_remembered(screen: Screen, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("[" * 100_000)
    options = ("plain", "--quality", "software", "--size", "1280x800")
    app = App(screen, tmp_path, *options)
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        assert (tmp_path / "settings.json.damaged").exists()
        screen.xdotool("key", "t")  # the trail
        screen.xdotool("key", "c")  # the next camera
        app.wait_until(lambda p: p["camera"] == "cockpit", timeout_s=30, what="another camera")
        app.click("tab/Scene")
        app.click("scene/search")
        screen.xdotool("type", "pendulum")
        app.wait_until(
            lambda p: "scene/open/pendulum" in p["widgets"] and "scene/open/canyon" not in p["widgets"],
            timeout_s=30,
            what="only what fits is shown",
        )
        app.click("scene/open/pendulum")
        app.wait_until(lambda p: p["lanes"][0]["vehicle"] == "pendulum", timeout_s=60, what="it is opened")
    finally:
        app.close()
    kept = json.loads((tmp_path / "settings.json").read_text())
    assert kept["scenes"][:2] == ["pendulum", "plain"]
    assert kept["cameras"] == {"plain": ["orbit", "cockpit"]}
    assert kept["look"]["trail"] is False
    (tmp_path / "probe.json").unlink()  # of the first window
    app = App(screen, tmp_path, *options)
    try:
        seen = app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn again")
        assert seen["camera"] == "cockpit"
        app.wait_until(
            lambda p: "scene/open/pendulum" in p["widgets"], timeout_s=30, what="the last ones are first"
        )
        assert seen["gl_errors"] == []
    finally:
        app.close()
