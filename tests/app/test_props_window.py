"""Props as a user edits them: put up by a click, deleted, undone, and saved."""

import sys
from pathlib import Path

import pytest

from sim.scene import load_scene
from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_a_barrel_is_put_up_deleted_brought_back_and_saved(screen: Screen, tmp_path: Path) -> None:
    scene = tmp_path / "alley.toml"
    scene.write_text(
        'vehicle = "car"\nstep_s = 0.01\n[world]\nname = "plain"\n[start]\nposition_m = [0.0, 0.0, 0.0]\n'
    )
    app = App(screen, tmp_path, str(scene), "--quality", "software")
    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        app.click("tab/Props")
        app.click("props/barrel")
        screen.xdotool("mousemove", 420, 420)
        app.wait_frames(2)
        screen.xdotool("mousedown", 1)
        app.wait_frames(2)
        screen.xdotool("mouseup", 1)
        app.wait_until(lambda p: p["message"] == "1 prop", timeout_s=60, what="it stands there")
        app.wait_until(lambda p: "props/chosen" in p["widgets"], timeout_s=30, what="it is chosen")
        app.wait_frames(10)
        screen.xdotool("key", "Delete")
        app.wait_until(lambda p: p["message"] == "0 props", timeout_s=60, what="it is gone")
        app.wait_frames(10)
        screen.xdotool("key", "ctrl+z")
        app.wait_until(lambda p: p["message"] == "1 prop", timeout_s=60, what="it is back")
        app.click("props/save")
        seen = app.wait_until(
            lambda p: len(list(tmp_path.glob("alley-*.toml"))) == 1, timeout_s=60, what="a file"
        )
        assert seen["gl_errors"] == []
    finally:
        app.close()
    (saved,) = tmp_path.glob("alley-*.toml")
    (one,) = load_scene(saved).environment.placed
    assert one.prop.shape.kind == "drum"
    assert one.prop.T_w[2, 3] == pytest.approx(0.45, abs=0.01)
