"""The user's settings survive, and broken ones do no harm."""

import logging
import sys
import tempfile
from pathlib import Path

import pytest

from ui.settings.view_settings import config_dir, read_scale, write_scale


def test_the_scale_is_remembered(tmp_path: Path) -> None:
    assert read_scale(tmp_path) == 1.0
    write_scale(tmp_path, 1.5)
    assert read_scale(tmp_path) == 1.5


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scale": "big"}', '{"scale": 400}', '{"scale": NaN}'])
def test_a_broken_file_is_no_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "interface.json").write_text(text)
    assert read_scale(tmp_path) == 1.0


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    write_scale(tmp_path / "missing", 1.5)


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "here"))
    assert config_dir() == tmp_path / "here"
    assert config_dir().is_dir()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's conventions")
def test_without_a_home_the_settings_of_a_run_are_in_a_temporary_folder_and_the_terminal_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    for name in ("HOLONOMY_CONFIG", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with caplog.at_level(logging.WARNING, "holonomy"):
        folder = config_dir()
        assert config_dir() == folder
    assert folder.parent == tmp_path
    (told,) = [record.getMessage() for record in caplog.records]
    assert told.endswith(f"settings, takes and plans of this run are in {folder}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's conventions")
@pytest.mark.parametrize("named", ["", "relative", "~/.config"])
def test_variables_that_are_empty_or_relative_are_none(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", named)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert config_dir() == tmp_path / ".config" / "holonomy"
    assert [path.name for path in tmp_path.iterdir()] == [".config"]
