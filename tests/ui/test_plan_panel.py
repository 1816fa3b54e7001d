"""The Plan tab and the handles in the view, clicked and dragged without a window."""

from dataclasses import replace

import numpy as np
import pytest
from imgui_bundle import imgui

from render.matrices import perspective
from sim.commands import StopPlan
from sim.planner.requests import (
    ChoosePlan,
    DeletePlan,
    EditTask,
    FlyShown,
    KeepPlan,
    SavePlan,
    StartPlanning,
    StopPlanning,
)
from sim.planner.session import PlanView
from tests.sim.plan_samples import BOAT, record, task
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.gizmo import Gizmo, from_matrix16, matrix16, on_screen
from ui.panels import plan


def shown(bench: Bench, **changes) -> PlanView:
    view = PlanView(BOAT, task(), plan=record(), message="Solved.")
    bench.context.plan = replace(view, **changes)
    return bench.context.plan


def test_plan_stop_and_fly(bench: Bench) -> None:
    now = fakes.snapshot()
    shown(bench)
    assert isinstance(*bench.click("plan/start", plan.draw, now), StartPlanning)
    assert bench.click("plan/stop", plan.draw, now) == []
    assert bench.click("plan/fly", plan.draw, now) == [FlyShown()]
    assert bench.click("plan/track", plan.draw, now) == [FlyShown(tracked=True)]
    assert bench.click("plan/leave", plan.draw, fakes.snapshot(plan_flies=True)) == [StopPlan()]
    shown(bench, phase="solving")
    assert isinstance(*bench.click("plan/stop", plan.draw, now), StopPlanning)


def test_what_was_not_solved_cannot_be_flown(bench: Bench) -> None:
    shown(bench, plan=record(status="infeasible"))
    assert bench.click("plan/fly", plan.draw, fakes.snapshot()) == []


def test_weights_time_and_steps_edit_the_task(bench: Bench) -> None:
    now = fakes.snapshot()
    before = shown(bench).task
    *_, edit = bench.click("plan/weight/comfort", plan.draw, now, at=0.8)
    assert isinstance(edit, EditTask)
    assert edit.task.weights.comfort > 1.0
    assert edit.task.weights.effort == before.weights.effort
    *_, edit = bench.click("plan/time", plan.draw, now, at=0.9)
    assert edit.task.duration_s > before.duration_s
    assert edit.task.waypoints[0].time_s / edit.task.duration_s == pytest.approx(3.0 / 8.0)
    *_, edit = bench.click("plan/steps/32", plan.draw, now)
    assert edit.task.steps == 32


def test_a_new_waypoint_lies_on_the_plan(bench: Bench) -> None:
    view = shown(bench)
    (edit,) = bench.click("plan/waypoint/add", plan.draw, fakes.snapshot())
    assert edit.task.waypoints[-1].position_w == tuple(view.plan.places_w[2])
    assert edit.task.waypoints[-1].time_s == 4.0
    (edit,) = bench.click("plan/waypoint/remove/0", plan.draw, fakes.snapshot())
    assert edit.task.waypoints == ()


def test_kept_plans_are_chosen_saved_and_deleted(bench: Bench) -> None:
    now = fakes.snapshot()
    shown(bench)
    assert bench.click("plan/keep", plan.draw, now) == [KeepPlan()]
    shown(bench, kept=(record("one"), record("two")), saved=frozenset({"two"}))
    assert bench.click("plan/kept/0", plan.draw, now) == [ChoosePlan("one")]
    assert bench.click("plan/kept/0/save", plan.draw, now) == [SavePlan("one")]
    assert bench.click("plan/kept/1/save", plan.draw, now) == []
    assert bench.click("plan/kept/1/delete", plan.draw, now) == [DeletePlan("two")]


def test_a_scene_without_a_task_says_so(bench: Bench) -> None:
    bench.context.plan = None
    assert bench.frame(plan.draw, fakes.snapshot()) == []


def test_matrices_go_to_the_gizmo_and_back() -> None:
    pose = fakes.pose(0.3, -0.2, 1.1, (4.0, -5.0, 6.0))
    np.testing.assert_allclose(from_matrix16(matrix16(pose)), pose, atol=1e-6)
    assert list(matrix16(pose).values[12:15]) == pytest.approx([4.0, -5.0, 6.0])


def camera() -> tuple[np.ndarray, np.ndarray]:
    """From 30 m above the origin, straight down, y up on the screen."""
    view = np.eye(4)
    view[2, 3] = -30.0
    return view, perspective(0.9, 936.0 / 628.0, 0.1, 1000.0)


def test_a_waypoint_is_chosen_by_a_click_and_dragged_with_the_mouse(bench: Bench) -> None:
    plan_view = shown(bench, task=task(obstacles=()))
    bench.context.plan = plan_view
    gizmo, (view, projection) = Gizmo(), camera()
    io = imgui.get_io()

    def frame(x: float, y: float, *, down: bool) -> list[EditTask]:
        io.add_mouse_pos_event(x, y)
        io.add_mouse_button_event(0, down)
        imgui.new_frame()
        edits = gizmo.draw(bench.context.plan, view, projection, bench.context)
        imgui.render()
        return edits

    place = on_screen(np.array([4.0, -1.0, 0.0]), projection @ view, bench.context.scene_rect)
    assert place is not None
    for down in (False, False, True, False, False, False, False):
        frame(*place, down=down)
    assert gizmo.chosen == "waypoint 0"
    assert gizmo.wants_mouse
    edits: list[EditTask] = []
    for step, down in [(0, True), (0, True), *((i, True) for i in range(10, 90, 10)), (80, False)]:
        edits += frame(place[0] + step, place[1], down=down)
    moved = edits[-1].task.waypoints[0].position_w
    there = on_screen(np.array(moved), projection @ view, bench.context.scene_rect)
    assert there == pytest.approx((place[0] + 80.0, place[1]), abs=3.0)
