"""The first start: the window is there before what it is to show, tells what is being compiled, and can be closed."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")

SCENE = """
vehicle = "boat"
integrator = "lie-euler"

[world]
name = "plain"
"""
COMPILED = "Kernel: lie-euler for boat"


@pytest.fixture
def app(screen: Screen, tmp_path: Path) -> Iterator[App]:
    """With nothing compiled yet."""
    scene = tmp_path / "free.toml"
    scene.write_text(SCENE)
    chosen = (str(scene), "--size", "800x500", "--quality", "low")
    with closing(App(screen, tmp_path, *chosen, HOLONOMY_CACHE=str(tmp_path / "cache"))) as app:
        yield app


def compiled(folder: Path) -> list[Path]:
    """Marks of kernels that are complete."""
    return list((folder / "cache" / "done").glob("holonomy_*"))


def test_the_window_tells_what_it_compiles_then_shows_the_scene(app: App, tmp_path: Path) -> None:
    app.wait_for_opening(COMPILED, timeout_s=60)
    assert not compiled(tmp_path)
    seen = app.wait_until(lambda p: p["clock_s"] > 0.2, timeout_s=200, what="the scene runs")
    (lane,) = seen["lanes"]
    assert (lane["vehicle"], lane["integrator"]) == ("boat", "lie-euler")
    assert seen["gl_errors"] == []
    assert compiled(tmp_path)


def test_a_window_that_is_closed_while_it_compiles_gives_that_up(app: App, tmp_path: Path) -> None:
    app.wait_for_opening(COMPILED, timeout_s=60)
    app.process.terminate()
    assert app.process.wait(60) == 128 + 15
    assert not compiled(tmp_path)
    assert app.log() == ""
