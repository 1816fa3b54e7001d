"""Controls in their window: a key is bound anew, and an axis of a controller by moving it; both are remembered."""

import json
import sys
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_a_key_and_an_axis_are_bound_by_pressing_and_moving_them(screen: Screen, tmp_path: Path) -> None:
    device = tmp_path / "bridge.json"

    def move(**axes: float) -> None:
        draft = device.with_suffix(".part")
        draft.write_text(json.dumps({"name": "Bridge", "axes": axes, "buttons": {"0": False}}))
        draft.replace(device)

    move(rx=0.0, ry=0.0)
    app = App(
        screen,
        tmp_path,
        "canyon",
        "--quality",
        "software",
        "--size",
        "900x600",
        HOLONOMY_CONTROLLER=str(device),
    )
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        app.click("tab/Controls")
        app.click("controls/assign/roll")
        move(rx=0.9, ry=0.0)
        app.wait_until(
            lambda p: "controls/invert/roll" in p["widgets"] or "controls/response/roll" in p["widgets"],
            timeout_s=30,
            what="the axis has a response",
        )
        app.click("controls/page/keys")
        app.click("keys/pitch+")
        screen.xdotool("key", "space")  # which pauses
        app.wait_until(lambda p: "keys/take" in p["widgets"], timeout_s=30, what="the conflict is shown")
        app.click("keys/take")
        app.wait_until(lambda p: "keys/take" not in p["widgets"], timeout_s=30, what="the key is taken")
        app.wait_frames(3)
        screen.xdotool("key", "space")
        seen = app.wait_frames(3)
        assert not seen["paused"]
        screen.xdotool("key", "k")
        seen = app.wait_until(lambda p: p["paused"], timeout_s=30, what="its other key pauses")
        assert seen["gl_errors"] == []
    finally:
        app.close()
    kept = json.loads((tmp_path / "controls.json").read_text())
    assert {"scope": "helicopter", "action": "pitch+", "keys": ["SPACE"]} in kept["keys"]
    assert [use["target"] for use in kept["profiles"][0]["axes"] if use["source"] == "rx"] == ["roll"]
