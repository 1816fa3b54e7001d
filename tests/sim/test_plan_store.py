"""Laws of stored plans and of what the hand does to a task: files are whole, handles move what they name."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.planner import Box, Capsule, Cylinder, Goal, Limits, Sphere, Waypoint, Weights
from sim.planner.result.store import load_record, save_record
from sim.planner.service.session import PlanSession
from sim.planner.task.handles import freed, handles, moved, stretched, with_waypoint, without
from sim.platform.errors import InputError
from tests.sim.plan_samples import BOAT, record, task


def test_a_stored_plan_brings_its_task_back(tmp_path: Path) -> None:
    obstacles = (
        Sphere((1.0, 2.0, 3.0), 0.5, "ball"),
        Cylinder((5.0, 2.0, 0.0), 1.0),
        Capsule((0.0, 1.0, 2.0), (3.0, 4.0, 5.0), 0.7, "beam"),
        Box((9.0, -3.0, 0.0), (1.0, 2.0, 3.0), 0.4, "crate"),
    )
    before = task(
        name="harbour",
        free_duration=(4.0, 20.0),
        obstacles=obstacles,
        waypoints=(Waypoint((4.0, -1.0, 0.0), 0.5, 3.0), Waypoint((6.0, 0.0, 0.0), 0.25, None)),
        weights=Weights(effort=2.0, time=0.3),
        limits=Limits(speed_mps=4.0, low_w=(-9.0, -9.0, -1.0), controls={"u_left": (-10.0, 60.0)}),
        goal=Goal(BOAT.state(x=10.0, theta=0.5), position="within", tolerance_m=0.3),
        body=((0.8, 0.0, 0.0, 0.7), (-0.8, 0.0, 0.0, 0.7)),
        effort_scale={"u_left": 40.0},
    )
    after = load_record(save_record(record("one", task=before), tmp_path)).task
    assert after is not None
    for there, here in ((before.start, after.start), (before.goal.state, after.goal.state)):
        np.testing.assert_array_equal(there.node, here.node)
    same = {"start": before.start, "goal": replace(after.goal, state=before.goal.state)}
    assert replace(after, **same) == before


def test_files_of_the_first_format_still_load(tmp_path: Path) -> None:
    path = save_record(record("old", task=task()), tmp_path)
    with np.load(path) as file:
        arrays = dict(file)
    about = json.loads(str(arrays["about"]))
    del about["task"]
    arrays["about"] = np.array(json.dumps({**about, "format": 1}))
    np.savez_compressed(path, **arrays)
    assert load_record(path).task is None
    kept = PlanSession(BOAT, task(name="any"), "variational", tmp_path).view.kept
    assert [one.name for one in kept] == ["old"]


def test_the_other_ways_are_stored_with_a_plan(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    shape = (7, BOAT.node_layout.size)
    later = task(waypoints=(Waypoint((4.0, -1.0, 0.0), 0.5, 5.0),))
    others = (
        record("first, way 2", cost=4.0, nodes=rng.normal(size=(5, shape[1])), waypoint_times_s=(5.0,)),
        record("first, way 3", cost=5.0, nodes=rng.normal(size=shape), controls=np.ones((7, 2)), task=later),
    )
    before = record("first", task=task(), alternatives=others, tried=12)
    after = load_record(save_record(before, tmp_path))
    assert after.tried == 12
    assert (after.alternatives[0].task, len(after.alternatives)) == (None, 2)
    for here, there in zip(others, after.alternatives, strict=True):
        np.testing.assert_array_equal(here.nodes, there.nodes)
        np.testing.assert_array_equal(here.controls, there.controls)
        for name in ("name", "cost", "costs", "history", "waypoint_times_s", "step_s", "alternatives"):
            assert getattr(here, name) == getattr(there, name), name
    assert after.alternatives[1].task.waypoints == later.waypoints


def test_files_without_other_ways_still_load(tmp_path: Path) -> None:
    path = save_record(record("old", task=task()), tmp_path)
    with np.load(path) as file:
        arrays = dict(file)
    about = json.loads(str(arrays["about"]))
    del about["alternatives"], about["tried"]
    arrays["about"] = np.array(json.dumps(about))
    np.savez_compressed(path, **arrays)
    after = load_record(path)
    assert (after.alternatives, after.tried) == ((), 1)


def test_a_way_whose_numbers_are_missing_is_refused_in_one_line(tmp_path: Path) -> None:
    path = save_record(record("one", alternatives=(record("one, way 2"),)), tmp_path)
    with np.load(path) as file:
        arrays = dict(file)
    del arrays["way 1 nodes"]
    np.savez_compressed(path, **arrays)
    with pytest.raises(InputError, match=r"one\.npz") as refusal:
        load_record(path)
    assert "\n" not in str(refusal.value)


def test_plans_of_another_scene_stay_out_of_the_list(tmp_path: Path) -> None:
    for name in ("harbour", "lake"):
        save_record(record(name, task=task(name=name)), tmp_path)
    kept = PlanSession(BOAT, task(name="lake"), "variational", tmp_path).view.kept
    assert [one.name for one in kept] == ["lake"]


def test_final_time_is_freed_fixed_and_stretched_with_its_waypoints() -> None:
    free = freed(task(), (9.0, 20.0))
    assert (free.duration_s, free.free_duration) == (9.0, (9.0, 20.0))
    assert free.waypoints[0].time_s == pytest.approx(3.0 * 9.0 / 8.0)
    assert freed(free, None).free_duration is None
    longer = stretched(free, 30.0)
    assert longer.free_duration == (9.0, 30.0)
    assert longer.waypoints[0].time_s == pytest.approx(3.0 * 30.0 / 8.0)


def test_a_stored_plan_is_read_back_bit_for_bit(tmp_path: Path) -> None:
    before = record("a b/c", nodes=np.random.default_rng(1).normal(size=(5, BOAT.node_layout.size)))
    path = save_record(before, tmp_path)
    after = load_record(path)
    np.testing.assert_array_equal(before.nodes, after.nodes)
    np.testing.assert_array_equal(before.controls, after.controls)
    for name in ("name", "step_s", "cost", "costs", "history", "status", "message", "waypoint_times_s"):
        assert getattr(before, name) == getattr(after, name), name
    assert after.vehicle.values == before.vehicle.values
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_file_that_is_no_plan_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(InputError, match=r"broken\.npz") as refusal:
        load_record(path)
    assert "\n" not in str(refusal.value)


def test_handles_move_what_they_name_and_nothing_else() -> None:
    before = task()
    for handle in handles(BOAT, before):
        pose = handle.T_w.copy()
        pose[:3, 3] += [1.0, 2.0, 5.0]
        after = moved(BOAT, before, handle.name, pose)
        for old, new in zip(handles(BOAT, before), handles(BOAT, after), strict=True):
            # What moves on a plane stays on it: the third coordinate is not heard.
            by = [1.0, 2.0, 0.0] if old.name == handle.name else [0.0, 0.0, 0.0]
            np.testing.assert_allclose(new.T_w[:3, 3] - old.T_w[:3, 3], by, atol=1e-12)
            np.testing.assert_allclose(new.T_w[:3, :3], old.T_w[:3, :3], atol=1e-12)


def test_waypoints_and_obstacles_come_and_go() -> None:
    more = with_waypoint(task(), np.array([1.0, 2.0, 0.0]), tolerance_m=0.3, time_s=None)
    assert [w.position_w for w in more.waypoints] == [(4.0, -1.0, 0.0), (1.0, 2.0, 0.0)]
    assert without(more, "waypoint 0").waypoints == more.waypoints[1:]
    assert without(more, "obstacle 0").obstacles == ()
    assert without(more, "goal") is more
