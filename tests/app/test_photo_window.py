"""Photo mode in a window: a held key begins it, and what is taken stays in sight while it develops."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import ImageGrab

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_what_is_taken_stays_in_sight_while_it_develops(screen: Screen, tmp_path: Path) -> None:
    scene = tmp_path / "still.toml"
    scene.write_text('vehicle = "car"\nstep_s = 0.01\n[world]\nname = "plain"\n')
    app = App(screen, tmp_path, str(scene), "--quality", "software", "--size", "900x700")

    def seen() -> float:
        """How bright the middle of the window is, of 255."""
        picture = np.asarray(ImageGrab.grab(xdisplay=screen.display).convert("L"), float)
        return float(picture[250:450, 350:550].mean())

    try:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=240, what="the window is drawn")
        screen.xdotool("keydown", "F12")
        app.wait_until(lambda p: "photo/take" in p["widgets"], timeout_s=60, what="photo mode")
        screen.xdotool("keyup", "F12")
        app.click("photo/size/1")
        before = seen()
        x, y, width, height = app.seen()["widgets"]["photo/take"]
        screen.xdotool("mousemove", round(x + 0.5 * width), round(y + 0.5 * height))
        app.wait_frames(3)
        frames = app.seen()["frames"]
        screen.xdotool("click", 1)
        brightness = []
        while app.seen()["frames"] < frames + 20:  # it counts none of those in which it develops
            brightness.append(seen())
            time.sleep(0.02)
        assert len(brightness) > 3
        assert min(brightness) > 0.8 * before, "the picture is gone while the photo develops"
        screen.xdotool("key", "Escape")
        app.wait_until(lambda p: "photo/take" not in p["widgets"], timeout_s=60, what="it is over")
        assert app.seen()["gl_errors"] == []
    finally:
        app.close()
