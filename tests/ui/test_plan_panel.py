"""The Plan tab and the handles in the view, clicked and dragged without a window."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from imgui_bundle import imgui
from imgui_bundle.imguizmo import im_guizmo

from render.frame import look_at, perspective
from sim.commands import StopPlan
from sim.control.helm import BerthStatus
from sim.control.mpc import MpcStatus
from sim.planner import Goal
from sim.planner.result.active_constraints import ActiveConstraint
from sim.planner.result.plan import Violation
from sim.planner.service.requests import (
    ChooseMethod,
    ChoosePlan,
    DeletePlan,
    EditTask,
    FlyShown,
    KeepPlan,
    LeaveMpc,
    SavePlan,
    ShowPlan,
    StartPlanning,
    StopPlanning,
    TakeAlternative,
)
from sim.planner.service.session import PlanView, in_wind
from sim.planner.task.handles import with_gait
from sim.planner.task.refusal import Refusal
from sim.planner.task.task import Task
from sim.shapes import Sphere
from sim.vehicles import vehicle
from tests.sim.plan_samples import BOAT, record, task
from tests.ui import fakes
from tests.ui.bench import SIZE, Bench
from ui.features.flight import draw_flight
from ui.features.placing.gizmo import (
    SCALE,
    Gizmo,
    GizmoFields,
    TaskMarks,
    begin_gizmos,
    from_matrix16,
    matrix16,
)
from ui.features.plan.marks import Alternatives, compared, draw_violations, words
from ui.features.plan.pages import SaveTask
from ui.features.plan.panel import draw_plan
from ui.shell.features import SceneTools
from ui.window import theme
from ui.window.app_window import AppWindow
from ui.window.context import SceneCamera, on_screen
from ui.window.widgets import overlap


def shown(bench: Bench, **changes) -> PlanView:
    view = PlanView(BOAT, task(), plan=record(), message="Solved.")
    bench.context.show(replace(view, **changes))
    return bench.context.find(PlanView)


def test_plan_stop_and_fly(bench: Bench) -> None:
    now = fakes.snapshot()
    shown(bench)
    assert isinstance(*bench.click("plan/start", draw_plan, now), StartPlanning)
    assert bench.click("plan/stop", draw_plan, now) == []
    assert bench.click("plan/fly", draw_plan, now) == [FlyShown()]
    assert bench.click("plan/track", draw_plan, now) == [FlyShown(tracked=True)]
    flies = fakes.snapshot(plan_flies=True)
    assert bench.click("plan/leave", draw_plan, flies) == [StopPlan()]
    assert bench.click("plan/track", draw_plan, flies) == [FlyShown(tracked=True)]
    shown(bench, phase="solving")
    assert isinstance(*bench.click("plan/stop", draw_plan, now), StopPlanning)


def test_what_another_vehicle_sails_is_planned_and_sailed_by_one_button(bench: Bench) -> None:
    shown(bench, plan=None, sailed_by="motorboat")
    assert bench.click("plan/sail", draw_plan, fakes.snapshot()) == [FlyShown()]
    assert not {"plan/fly", "plan/track", "plan/page/flight", "plan/page/pilot"} & set(bench.context.rects)
    berth = BerthStatus(12.0, 0.2, 1.5, arrived=False)
    sails = fakes.snapshot(mpc=MpcStatus("flying", 0.1, 0.1, 9.0, 0.01, 9, 0, 0, "", None, berth))
    assert bench.click("plan/leave", draw_plan, sails) == [LeaveMpc()]
    assert bench.click("flight/sail", draw_flight, sails) == [LeaveMpc()]
    assert bench.click("flight/sail", draw_flight, fakes.snapshot()) == [FlyShown()]
    shown(bench, sailed_by="motorboat", phase="solving")
    assert bench.click("plan/sail", draw_plan, fakes.snapshot()) == []


def test_what_was_not_solved_cannot_be_flown(bench: Bench) -> None:
    shown(bench, plan=record(status="infeasible"))
    assert bench.click("plan/fly", draw_plan, fakes.snapshot()) == []


def test_a_task_of_what_goes_by_its_shape_is_made_a_gait(bench: Bench) -> None:
    board = vehicle("snakeboard")
    gait = with_gait(board, Task(board.state(), Goal(board.state(y=0.3)), 4.0), True)
    for before, name, periodic in (
        (replace(gait, periodic=()), "gait", ("shape", "velocity")),
        (gait, "once", ()),
    ):
        bench.context.show(PlanView(board, before))
        (edit,) = bench.click(f"plan/gait/{name}", draw_plan, fakes.snapshot())
        assert isinstance(edit, EditTask)
        assert edit.task.periodic == periodic
        assert edit.task.goal.velocity == ("free" if periodic else "fixed")
    shown(bench)
    bench.frame(draw_plan, fakes.snapshot())
    assert "plan/gait/gait" not in bench.context.rects  # a boat has no shape


def test_no_field_of_the_task_moves_when_there_is_a_plan_or_a_refusal(bench: Bench) -> None:
    places = []
    for changes in ({"plan": None}, {}, {"plan": record(status="infeasible")}, {"phase": "solving"}):
        shown(bench, **changes)
        for _ in range(3):
            bench.frame(draw_plan, fakes.snapshot())
        places.append(
            [bench.context.rects[name] for name in ("plan/page/task", "plan/time", "plan/steps/32")]
        )
    assert all(place == places[0] for place in places)


def test_a_page_is_as_tall_as_what_it_has_where_there_is_room_for_it(bench: Bench) -> None:
    now, obstacles = fakes.snapshot(), tuple(Sphere((10.0 * k, 0.0, 0.0), 1.0) for k in range(4))
    shown(bench, task=replace(task(), obstacles=obstacles))
    for _ in range(3):
        bench.frame(draw_plan, now)
    _, top, _, height = bench.context.rects["plan/save_task"]
    _, told, *_ = bench.context.rects["plan/status"]
    assert top + height < told < SIZE[1]


def test_weights_time_and_steps_edit_the_task(bench: Bench) -> None:
    now = fakes.snapshot()
    before = shown(bench).task
    bench.click("plan/page/cost", draw_plan, now)
    *_, edit = bench.click("plan/weight/comfort", draw_plan, now, at=0.8)
    assert isinstance(edit, EditTask)
    assert edit.task.weights.comfort > 1.0
    assert edit.task.weights.effort == before.weights.effort
    bench.click("plan/page/task", draw_plan, now)
    *_, edit = bench.click("plan/time", draw_plan, now, at=0.9)
    assert edit.task.duration_s > before.duration_s
    assert edit.task.waypoints[0].time_s / edit.task.duration_s == pytest.approx(3.0 / 8.0)
    *_, edit = bench.click("plan/steps/32", draw_plan, now)
    assert edit.task.steps == 32


def test_the_task_is_saved_as_a_scene_by_its_button(bench: Bench) -> None:
    shown(bench, task=task(obstacles=()))
    assert bench.click("plan/save_task", draw_plan, fakes.snapshot()) == [SaveTask()]


def test_a_new_waypoint_lies_on_the_plan(bench: Bench) -> None:
    view = shown(bench)
    (edit,) = bench.click("plan/waypoint/add", draw_plan, fakes.snapshot())
    assert edit.task.waypoints[-1].position_w == tuple(view.plan.places_w[2])
    assert edit.task.waypoints[-1].time_s == 4.0
    (edit,) = bench.click("plan/waypoint/remove/0", draw_plan, fakes.snapshot())
    assert edit.task.waypoints == ()


def test_the_final_time_is_freed_and_its_bounds_are_typed(bench: Bench) -> None:
    now = fakes.snapshot()
    shown(bench)
    (edit,) = bench.click("plan/free/free", draw_plan, now)
    assert edit.task.free_duration == (4.0, 16.0)
    shown(bench, task=edit.task)
    bench.click("plan/longest", draw_plan, now)
    (edit,) = bench.type("30", draw_plan, now)
    assert edit.task.free_duration == (4.0, 30.0)
    bench.click("plan/shortest", draw_plan, now)
    assert bench.type("99", draw_plan, now) == []  # later than the longest
    (edit,) = bench.click("plan/free/fixed", draw_plan, now)
    assert edit.task.free_duration is None


def test_a_method_is_chosen_among_those_that_plan(bench: Bench) -> None:
    now = fakes.snapshot()
    shown(bench)
    bench.click("plan/method/combo", draw_plan, now)
    assert bench.click("plan/method/item/rk4", draw_plan, now) == [ChooseMethod("rk4")]
    picky = bench.context.catalogue.integrators["picky"]
    bench.context.catalogue.integrators["picky"] = replace(picky, unplannable="it plans nothing")
    bench.click("plan/method/combo", draw_plan, now)
    assert bench.click("plan/method/item/picky", draw_plan, now) == []


def test_the_wind_of_the_next_flight_is_set_and_flown_in(bench: Bench) -> None:
    now = fakes.snapshot()
    shown(bench)
    bench.click("plan/page/flight", draw_plan, now)
    bench.click("plan/wind", draw_plan, now, at=0.5)
    (request,) = bench.click("plan/track", draw_plan, now)
    assert request.tracked
    assert np.hypot(*request.wind_mps) == pytest.approx(10.0, abs=0.5)
    assert in_wind(BOAT, request.wind_mps).values["wind"] == pytest.approx(request.wind_mps)
    assert in_wind(vehicle("car"), request.wind_mps) is None


def test_what_would_help_a_failed_plan_is_a_click_away(bench: Bench) -> None:
    now = fakes.snapshot()
    missed = Violation("the goal's position is missed", 8.0, 5.0, "m", (5.0, 0.0, 0.0))
    shown(bench, plan=record(status="infeasible", violations=(missed,)))
    (edit,) = bench.click("plan/remedy/0", draw_plan, now)
    assert edit.task.duration_s == 14.0
    shown(bench)
    bench.frame(draw_plan, now)
    assert "plan/remedy/0" not in bench.context.rects


def test_what_is_always_needed_is_seen_without_scrolling_in_the_smallest_column(bench: Bench) -> None:
    missed = Violation("the goal's position is missed", 8.0, 5.0, "m", (5.0, 0.0, 0.0))
    history = tuple((9.0 - k, 10.0**-k) for k in range(8))
    shown(
        bench,
        plan=record(status="infeasible", violations=(missed,)),
        history=history,
        message="Missed. " * 20,
    )
    for _ in range(3):
        # What 1280 x 800 leaves below the simulation's window.
        bench.frame(draw_plan, fakes.snapshot(), height=426.0)
    for name in (
        "start",
        "stop",
        "fly",
        "track",
        "overview",
        "cost",
        "remedy/0",
        "free/free",
        "time",
        "steps/64",
    ):
        _, y, _, height = bench.context.rects[f"plan/{name}"]
        assert y + height <= 426.0, name


def test_a_failure_is_told_at_its_place_in_the_view(bench: Bench) -> None:
    missed = Violation("the goal's position is missed", 8.0, 5.0, "m", (5.0, 0.0, 0.0))
    other = Violation("a waypoint is missed", 3.0, 1.0, "m", (4.5, 0.0, 0.0))
    same_place = replace(missed, constraint="the goal's velocity is missed", unit="m/s")
    assert words(missed) == ("the goal's position is missed", "by 5 m at 8.00 s")
    view, projection = camera()

    def labels(**changes) -> list[tuple[float, float, float, float]]:
        shown(bench, plan=record(status="infeasible", violations=(missed, other, same_place)), **changes)
        bench.context.rects.clear()
        imgui.new_frame()
        draw_violations(bench.context.find(PlanView), view, projection, bench.context)
        imgui.render()
        rects = bench.context.rects
        return [rects[name] for name in ("plan/violation/0", "plan/violation/1") if name in rects]

    first, second = labels()
    mark = on_screen(np.array(missed.place_w), projection @ view, bench.context.scene_rect)
    assert abs(first[0] + first[2] / 2 - mark[0]) < 60.0
    assert 0.0 < mark[1] - first[1] - first[3] < 60.0
    assert second[1] + second[3] <= first[1] or first[1] + first[3] <= second[1]  # not on one another
    assert labels(stale=True) == []


def over_the_scene(snapshot, context):
    return draw_violations(context.find(PlanView), *camera(), context)


def test_what_would_help_is_offered_at_the_place_that_it_is_about(bench: Bench) -> None:
    missed = Violation("the goal's position is missed", 8.0, 5.0, "m", (5.0, 0.0, 0.0))
    entered = Violation(
        "obstacle buoy is entered", 4.0, 0.3, "m", (-4.0, 2.0, 0.0), "obstacle 0", missed=False
    )
    shown(bench, plan=record(status="infeasible", violations=(missed, entered)))
    for _ in range(3):
        bench.frame(over_the_scene, fakes.snapshot())
    rects = bench.context.rects
    for number, sign in ((0, 0), (1, 1)):
        x, y, width, height = rects[f"plan/violation/remedy/{number}"]
        left, top, wide, high = rects[f"plan/violation/{sign}"]
        assert left < x < x + width < left + wide
        assert top < y < y + height < top + high
    (edit,) = bench.click("plan/violation/remedy/0", over_the_scene, fakes.snapshot())
    assert edit.task.duration_s == 14.0
    (edit,) = bench.click("plan/violation/remedy/1", over_the_scene, fakes.snapshot())
    assert edit.task.obstacles == ()


def test_a_refusal_is_told_where_it_is_about_with_a_way_out(bench: Bench) -> None:
    inside = task(goal=Goal(BOAT.state(x=5.0, y=2.0)))
    told = Refusal(
        "goal is inside obstacle buoy or its clearance by 1 m", ("goal", "obstacle 0"), "inside an obstacle"
    )
    shown(bench, task=inside, message=told.text, refusal=told)
    (edit,) = bench.click("plan/violation/remedy/0", over_the_scene, fakes.snapshot())
    assert edit.task.obstacles == ()
    mark = on_screen(np.array([5.0, 2.0, 0.0]), camera()[1] @ camera()[0], bench.context.scene_rect)
    x, y, width, height = bench.context.rects["plan/violation/0"]
    assert x <= mark[0] <= x + width
    assert y + height < mark[1]
    shown(
        bench, task=inside, message="steps = 2 is not possible", refusal=Refusal("steps = 2 is not possible")
    )
    bench.frame(over_the_scene, fakes.snapshot())
    assert "plan/violation/0" not in bench.context.rects


def test_a_failure_without_a_reason_has_its_ways_out_at_the_goal(bench: Bench) -> None:
    shown(bench, plan=record(status="stuck"))
    (edit,) = bench.click("plan/violation/remedy/0", over_the_scene, fakes.snapshot())
    assert edit.task.duration_s == 12.0
    shown(bench, plan=record(status="stopped"))
    bench.frame(over_the_scene, fakes.snapshot())
    assert "plan/violation/0" not in bench.context.rects


def test_a_plan_of_another_task_says_so_over_the_scene_unless_it_is_about_to_follow(bench: Bench) -> None:
    for changes, told in (
        ({"stale": True}, True),
        ({"stale": True, "phase": "following"}, False),
        ({"stale": True, "phase": "following", "outrun": True}, True),
        ({"stale": True, "phase": "solving"}, True),
        ({}, False),
    ):
        shown(bench, **changes)
        bench.frame(over_the_scene, fakes.snapshot())
        assert ("plan/dated" in bench.context.rects) == told, changes


def test_what_holds_a_plan_is_listed(bench: Bench) -> None:
    shown(bench, plan=record(active=(ActiveConstraint("u_left at most 150 N", ((3.1, 4.0),)),)))
    bench.frame(draw_plan, fakes.snapshot())
    assert "plan/held" in bench.context.rects
    shown(bench)
    bench.frame(draw_plan, fakes.snapshot())
    assert "plan/held" not in bench.context.rects


def test_failures_close_together_are_told_inside_a_low_view_and_off_one_another(bench: Bench) -> None:
    places = ((5.0, 0.0, 0.0), (4.8, 0.0, 0.0), (5.2, 0.1, 0.0), (4.9, -0.1, 0.0))
    told = tuple(Violation(f"part {k} is missed", 1.0, 5.0, "m", place) for k, place in enumerate(places))
    shown(bench, plan=record(status="infeasible", violations=told))
    bench.context.scene_rect = (0.0, 20.0, 936.0, 300.0)
    imgui.new_frame()
    draw_violations(bench.context.find(PlanView), *camera(), bench.context)
    imgui.render()
    labels = [bench.context.rects[f"plan/violation/{k}"] for k in range(4)]
    assert all(y >= 20.0 and y + height <= 320.0 for _, y, _, height in labels)
    assert not any(overlap(a, b) for k, a in enumerate(labels) for b in labels[:k])


def test_kept_plans_are_compared_chosen_saved_and_deleted(bench: Bench) -> None:
    now = fakes.snapshot()
    shown(bench)
    bench.click("plan/page/plans", draw_plan, now)
    assert bench.click("plan/keep", draw_plan, now) == [KeepPlan()]
    shown(bench, kept=(record("one"), record("two")), saved=frozenset({"two"}))
    assert bench.click("plan/kept/0", draw_plan, now) == [ChoosePlan("one")]
    assert bench.click("plan/kept/1/show", draw_plan, now) == [ShowPlan("two", False)]
    assert bench.click("plan/kept/0/save", draw_plan, now) == [SavePlan("one")]
    assert bench.click("plan/kept/1/save", draw_plan, now) == []
    assert bench.click("plan/kept/1/delete", draw_plan, now) == [DeletePlan("two")]


def test_a_scene_without_a_task_says_so(bench: Bench) -> None:
    bench.context.forget(PlanView)
    assert bench.frame(draw_plan, fakes.snapshot()) == []


def test_an_obstacle_is_put_up_where_the_ground_was_clicked(bench: Bench) -> None:
    for origin_w in ((0.0, 0.0, 0.0), (20.0, -3.0, 0.5)):
        marks = TaskMarks(shown(bench, origin_w=origin_w))
        (edit,), name = marks.put_up(np.array([7.0, -4.0, 1.5]))
        assert isinstance(edit, EditTask)
        assert len(edit.task.obstacles) == len(marks.plan.task.obstacles) + 1
        after = TaskMarks(replace(marks.plan, task=edit.task))
        (handle,) = (each for each in after.handles if each.name == name)
        np.testing.assert_allclose(handle.T_w[:2, 3], (7.0, -4.0), atol=1e-12)


def test_matrices_go_to_the_gizmo_and_back() -> None:
    pose = fakes.pose(0.3, -0.2, 1.1, (4.0, -5.0, 6.0))
    np.testing.assert_allclose(from_matrix16(matrix16(pose)), pose, atol=1e-6)
    assert list(matrix16(pose).values[12:15]) == pytest.approx([4.0, -5.0, 6.0])


def camera() -> tuple[np.ndarray, np.ndarray]:
    """From 30 m above the origin, straight down, y up on the screen."""
    view = np.eye(4)
    view[2, 3] = -30.0
    return view, perspective(0.9, 936.0 / 628.0, 0.1, 1000.0)


def tilted() -> tuple[np.ndarray, np.ndarray]:
    """From 30 m away, 40 degrees above the horizon, along y."""
    eye = 30.0 * np.array([0.0, -np.cos(0.7), np.sin(0.7)])
    return look_at(eye, np.zeros(3)), camera()[1]


@pytest.mark.parametrize("chosen", ["", "waypoint 0"])
def test_a_press_with_ctrl_pulls_what_lies_under_a_handle_that_was_hot_before(
    bench: Bench, chosen: str
) -> None:
    """Pictures may be slow: what is hot dates from before Ctrl went down, which comes together with the press."""
    shown(bench, task=task(obstacles=()))
    bench.context.of(GizmoFields).chosen = chosen  # of the chosen one the gizmo is hot
    view, projection = camera()
    bench.context.show(SceneCamera(view, projection))
    tools = SceneTools(cast(AppWindow, SimpleNamespace(get_size=lambda: SIZE)), bench.context)
    io, now = imgui.get_io(), fakes.snapshot()

    def frame() -> None:
        imgui.new_frame()
        begin_gizmos(bench.context)
        imgui.set_next_window_pos((936.0, 0.0))
        imgui.begin("beside")
        imgui.end()
        tools.draw(None, now, views=1)
        imgui.render()

    place = on_screen(np.array([4.0, -1.0, 0.0]), projection @ view, bench.context.scene_rect)
    assert place is not None
    at = place[0], SIZE[1] - place[1]
    io.add_mouse_pos_event(*place)
    for _ in range(3):
        frame()
    assert not tools.free_at(*at, pulls=False)
    assert io.want_capture_mouse == bool(chosen)
    assert tools.free_at(*at, pulls=True)
    io.add_key_event(imgui.Key.mod_ctrl, True)
    io.add_mouse_button_event(0, True)
    for _ in range(2):
        frame()
    assert bench.context.of(GizmoFields).chosen == chosen
    assert not im_guizmo.is_using()
    assert tools.free_at(*at, pulls=False)  # which is hot no longer
    io.add_mouse_button_event(0, False)
    io.add_mouse_pos_event(950.0, 10.0)
    for _ in range(3):
        frame()
    bench.context.scene_rect = (0.0, 0.0, *SIZE)
    assert not tools.free_at(950.0, SIZE[1] - 10.0, pulls=True)  # a panel over the scene


@pytest.mark.parametrize("eye", [camera, tilted])
def test_a_waypoint_is_chosen_by_a_click_and_stays_under_the_mouse_that_drags_it(bench: Bench, eye) -> None:
    plan_view = shown(bench, task=task(obstacles=()))
    bench.context.show(plan_view)
    gizmo, (view, projection) = Gizmo(), eye()
    io = imgui.get_io()

    def frame(x: float, y: float, *, down: bool) -> list[EditTask]:
        io.add_mouse_pos_event(x, y)
        io.add_mouse_button_event(0, down)
        imgui.new_frame()
        edits = gizmo.draw([TaskMarks(bench.context.find(PlanView))], view, projection, bench.context)
        imgui.render()
        return edits

    place = on_screen(np.array([4.0, -1.0, 0.0]), projection @ view, bench.context.scene_rect)
    assert place is not None
    for down in (False, False, True, False, False, False, False):
        frame(*place, down=down)
    assert bench.context.of(GizmoFields).chosen == "waypoint 0"
    assert gizmo.wants_mouse
    edits: list[EditTask] = []
    for step, down in [(0, True), (0, True), *((i, True) for i in range(10, 90, 10)), (80, False)]:
        edits += frame(place[0] + step, place[1] + 0.5 * step, down=down)
    moved = edits[-1].task.waypoints[0].position_w
    there = on_screen(np.array(moved), projection @ view, bench.context.scene_rect)
    assert there == pytest.approx((place[0] + 80.0, place[1] + 40.0), abs=3.0)


def test_an_obstacle_grows_by_as_much_as_its_handle_is_dragged_since_the_press(bench: Bench) -> None:
    ball = Sphere((4.0, 1.0, 0.0), 1.0)
    plan_view = shown(bench, task=task(obstacles=(ball,)))
    gizmo, (view, projection) = Gizmo(), tilted()
    fields, io = bench.context.of(GizmoFields), imgui.get_io()
    fields.chosen, fields.mode = "obstacle 0", SCALE
    radii, shown_task = [], plan_view.task
    at = on_screen(np.array(ball.centre_w), projection @ view, bench.context.scene_rect)
    assert at is not None
    for step, down in [
        (0, False),
        (0, False),
        (0, True),
        *((i, True) for i in range(0, 70, 10)),
        (60, False),
    ]:
        io.add_mouse_pos_event(at[0] + step, at[1])
        io.add_mouse_button_event(0, down)
        imgui.new_frame()
        marks = TaskMarks(replace(plan_view, task=shown_task))
        for edit in gizmo.draw([marks], view, projection, bench.context):
            shown_task = edit.task
            radii.append(shown_task.obstacles[0].radius_m)
        imgui.render()
    assert len(radii) > 3
    assert radii == sorted(radii)
    assert 1.1 < radii[-1] < 4.0
    steps = np.diff(radii[-4:])
    assert steps.max() < 1.5 * steps.min()


def test_a_gizmos_axes_are_drawn_in_the_themes_red_green_and_blue(bench: Bench) -> None:
    plan_view = shown(bench, task=task(obstacles=()))
    gizmo, (view, projection) = Gizmo(), tilted()
    bench.context.of(GizmoFields).chosen = "waypoint 0"

    def drawn() -> set[int]:
        imgui.get_io().add_mouse_pos_event(5.0, 5.0)
        imgui.new_frame()
        gizmo.draw([TaskMarks(plan_view)], view, projection, bench.context)
        vertices = imgui.get_background_draw_list().vtx_buffer
        colours = {vertices[k].col & 0xFFFFFF for k in range(vertices.size())}
        imgui.render()
        return colours

    drawn()
    themes = {theme.packed(axis) & 0xFFFFFF for axis in (theme.AXIS_X, theme.AXIS_Y, theme.AXIS_Z)}
    assert themes <= drawn()
    assert not {0x0000AA, 0x00AA00, 0xAA0000} & drawn()


def test_another_way_is_taken_by_a_click_on_it_in_the_view_or_on_its_cost(bench: Bench) -> None:
    nodes = record().nodes.copy()
    nodes[1:-1, 2] += 3.0
    other = record("way 2", cost=4.2, nodes=nodes)
    shown(bench, plan=record(alternatives=(other,), tried=6))
    ways = Alternatives()

    def over(snapshot, context):
        return ways.draw(context.find(PlanView), *camera(), context)

    assert bench.click("plan/alternative/0", over, fakes.snapshot()) == [TakeAlternative(0)]
    assert ways.wants_mouse
    assert bench.click("plan/way/0", draw_plan, fakes.snapshot()) == [TakeAlternative(0)]
    shown(bench, plan=record(alternatives=(other,)), stale=True)
    bench.frame(over, fakes.snapshot())
    assert "plan/alternative/0" not in bench.context.rects
    assert not ways.wants_mouse
    assert compared(4.2, 3.5) == "Costs 4.2, 20 % more"
