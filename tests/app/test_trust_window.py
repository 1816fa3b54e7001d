"""A scene that names a program, opened in a window: it is asked for, and run only at the word."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.app.desktop import App, Probe, Screen
from tests.app.program import EVIL

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]
START_S, ANSWER_S = 60.0, 30.0
FIRST = 'vehicle = "rigid-body"\n[world]\nname = "plain"\n'
OWN = 'vehicle = "../evil.py:Evil"\n[world]\nname = "plain"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trust")
    (folder / "inner").mkdir()
    (folder / "first.toml").write_text(FIRST)
    (folder / "evil.py").write_text(EVIL)
    (folder / "inner" / "own.toml").write_text(OWN)
    return folder


@pytest.fixture(scope="module")
def app(screen: Screen, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    arguments = (str(folder / "first.toml"), "--quality", "software", "--size", "900x560")
    with closing(App(screen, tmp_path_factory.mktemp("config"), *arguments)) as app:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=START_S, what="the window is drawn")
        yield app


def open_own(app: App, folder: Path) -> None:
    typed(app, folder)
    app.wait_until(lambda p: "trust" in p["widgets"], timeout_s=START_S, what="it is asked")


def typed(app: App, folder: Path) -> None:
    app.click("tab/Scene")
    app.click("open/path")
    # Held over frames: both keys of a tap may fall between two of them.
    app.screen.xdotool("keydown", "ctrl")
    app.wait_frames(2)
    app.screen.xdotool("key", "a")
    app.wait_frames(2)
    app.screen.xdotool("keyup", "ctrl")
    app.wait_frames(2)
    app.screen.xdotool("type", "--delay", "40", str(folder / "inner" / "own.toml"))
    app.wait_frames(10)
    app.click("open/button")


def flown(probe: Probe) -> str:
    return probe["lanes"][0]["vehicle"]


def test_refused_nothing_is_run_and_the_window_goes_on(app: App, folder: Path) -> None:
    open_own(app, folder)
    app.click("trust/refuse")
    seen = app.wait_until(lambda p: "trust" not in p["widgets"], timeout_s=ANSWER_S, what="it is answered")
    assert flown(seen) == "rigid-body"
    assert not (folder / "marker").exists()


def test_what_is_written_meanwhile_is_asked_for_anew(app: App, folder: Path) -> None:
    open_own(app, folder)
    (folder / "evil.py").write_text(f"{EVIL}\n# more\n")
    app.click("trust/folder")
    assert "trust" in app.wait_frames(5)["widgets"]
    assert not (folder / "marker").exists()
    app.screen.xdotool("key", "Escape")
    app.wait_until(lambda p: "trust" not in p["widgets"], timeout_s=ANSWER_S, what="it is refused")


def test_trusted_it_is_run_and_asked_for_no_more(app: App, folder: Path) -> None:
    open_own(app, folder)
    app.click("trust/folder")
    app.wait_until(lambda p: flown(p) == "evil", timeout_s=START_S, what="it is opened")
    assert (folder / "marker").exists()
    (folder / "marker").unlink()
    (folder / "evil.py").write_text(f"{EVIL}\n# changed by its owner\n")
    typed(app, folder)
    for _ in range(600):
        if (folder / "marker").exists():
            break
        assert "trust" not in app.wait_frames(2)["widgets"]
    assert (folder / "marker").exists()


def test_no_gl_error_and_no_traceback_was_seen(app: App) -> None:
    seen = app.wait_frames(3)
    assert seen["gl_errors"] == []
    assert "Traceback" not in app.log()


def test_a_window_that_is_started_with_it_asks_first(
    screen: Screen, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tmp_path / "vehicle.py").write_text(EVIL)
    arguments = (f"{tmp_path}/", "--quality", "software", "--size", "900x560")
    with closing(App(screen, tmp_path_factory.mktemp("config"), *arguments)) as app:
        app.wait_until(lambda p: "trust" in p["widgets"], timeout_s=START_S, what="it is asked")
        assert not (tmp_path / "marker").exists()
        app.click("trust/folder")
        app.wait_until(lambda p: flown(p) == "evil", timeout_s=START_S, what="it is opened")
        assert (tmp_path / "marker").exists()
        assert "Traceback" not in app.log()
