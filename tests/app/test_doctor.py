"""The doctor tells what is there, whatever is not."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.app.program import ROOT, run_app
from ui.desktop import doctor
from ui.desktop.doctor import BESIDE, FOUND, MISSING, Finding


def test_without_a_display_everything_is_told_in_a_line_each() -> None:
    done = run_app("doctor")
    lines = done.stdout.strip().splitlines()
    told = {line[:24].strip(): line[24:].split()[0] for line in lines}
    for subject in (
        "python",
        "OpenGL without a window",
        "display",
        "audio",
        "gamepads and joysticks",
        "cache",
        "extras",
    ):
        assert subject in told
    assert told["python"] == told["H.264"] == told["planner"] == "found"
    assert told["display"] == "not"
    assert done.returncode == int("MISSING" in done.stdout)
    assert not any(word in done.stdout + done.stderr for word in ("Traceback", "Errno"))


def test_a_cache_that_cannot_be_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    code = "from ui.desktop.doctor import examine\nfor f in examine(): print(f.subject, '|', f.state, '|', f.text)"
    environment = {**os.environ, "HOLONOMY_CACHE": str(file / "inner")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert "cache | not there | no folder that can be used" in done.stdout


def test_what_is_needed_and_missing_is_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run((Finding("a", FOUND, "b"), Finding("c", BESIDE, "d"))) == 0
    assert doctor.run((Finding("a", MISSING, "b"),)) == 1
    assert "a  MISSING    b" in capsys.readouterr().out


def test_whatever_a_library_raises_is_one_line() -> None:
    def fails() -> str:
        raise RuntimeError("first\nsecond")

    assert doctor.finding("x", MISSING, fails) == Finding("x", MISSING, "first")


FOR_DEVELOPERS = {"dev", "docs", "robot-models", "reference"}


def test_every_extra_of_an_installation_is_told_by_a_library_that_it_brings() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(doctor.EXTRAS) == set(extras) - FOR_DEVELOPERS
    for extra, library in doctor.EXTRAS.items():
        assert library in {re.split("[<>=]", wanted)[0] for wanted in extras[extra]}, extra
