"""A task that was changed by hand comes back out of the scene's file that it was saved into, as it was."""

import dataclasses
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.planner.api import task_of_scene
from sim.planner.task.handles import copied, handles, moved, without
from sim.planner.task.scene_task import scene_with_task
from sim.planner.task.task import Waypoint, Weights
from sim.platform.errors import InputError
from sim.scene import SCENE_FOLDER, load_scene
from sim.shapes import Box, Capsule, Sphere
from sim.world import World, load_world

PLAIN: World = load_world("plain")


@pytest.mark.parametrize(
    "name", ["plan-boat-docking", "plan-car-parking", "plan-canyon", "plan-quadrotors", "plan-sling"]
)
def test_an_edited_task_is_read_back_as_it_was(name: str, tmp_path: Path) -> None:
    vehicle, task = task_of_scene(load_scene(name), world=PLAIN)
    goal = handles(vehicle, task)[0]
    T_w = goal.T_w.copy()
    T_w[:2, 3] += [1.7, -0.6]
    if goal.turns:
        c, s = np.cos(0.3), np.sin(0.3)
        T_w[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ T_w[:3, :3]
    task = moved(vehicle, task, "goal", T_w)
    task = without(copied(task, "obstacle 0"), "obstacle 1")
    named = (
        Box((1.0, 2.0, 0.0), (2.0, 1.0, 0.5), -0.4, 'the "red" one, \N{LATIN SMALL LETTER U WITH DIAERESIS}'),
        Capsule((0.0, 40.0, 1.0), (3.0, 41.0, 2.0), 0.7, "beam"),
        Sphere((9.0, 30.0, 4.0), 1.5, "ball"),
    )
    task = replace(
        task,
        obstacles=(*task.obstacles, *named),
        waypoints=(Waypoint((3.0, 1.0, 2.0)), Waypoint((4.0, 1.5, 2.0), 0.2, 6.5)),
        weights=Weights(effort=2.5, time=0.3, safety=1e-3),
        duration_s=17.25,
        steps=48,
        free_duration=(9.0, 33.0),
    )
    path = tmp_path / "edited.toml"
    path.write_text(scene_with_task((SCENE_FOLDER / f"{name}.toml").read_text(), vehicle, task))
    _, again = task_of_scene(load_scene(path), world=PLAIN)
    for part in dataclasses.fields(task):
        if part.name in ("name", "goal", "start", "obstacles", "ground"):
            continue
        assert getattr(again, part.name) == getattr(task, part.name), part.name
    np.testing.assert_allclose(again.goal.state.node, task.goal.state.node, atol=1e-12)
    assert replace(again.goal, state=task.goal.state) == task.goal
    assert [(o.kind, o.name, o.look) for o in again.obstacles] == [
        (o.kind, o.name, o.look) for o in task.obstacles
    ]
    for one, other in zip(again.obstacles, task.obstacles, strict=True):
        np.testing.assert_allclose(one.numbers(), other.numbers(), atol=1e-12)


def test_what_is_not_edited_stays_as_it_was_written() -> None:
    text = (SCENE_FOLDER / "plan-boat-docking.toml").read_text()
    noted = "# mine\n" + text.replace("[plan]\n", "[plan]  # to the berth\n", 1) + "\n# the end\n"
    assert noted.count("#") >= 3
    vehicle, task = task_of_scene(load_scene("plan-boat-docking"), world=PLAIN)
    written = scene_with_task(noted, vehicle, replace(task, steps=48))
    for comment in ("# mine", "# to the berth", "# the end"):
        assert comment in written
    before, after = tomllib.loads(noted), tomllib.loads(written)
    assert after["plan"]["steps"] == 48
    del before["plan"], after["plan"]
    assert after == before


@pytest.mark.parametrize("text", ["title = ", "title = 'no plan'\n", "plan = 3\n"])
def test_a_file_that_is_no_such_scene_any_more_is_one_line(text: str) -> None:
    vehicle, task = task_of_scene(load_scene("plan-boat-docking"), world=PLAIN)
    with pytest.raises(InputError) as told:
        scene_with_task(text, vehicle, task)
    assert "\n" not in str(told.value)
