"""A headless run with --plan flies what was planned."""

import csv
from pathlib import Path

import pytest

import app


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["app.py", *arguments])
    return app.main()


def test_a_planned_run_ends_where_the_task_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = tmp_path / "dock.csv"
    assert run(monkeypatch, "plan-boat-docking", "--headless", "--plan", "--csv", str(table)) == 0
    with table.open() as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["time_s"]) == pytest.approx(20.0)
    assert float(last["x_m"]) == pytest.approx(22.0, abs=1e-6)
    assert float(last["y_m"]) == pytest.approx(8.0, abs=1e-6)


def test_a_scene_without_a_task_and_a_window_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "plain", "--headless", "--plan") == 2
    assert "plans nothing" in capsys.readouterr().err
    assert run(monkeypatch, "plan-boat-docking", "--plan") == 2
    assert "--plan: refused with a window" in capsys.readouterr().err
