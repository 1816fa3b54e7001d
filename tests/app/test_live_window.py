"""A window that listens: another program finds it, flies in it and changes its scene, which a log tells of."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import sim
from sim.live.client import Connection
from tests.app.desktop import App, Screen

pytest.importorskip("websockets", reason="websockets is not there")
reader = pytest.importorskip("mcap.reader", reason="mcap is not there")


def _paused(window: Connection) -> str:
    """What becomes of a command that may meet the change of scene."""
    try:
        window.pause()
    except sim.InputError as refusal:
        return str(refusal)
    return ""


def test_another_program_finds_the_window_flies_and_changes_the_scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.mkdir()
    monkeypatch.setenv("HOLONOMY_CONFIG", str(config))
    asked = ("--listen", "--export", str(tmp_path / "flown.mcap"))
    with (
        closing(Screen()) as screen,
        closing(App(screen, tmp_path, "plain", *asked, HOLONOMY_CONFIG=str(config))) as app,
    ):
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=60.0, what="the window is drawn")
        with sim.connect() as window:
            window.pause()
            before = window.lanes[0]["time_s"]
            after = window.step(4, controls=[0.0, 0.0, 0.01, 0.0, 0.0, 20.0])
            lane = after["lanes"][0]
            assert lane["time_s"] == pytest.approx(before + 4 * lane["step_s"])
            assert lane["controls"][5] == 20.0
            with pytest.raises(sim.InputError, match="SetSpeed: unknown field"):
                window.command("SetSpeed", sped=1.0)
            with ThreadPoolExecutor(1) as other, window.another() as beside:
                opening = other.submit(window.scene, "heavy-top")
                answers = [_paused(beside) for _ in iter(opening.done, True)]
                opening.result()
            assert set(answers) <= {"", "SetPaused: the scene was left meanwhile; allowed: to ask again"}
            assert window.step(1)["scene"] == "heavy-top"
    assert not (config / "live.json").exists()
    with (tmp_path / "flown.mcap").open("rb") as file:
        log = reader.make_reader(file, validate_crcs=True)
        topics = {channel.topic for _, channel, _ in log.iter_messages()}
    assert {"/scene", "/tf", "/flown/channels"} <= topics
