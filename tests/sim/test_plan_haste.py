"""What no speed limit lets happen in time is refused before it is tried, and more time is offered."""

import dataclasses

import pytest

import sim
from sim.planner import Goal, Limits, Planner, Task, Waypoint
from sim.planner.service.remedies import after_refusal
from sim.planner.task.refusal import refusal_of
from sim.planner.task.waypoints import soonest_s
from tests.sim.planner_tasks import BOAT


def crossing(duration_s: float, **changes) -> Task:
    """30 m in a corner through a waypoint, at 2 m/s at most along each axis of the hull."""
    asked = Task(
        start=BOAT.state(),
        goal=Goal(BOAT.state(x=20.0, y=10.0)),
        duration_s=duration_s,
        waypoints=(Waypoint((20.0, 0.0, 0.0), 1.0),),
        limits=Limits(speed_mps=2.0),
    )
    return dataclasses.replace(asked, **changes)


def test_the_soonest_goes_straight_through_the_waypoints_at_full_speed():
    assert soonest_s(crossing(9.0)) == pytest.approx((19.0 + 9.0) / (2.0 * 2.0**0.5))
    assert soonest_s(crossing(9.0, waypoints=())) == pytest.approx(500.0**0.5 / (2.0 * 2.0**0.5))
    near = Goal(BOAT.state(x=20.0, y=10.0), position="free")
    assert soonest_s(crossing(9.0, goal=near)) == 0.0


def test_a_goal_that_is_too_far_is_refused_and_the_time_that_is_offered_is_not():
    with pytest.raises(
        sim.InputError, match=r"goal is too far for 8 s: at 2 m/s it takes 9.9 s or longer"
    ) as told:
        Planner().plan(BOAT, crossing(8.0))
    (remedy,) = after_refusal(refusal_of(told.value), crossing(8.0))
    assert remedy.task.duration_s > soonest_s(crossing(8.0))
    assert remedy.text == "Give it 15 s"
    with pytest.raises(sim.InputError, match="too far for 8 s"):
        Planner().plan(BOAT, crossing(6.0, free_duration=(1.0, 8.0)))


def test_a_higher_limit_is_enough():
    limits = Limits(speed_mps=9.0)
    assert Planner().plan(BOAT, crossing(9.0, limits=limits, steps=16), explain=False, starts=1).defect < 1.0
