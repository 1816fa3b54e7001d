"""Laws of files that are replaced: complete or not there, on the disk before they have the name, no litter."""

import os
import time
from pathlib import Path

import pytest

from sim.platform import replacing as module
from sim.platform.replacing import replacing


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of the system, in order."""
    told: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(module.os, "fsync", lambda number: told.append("sync") or sync(number))
    monkeypatch.setattr(module.os, "replace", lambda a, b: told.append("rename") or replace(a, b))
    return told


def test_what_a_user_made_is_on_the_disk_before_it_has_its_name(tmp_path: Path, calls: list[str]) -> None:
    with replacing(tmp_path / "file") as draft:
        draft.write_text("content")
    assert calls[:2] == ["sync", "rename"]
    assert (tmp_path / "file").read_text() == "content"


def test_what_can_be_made_again_does_not_wait_for_the_disk(tmp_path: Path, calls: list[str]) -> None:
    with replacing(tmp_path / "file", lasting=False) as draft:
        draft.write_text("content")
    assert calls == ["rename"]


def test_an_error_leaves_the_file_that_was_there_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")

    def interrupted() -> None:
        with replacing(tmp_path / "file") as draft:
            draft.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "before")]


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    with replacing(tmp_path / "file") as one:
        with replacing(tmp_path / "file") as other:
            assert one != other
            other.write_text("other")
        one.write_text("one")
    assert (tmp_path / "file").read_text() == "one"


def test_parts_left_by_a_killed_run_are_cleared_later_and_nothing_else_is(tmp_path: Path) -> None:
    old, fresh, foreign = (tmp_path / n for n in (".take.npz.77-3.part", ".take.npz.78-0.part", ".x.part"))
    for path in (old, fresh, foreign):
        path.write_text("half")
    long_ago = time.time() - 7200.0
    for path in (old, foreign):
        os.utime(path, (long_ago, long_ago))
    with replacing(tmp_path / "other.npz") as draft:
        draft.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [fresh.name, foreign.name, "other.npz"]
