"""The page Modes in the real window: a bicycle's stable speeds are found beside the frames, and a mode is watched."""

import sys
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_modes_of_the_bicycle_are_found_and_watched(tmp_path: Path) -> None:
    scene = tmp_path / "ride.toml"
    scene.write_text(
        'title = "Ride"\nvehicle = "bicycle"\nstep_s = 0.01\n[world]\nname = "plain"\nseed = 7\n'
    )
    screen = Screen(1280, 900)
    app = App(screen, tmp_path, str(scene), "--quality", "software", "--size", "1280x900")
    try:
        app.wait_until(lambda p: p["clock_s"] > 0.5, timeout_s=120, what="it rides")
        app.click("tab/Modes")
        app.click("modes/about/start")
        app.click("modes/find")
        app.wait_until(lambda p: "modes/watch/0" in p["widgets"], timeout_s=120, what="modes are found")
        app.click("modes/watch/0")
        app.click("modes/shown/plane")
        seen = app.wait_frames(10)
        assert seen["gl_errors"] == []
    finally:
        app.close()
        screen.close()
