"""Sweeps of a scene's numbers: what comes of gains, parameters and steps, a row of a table each."""

import csv
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from export.request import checked
from export.scene_sweep import OwnFiles, Series, changed, flown_over
from sim.platform.errors import InputError
from sim.platform.processes import run_in_process
from sim.scene import load_scene
from tests.app.program import run_app

OWN = """
import numpy as np

import sim


class Lift(sim.Controller):
    force = sim.Gain(12.0, 0.0, 500.0, "N")

    def control(self, t, state, sticks, memory):
        self.plot("climb", state.v[2], "m/s")
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, self.force])
"""
SCENE = (
    'vehicle = "rigid-body"\nintegrator = "rk4"\ncontroller = "lift.py"\n[world]\nname = "plain"\n'
    "[start]\nposition_m = [0.0, 0.0, 50.0]\n"
)
USUAL = {"seconds": 1.0, "size": "64x64", "quality": "auto", "demo": False}
USUAL |= dict.fromkeys(("video", "screenshot", "csv"))


def test_gains_and_parameters_are_swept_by_runs_that_newton_knows(tmp_path: Path) -> None:
    """Of a class in a user's own file, which no process can be sent."""
    (tmp_path / "lift.py").write_text(OWN)
    scene, table = tmp_path / "scene.toml", tmp_path / "table.csv"
    scene.write_text(SCENE)
    pytest.importorskip("distributed")
    sweep = ("--sweep", "force=10:30:3", "--sweep", "mass=1,2.5", "--channels", "velocity,climb")
    done = run_app(scene, "--headless", "--trust", "--seconds", 0.5, *sweep, "--export", table)
    assert done.returncode == 0, done.stderr
    assert "6 runs of 0.5 s" in done.stdout
    with table.open(newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert [(row["force"], row["mass"]) for row in rows] == [(f, m) for f in (10, 20, 30) for m in (1, 2.5)]
    for row in rows:
        climb = 0.5 * row["force"] / row["mass"]  # it falls nowhere
        assert row["running"] == 1.0
        assert row["velocity.z.final [m/s]"] == pytest.approx(climb, abs=1e-9)
        assert row["climb.final"] == pytest.approx(climb * 0.98, abs=1e-9)  # it saw the step's start
        assert row["climb.rms"] == pytest.approx(abs(climb) / 3**0.5, rel=0.03)


def test_who_looks_on_hears_of_each_value_what_newton_knows(tmp_path: Path) -> None:
    """In a process that is told of the user's own class; a value that is refused has no answers."""
    (tmp_path / "lift.py").write_text(OWN)
    (tmp_path / "scene.toml").write_text(SCENE)
    scene = load_scene(tmp_path / "scene.toml", trusted=True)
    series = Series(scene, "mass", (1.0, 2.5, -3.0), 0.5)
    heard: list[dict[str, float]] = []
    run_in_process(
        flown_over, series, name="sweep", prepare=OwnFiles.of(scene), progress=heard.append,
        given_up=threading.Event(), allowed="allowed: less",
    )  # fmt: skip
    assert heard[2] == {}
    for row, mass in zip(heard, (1.0, 2.5), strict=False):
        assert row["climb.final"] == pytest.approx(0.98 * 0.5 * 12.0 / mass, abs=1e-9)
    with pytest.raises(InputError, match="unknown number 'mas'"):
        flown_over(replace(series, name="mas"), heard.append)


@pytest.mark.parametrize(
    "text", ["mass", "mass=", "mass=1:2", "mass=1:2:x", "=1", "mass=nan", "mass=1:2:0.5", "mass=0:1:1000000"]
)
def test_what_is_no_sweep_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(InputError, match="allowed: NAME=LOW:HIGH:COUNT") as refused:
        checked(**USUAL, export=(Path("table.csv"),), sweep=(text,))
    assert "\n" not in str(refused.value)


def test_other_numbers_files_and_repeats_are_refused_in_a_line() -> None:
    scene = load_scene("plain", vehicle="quadrotor", controller="pid")
    with pytest.raises(InputError, match=r"unknown number 'plac'; did you mean 'place'\?|unknown number"):
        changed(scene, {"plac": 1.0})
    with pytest.raises(InputError, match="out of range"):
        changed(scene, {"place": 1e6})
    assert changed(scene, {"step": 0.02, "mass": 0.4, "place": 2.0}).vehicle.values["mass"] == 0.4
    with pytest.raises(InputError, match=r"allowed: with --export FILE\.csv"):
        checked(**USUAL, export=(Path("flight.html"),), sweep=("mass=1,2",))
    with pytest.raises(InputError, match="refused twice"):
        checked(**USUAL, export=(Path("table.csv"),), sweep=("mass=1,2", "mass=3"))
