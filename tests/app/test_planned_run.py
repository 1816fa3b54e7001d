"""A headless run with --plan flies what was planned."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import app
from export.headless import overlooked
from export.output import OutputError
from export.studio import Follower
from render.plan.view import PlanScene
from sim.planner.service.session import PlanView
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world


def run(*arguments: str) -> int:
    return app.main([*arguments])


def test_a_planned_run_ends_where_the_task_says(tmp_path: Path) -> None:
    table = tmp_path / "dock.csv"
    assert run("plan-boat-docking", "--headless", "--plan", "--csv", str(table)) == 0
    with table.open() as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["time_s"]) == pytest.approx(20.0)
    assert float(last["x_m"]) == pytest.approx(22.0, abs=1e-6)
    assert float(last["y_m"]) == pytest.approx(8.0, abs=1e-6)


def test_a_scene_without_a_task_and_a_window_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("plain", "--headless", "--plan") == 2
    assert "plans nothing" in capsys.readouterr().err
    assert run("plan-boat-docking", "--plan") == 2
    assert "--plan: refused with a window" in capsys.readouterr().err


def test_the_overview_has_start_goal_waypoints_and_obstacles_in_the_picture() -> None:
    scene = load_scene("plan-boat-slalom")
    world = load_world(scene.world, seed=scene.seed)
    view = overlooked(scene, world)
    assert view is not None
    simulation = Simulation(scene, world)
    simulation.advance(0.0)
    task, level_m = view.task, world.water_level_m
    marked = [(*state.node[1:3], level_m) for state in (task.start, task.goal.state)]
    marked += [(*waypoint.position_w[:2], level_m) for waypoint in task.waypoints]
    marked += [(*obstacle.centre_w[:2], level_m) for obstacle in task.obstacles]
    assert len(marked) == 8

    def farthest(places_w: np.ndarray | None) -> float:
        """From the picture's middle, 1 at its edge."""
        seen = Follower(scene, world, places_w).follow(simulation.snapshot, 0.0, 1.6)
        clip = np.c_[marked, np.ones(len(marked))] @ (seen.projection @ seen.view).T
        return float(np.where(clip[:, 3:] > 0.0, np.abs(clip[:, :2] / clip[:, 3:]), np.inf).max())

    assert farthest(PlanScene(world).reach(view)) < 0.95
    assert farthest(None) > 1.5  # of the boat alone


def test_a_run_shows_its_task_where_the_overview_looks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shown: list[PlanView | None] = []

    def studio(*_scene: object, planned: PlanView | None, **_how: object) -> None:
        shown.append(planned)
        raise OutputError("seen enough")

    monkeypatch.setattr("export.studio.Studio", studio)
    picture = ("--headless", "--screenshot", str(tmp_path / "picture.png"))
    assert run("plan-boat-docking", *picture, "--plan") == 1
    assert run("plan-boat-docking", *picture, "--camera", "chase") == 1
    assert shown[0] is not None
    assert shown[0].plan is not None
    assert shown[0].plan.solved
    assert shown[1:] == [None]
    scene = load_scene("race-slalom")
    assert overlooked(replace(scene, camera="overview"), load_world("plain", seed=7)) is None
