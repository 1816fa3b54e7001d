"""A vehicle's folder in a window: moved by its own keys, changed while it moves, opened once more by its path."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import app
from tests.app.desktop import App, Screen

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own"),
    pytest.mark.timeout(3600),
]
START_S, ANSWER_S = 60.0, 30.0
EXAMPLE = Path(app.__file__).resolve().parent / "examples" / "trike"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with nothing to plan, where it runs into nothing however long a busy machine has it pedal."""
    copy = tmp_path_factory.mktemp("own") / "my_vehicle"
    shutil.copytree(EXAMPLE, copy)
    scene = (copy / "scene.toml").read_text(encoding="utf-8").partition("[plan]")[0]
    assert 'name = "driving"' in scene
    (copy / "scene.toml").write_text(scene.replace('name = "driving"', 'name = "plain"'), encoding="utf-8")
    return copy


@pytest.fixture(scope="module")
def trike(screen: Screen, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    arguments = (str(folder), "--trust", "--quality", "software", "--size", "900x560")
    with closing(App(screen, tmp_path_factory.mktemp("config"), *arguments)) as app:
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=START_S, what="the window is drawn")
        screen.xdotool("mousemove", 300, 200)
        yield app


def saved(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def torque(probe: dict) -> float:
    return probe["lanes"][0]["controls"][0]


def test_its_keys_pedal_and_saved_data_is_taken_up_while_they_are_held(trike: App, folder: Path) -> None:
    trike.screen.xdotool("keydown", "w")
    try:
        before = trike.wait_until(lambda p: torque(p) == 60.0, timeout_s=ANSWER_S, what="full torque")
        assert before["lanes"][0]["vehicle"] == "trike"
        saved(folder / "vehicle.toml", "f_psi = { ahead = 1.0 }", "f_psi = { ahead = 0.5 }")
        after = trike.wait_until(lambda p: torque(p) == 30.0, timeout_s=ANSWER_S, what="half the torque")
    finally:
        trike.screen.xdotool("keyup", "w")
    assert after["lanes"][0]["generation"] == before["lanes"][0]["generation"]
    assert after["clock_s"] > before["clock_s"]
    assert after["message"] == "trike: its files are taken up"


def test_a_mistake_leaves_it_moving_and_its_mending_is_taken_up(trike: App, folder: Path) -> None:
    saved(folder / "vehicle.py", "def constraints(self, r, q):", "def constraints(self, r, q)")
    before = trike.wait_frames(20)
    after = trike.wait_frames(20)
    assert after["clock_s"] > before["clock_s"]
    saved(folder / "vehicle.py", "def constraints(self, r, q)", "def constraints(self, r, q):")
    saved(folder / "vehicle.py", 'Control("f_phi"', 'Control("f_fork"')
    saved(folder / "vehicle.toml", "f_phi = {", "f_fork = {")
    anew = trike.wait_until(
        lambda p: "starts anew" in p["message"], timeout_s=START_S, what="it has other controls"
    )
    assert anew["lanes"][0]["generation"] > after["lanes"][0]["generation"]


def test_its_path_opens_it_once_more(trike: App, folder: Path) -> None:
    trike.click("tab/Scene")
    trike.click("open/path")
    trike.screen.xdotool("type", "--delay", "40", str(folder))
    trike.wait_frames(10)
    now = trike.seen()
    trike.click("open/button")
    trike.wait_until(
        lambda p: p["clock_s"] < now["clock_s"] and p["lanes"][0]["vehicle"] == "trike",
        timeout_s=START_S,
        what="it is opened anew",
    )


def test_no_gl_error_and_no_traceback_was_seen(trike: App) -> None:
    seen = trike.wait_frames(3)
    assert seen["gl_errors"] == []
    assert "Traceback" not in trike.log()
