"""What a window saves: the task of a scene that the user brought along goes beside it, and opens as any other."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from sim.planner.api import task_of_scene
from sim.planner.service.session import PlanView
from sim.scene import SCENE_FOLDER, load_scene
from ui.features.plan.actions import scene_saved, with_task


def test_a_task_is_saved_beside_the_scene_that_the_user_brought_along(tmp_path: Path) -> None:
    path = tmp_path / "my harbour.toml"
    path.write_text((SCENE_FOLDER / "plan-boat-docking.toml").read_text())
    scene = load_scene(path)
    vehicle, task = task_of_scene(scene)
    app = MagicMock(scene=scene)
    app.context.find.side_effect = {
        PlanView: PlanView(vehicle, replace(task, obstacles=task.obstacles[1:]))
    }.get
    app.context.of.side_effect = lambda kind: kind()
    told = scene_saved(app, lambda text: with_task(app, text))
    (saved,) = set(tmp_path.glob("*.toml")) - {path}
    assert told == f"Scene saved: {saved}"
    again = load_scene(saved)
    assert [o.name for o in task_of_scene(again)[1].obstacles] == ["east buoy"]
    assert (again.title, again.goals, again.world) == (scene.title, scene.goals, scene.world)


def test_what_comes_from_no_file_of_the_users_is_saved_in_his_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "mine"))
    app = MagicMock(scene=load_scene("plain"))
    app.context.of.side_effect = lambda kind: kind()
    told = scene_saved(app, lambda text: text)
    (saved,) = (tmp_path / "mine" / "scenes").glob("plain-*.toml")
    assert told == f"Scene saved: {saved}"
    assert load_scene(saved).goals == load_scene("plain").goals
    assert not list(here.iterdir())
