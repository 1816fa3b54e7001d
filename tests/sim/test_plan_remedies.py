"""Laws of what is offered where a plan failed: each change goes at what stood in the way."""

from dataclasses import replace

import numpy as np
import pytest

from sim.planner import Cylinder, Goal, Limits, Planner, Task
from sim.planner.result.plan import Violation
from sim.planner.result.record import PlanRecord, record_of
from sim.planner.service.remedies import remedies
from tests.sim.plan_samples import BOAT, record, task

MISSED = Violation("the goal's position is missed", 8.0, 5.0, "m", (5.0, 0.0, 0.0))
ENTERED = Violation("obstacle buoy is entered", 4.0, 0.3, "m", (5.0, 1.0, 0.0), "obstacle 0", missed=False)


def offered(failed: PlanRecord, asked: Task) -> dict[str, Task]:
    return {remedy.text: remedy.task for remedy in remedies(failed, asked)}


def test_nothing_is_offered_where_nothing_failed() -> None:
    assert remedies(record(), task()) == ()
    assert remedies(record(status="stopped"), task()) == ()


def test_who_is_late_gets_more_time_and_waypoints_keep_their_share() -> None:
    better = offered(record(status="infeasible", violations=(MISSED,)), task())["Give it 14 s"]
    assert better.duration_s == 14.0  # 8 s and 10 m gone, 5 m missing: 1.1 x 1.5 x 8 s, rounded up
    assert better.waypoints[0].time_s == pytest.approx(3.0 * 14.0 / 8.0)


def test_a_free_final_time_gets_a_later_bound() -> None:
    late = record(status="infeasible", violations=(MISSED,))
    texts = offered(late, task(free_duration=(4.0, 10.0)))
    assert texts["Allow 15 s"].free_duration == (4.0, 15.0)


def test_limits_are_raised_only_where_they_are_reached_and_are_the_tasks_own() -> None:
    nodes = record().nodes.copy()
    nodes[2, BOAT.node_layout.velocity] = 0.0, 3.0, 0.0
    controls = np.array([[100.0, 150.0]] * 5)
    failed = record(status="infeasible", violations=(MISSED,), nodes=nodes, controls=controls)
    narrow = Limits(speed_mps=3.0, controls={"u_left": (-50.0, 100.0)})
    texts = offered(failed, task(limits=narrow))
    assert texts["Allow 4.5 m/s"].limits.speed_mps == 4.5
    assert texts["u_left x 1.5"].limits.controls["u_left"] == (-75.0, 150.0)
    assert not any("u_right" in text for text in texts)  # at the thruster's own end
    assert not any("m/s" in text for text in offered(failed, task(limits=Limits(speed_mps=9.0))))


def test_an_input_that_the_task_holds_is_told_and_may_be_left_free() -> None:
    """One thruster aside of the middle turns her in circles, and the wind takes these from the berth."""
    limits = Limits(speed_mps=9.0, controls={"u_left": (0.0, 0.0), "u_right": (-50.0, 100.0)})
    windy = BOAT.with_parameters(wind=(0.0, -6.0))
    asked = Task(
        windy.state(),
        Goal(windy.state(x=22.0, y=8.0, theta=1.57)),
        10.0,
        steps=32,
        limits=limits,
        name="berth",
    )
    plan = Planner().plan(windy, asked, starts=1)
    assert plan.status == "infeasible"
    assert "u_left left free, which is held at 0 N" in plan.message
    assert "u_right left free" not in plan.message
    freed = offered(record_of(plan, "one thruster"), asked)["Leave u_left free"]
    assert freed.limits.controls == {"u_right": (-50.0, 100.0)}


def test_an_obstacle_in_the_way_may_go_or_be_passed_closer() -> None:
    asked = task(clearance_m=0.4)
    texts = offered(record(status="infeasible", violations=(ENTERED,)), asked)
    assert texts["Without buoy"].obstacles == ()
    assert texts["Keep 0.01 m clear"].clearance_m == 0.01  # 0.4 less 1.3 x 0.3 m
    assert not any(
        "clear" in text for text in offered(record(status="infeasible", violations=(ENTERED,)), task())
    )
    tight = task(clearance_m=0.2)
    assert not any(
        "clear" in text for text in offered(record(status="infeasible", violations=(ENTERED,)), tight)
    )


def test_who_waits_at_a_gate_that_is_too_narrow_gets_a_wider_one_and_not_only_more_time() -> None:
    gate = tuple(Cylinder((8.0, y, 0.0), 8.0, side) for y, side in ((-9.0, "right"), (9.0, "left")))
    asked = Task(
        start=BOAT.state(),
        goal=Goal(BOAT.state(x=16.0)),
        duration_s=16.0,
        steps=40,
        obstacles=gate,
        clearance_m=0.5,  # of the 0.3 m that there are on either side
        body=((0.8, 0.0, 0.0, 0.7), (-0.8, 0.0, 0.0, 0.7)),
    )
    planner = Planner()
    plan = planner.plan(BOAT, asked)
    assert plan.status == "infeasible", plan.message
    ways_out = offered(record_of(plan, "waits"), asked)
    first = next(iter(ways_out))
    assert ways_out[first].clearance_m < 0.3, first
    assert {"Without right", "Without left"} & set(ways_out)
    again = planner.plan(BOAT, ways_out[first])
    assert again.solved, again.message


def test_an_obstacle_is_in_the_way_whatever_it_is_called() -> None:
    asked = task(obstacles=(replace(task().obstacles[0], name="the goal"),))
    violation = replace(ENTERED, constraint="obstacle the goal is entered")
    assert list(offered(record(status="infeasible", violations=(violation,)), asked)) == ["Without the goal"]


def test_who_is_stuck_without_a_reason_gets_a_finer_grid() -> None:
    assert offered(record(status="stuck"), task())["8 steps"].steps == 8


def test_the_time_that_is_offered_is_enough() -> None:
    hurried = task(duration_s=3.0, steps=24, waypoints=(), obstacles=())
    planner = Planner()
    plan = planner.plan(BOAT, hurried)
    assert plan.status == "infeasible"
    for _ in range(2):  # at most twice
        first = remedies(record_of(plan, "late"), replace(plan.task, ground=None))[0]
        assert first.text.startswith("Give it")
        plan = planner.plan(BOAT, first.task)
        if plan.solved:
            break
    assert plan.solved
