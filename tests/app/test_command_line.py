"""The command line does all that was asked for, or says in one line why not."""

import sys
from pathlib import Path

import pytest

import app
from sim.platform.errors import InputError
from sim.scene import scene_names
from tests.app.program import ROOT, run_app
from ui.settings.view_settings import config_dir

BAD_INPUT = {
    "a file of another kind": ([str(ROOT / "README.md")], "a scene (.toml)"),
    "unknown scene": (["nosuch"], f"({len(scene_names())} in all)"),
    "a scene that is misspelt": (["canyno"], "allowed: canyon, "),
    "unknown option": (["--bogus"], "--bogus"),
    "too many arguments": (["canyon", "plain"], "plain"),
    "unknown vehicle": (["--vehicle", "zeppelin"], "helicopter"),
    "unknown integrator": (["--integrator", "rk5"], "rk4"),
    "unknown camera": (["--camera", "drone"], "chase"),
    "unknown quality": (["--quality", "ultra"], "software"),
    "step not a number": (["--step", "fast"], "--step"),
    "step nan": (["--step", "nan"], "0.5"),
    "step too long": (["--step", "2"], "0.5"),
    "seconds nan": (["--headless", "--seconds", "nan"], "86400"),
    "seconds negative": (["--headless", "--seconds=-1"], "86400"),
    "seconds infinite": (["--headless", "--seconds", "inf"], "86400"),
    "size malformed": (["--headless", "--size", "800"], "WIDTHxHEIGHT"),
    "size too small": (["--headless", "--size", "2x2"], "16"),
    "odd size of a video": (["--headless", "--size", "321x200", "--video", "out.mp4"], "even"),
    "video of an unknown kind": (["--headless", "--video", "out.avi"], ".mp4"),
    "picture of an unknown kind": (["--headless", "--screenshot", "out.jpg"], ".png"),
    "files asked of a window": (["--csv", "out.csv"], "--headless"),
    "take asked of a window": (["--take", "out.npz"], "--headless"),
    "models asked of a window": (["--export", "out.glb"], ".mcap or .rrd, or with --headless"),
    "take of an unknown kind": (["--headless", "--take", "out.zip"], ".npz"),
    "seconds asked of a window": (["--seconds", "3"], "--headless"),
    "two outcomes in one file": (["--headless", "--csv", "out.npz", "--take", "out.npz"], "a file each"),
    "demo of a vehicle without an autopilot": (["chain", "--demo", "--headless"], "helicopter"),
    "a model that is none": (["robot", "--model", "arm.step"], ".urdf"),
    "a model that is not there": (["robot", "--model", "nosuch.urdf"], "nosuch.urdf"),
    "a model beside a vehicle": (["--model", "arm.urdf", "--vehicle", "car"], "one of the two"),
    "no such take": (["nosuch.npz"], "nosuch.npz"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_status_2_and_one_line(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, allowed = BAD_INPUT[case]
    assert app.main([*arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("holonomy: ")
    assert printed.err.count("\n") == 1
    assert allowed in printed.err


def test_bad_input_leaves_no_traceback_in_a_real_process(tmp_path: Path) -> None:
    scene = tmp_path / "odd.toml"
    scene.write_text("vehicel = 3\n")
    result = run_app(str(scene))
    assert result.returncode == 2
    assert "odd.toml: vehicel: unknown key" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_settings_folder_that_cannot_be_made_is_named_with_the_variable_that_moves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "file" / "folder"))
    with pytest.raises(InputError, match=r"file/folder.* cannot be made .*HOLONOMY_CONFIG"):
        config_dir()


def test_list_names_every_scene(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(scene_names())
    assert all(len(line.split()) > 1 for line in lines)


def test_help_is_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["--help"]) == 0
    assert "--headless" in capsys.readouterr().out


def test_a_window_without_a_display_is_status_1_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    assert app.main(["plain"]) == 1
    assert "no display" in capsys.readouterr().err
