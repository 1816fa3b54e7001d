"""The user's settings survive, and broken ones do no harm."""

from pathlib import Path

import pytest

from ui.config import config_dir, read_scale, write_scale


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
