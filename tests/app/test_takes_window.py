"""Looking back in the real window, by its keys: nothing of what a user made is lost."""

import sys
import time
from pathlib import Path

import pytest

from sim.recordings import load_take
from tests.app.desktop import App, Screen
from tests.patience import wait_until
from ui.features.takes.actions import recovered

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_a_flight_is_looked_back_at_flown_on_from_and_saved(tmp_path: Path) -> None:
    screen = Screen(1280, 900)
    app = App(screen, tmp_path, "plain", "--quality", "low", "--size", "1200x860")
    try:
        before = app.wait_until(lambda p: p["clock_s"] > 3.0, timeout_s=120, what="it flies")
        screen.xdotool("key", "F5")
        back = app.wait_until(lambda p: p["look_back"] is not None, timeout_s=30, what="it looks back")
        end_s = back["recorded_s"][1]
        assert back["paused"]
        # A second before what was shown as the key was pressed; it flies on until the key is looked at.
        assert before["clock_s"] - 1.06 <= back["clock_s"] <= end_s - 1.0 + 0.06
        flown_on = time.monotonic()
        screen.xdotool("key", "F7")
        again = app.wait_until(lambda p: p["look_back"] is None, timeout_s=30, what="it is retaken")
        assert not again["paused"]
        screen.xdotool("key", "k")
        again = app.wait_until(lambda p: p["paused"], timeout_s=30, what="it is paused")
        ran_s = time.monotonic() - flown_on
        assert again["recorded_s"] == pytest.approx([0.0, again["clock_s"]], abs=0.05)  # a step of that scene
        # F7 lets time run: until the pause it goes on by what passes meanwhile, at the most.
        assert back["clock_s"] <= again["clock_s"] <= back["clock_s"] + 1.05 * ran_s + 0.1
        screen.xdotool("key", "F9")
        app.wait_until(lambda p: list(tmp_path.glob("takes/*.npz")), timeout_s=60, what="it is saved")
        (path,) = tmp_path.glob("takes/*.npz")
        earlier, since = load_take(path).segments
        assert earlier.end_s == since.begin_s == pytest.approx(back["clock_s"], abs=1e-9)
        assert since.end_s == pytest.approx(again["recorded_s"][1])
        app.click("tab/Takes")
        app.click("takes/unsaved/0/play")
        shown = app.wait_until(lambda p: p["look_back"], timeout_s=30, what="the earlier flight is shown")
        assert shown["look_back"]["end_s"] == pytest.approx(end_s)
        assert shown["gl_errors"] == []
    finally:
        app.close()
        screen.close()


def test_a_flight_that_is_steered_is_kept_where_the_app_is_told_to_end(
    screen: Screen, tmp_path: Path
) -> None:
    app = App(screen, tmp_path, "plain", "--quality", "low", "--size", "800x500")
    try:
        app.wait_until(lambda p: p["clock_s"] > 0.1, timeout_s=120, what="it flies")
        screen.xdotool("keydown", "r")
        app.wait_until(lambda p: p["clock_s"] > 6.0, timeout_s=60, what="it was steered for long enough")
        app.process.terminate()
        assert app.process.wait(600) == 128 + 15
        (path,) = tmp_path.glob("takes/autosaved/*.npz")
        assert load_take(path).duration_s > 5.0
        assert "Traceback" not in app.log()
    finally:
        screen.xdotool("keyup", "r")
        app.close()


def test_a_flight_survives_an_app_that_is_killed(screen: Screen, tmp_path: Path) -> None:
    app, folder = App(screen, tmp_path, "plain", "--quality", "low", "--size", "800x500"), tmp_path / "takes"
    try:
        app.wait_until(lambda p: p["clock_s"] > 0.1, timeout_s=120, what="it flies")
        screen.xdotool("keydown", "r")
        first = app.wait_until(
            lambda p: list(folder.glob("autosaved/flying-*.npz")),
            timeout_s=60,
            what="it is kept while it is flown",
        )
        (flying,) = folder.glob("autosaved/flying-*.npz")
        kept_s = wait_until(
            lambda: end_s if (end_s := load_take(flying).end_s) > first["clock_s"] else 0.0,
            "what was flown since the first copy is in no later one",
        )
        app.process.kill()
        app.process.wait(600)
    finally:
        screen.xdotool("keyup", "r")
        app.close()
    assert recovered(folder / "autosaved") == 1
    (path,) = folder.glob("autosaved/*.npz")
    assert load_take(path).end_s >= kept_s > first["clock_s"]  # how old a copy may be: test_autosave.py


def test_what_was_flown_is_kept_where_the_x_server_ends(tmp_path: Path) -> None:
    screen = Screen(800, 500)
    app = App(screen, tmp_path, "plain", "--quality", "software", "--size", "800x500")
    try:
        app.wait_until(lambda p: p["clock_s"] > 0.1, timeout_s=120, what="it flies")
        screen.xdotool("keydown", "r")
        flown = app.wait_until(lambda p: p["clock_s"] > 8.0, timeout_s=60, what="it was steered for a while")
        screen.kill()
        assert app.process.wait(600.0) == 1, app.log()
        assert "the display is gone" in app.log()
        (path,) = tmp_path.glob("takes/autosaved/*.npz")
        assert load_take(path).duration_s >= flown["clock_s"] - 0.1
    finally:
        app.close()
        screen.close()
