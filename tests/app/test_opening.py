"""The first start: the window is there before what it is to show, tells what is being compiled, and can be closed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen
from tests.app.program import ROOT

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")

SCENE = """
vehicle = "boat"
integrator = "lie-euler"

[world]
name = "plain"
"""
COMPILED = "Compiling the boat (lie-euler)"


@pytest.fixture
def app(screen: Screen, tmp_path: Path) -> Iterator[App]:
    """With nothing compiled yet."""
    scene = tmp_path / "free.toml"
    scene.write_text(SCENE)
    chosen = (str(scene), "--size", "800x500", "--quality", "low")
    with closing(App(screen, tmp_path, *chosen, HOLONOMY_CACHE=str(tmp_path / "cache"))) as app:
        yield app


def compiled(folder: Path) -> list[Path]:
    """Machine code of kernels."""
    return list((folder / "cache" / "nodes").glob("*"))


def test_the_window_tells_what_it_compiles_then_shows_the_scene(app: App, tmp_path: Path) -> None:
    assert not compiled(tmp_path)
    app.wait_for_opening(COMPILED, timeout_s=60)
    seen = app.wait_until(lambda p: p["clock_s"] > 0.2, timeout_s=200, what="the scene runs")
    (lane,) = seen["lanes"]
    assert (lane["vehicle"], lane["integrator"]) == ("boat", "lie-euler")
    assert seen["gl_errors"] == []
    assert compiled(tmp_path)


def test_a_window_that_is_closed_while_it_compiles_gives_that_up(app: App, tmp_path: Path) -> None:
    app.wait_for_opening(COMPILED, timeout_s=60)
    app.process.terminate()
    assert app.process.wait(600) == 128 + 15
    assert app.log() == ""


def test_without_a_cache_the_scene_is_shown_all_the_same_after_one_warning(
    screen: Screen, tmp_path: Path
) -> None:
    scene = tmp_path / "free.toml"
    scene.write_text(SCENE)
    chosen = (str(scene), "--size", "800x500", "--quality", "low")
    with closing(App(screen, tmp_path, *chosen, HOLONOMY_CACHE=str(scene / "cache"))) as app:
        seen = app.wait_until(lambda p: p["clock_s"] > 0.2, timeout_s=200, what="the scene runs")
        assert seen["gl_errors"] == []
        (warning,) = app.log().splitlines()
    assert "cannot be made (Not a directory); HOLONOMY_CACHE may name a folder; starts take longer" in warning


CLOSED_BEFORE_ANYTHING_IS_THERE = """
import threading
from contextlib import closing

import pyglet

from sim.scene import load_scene
from ui.features.scenes.loader import Loader
from ui.desktop.window_run import opened
from ui.window.app_window import AppWindow

never = threading.Event()
with closing(AppWindow(size=(800, 500))) as window, closing(Loader()) as loader:
    loader.load(never.wait, "low")
    pyglet.clock.schedule_once(lambda _: window.dispatch_event("on_close"), 0.2)
    print(opened(window, loader, load_scene("plain"), None), window.ctx.error)
never.set()
"""


def test_closing_the_window_ends_the_opening(screen: Screen, tmp_path: Path) -> None:
    environment = {**os.environ, "DISPLAY": screen.display, "HOLONOMY_CONFIG": str(tmp_path)}
    command = [sys.executable, "-c", CLOSED_BEFORE_ANYTHING_IS_THERE]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=1500, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("None GL_NO_ERROR", "")
