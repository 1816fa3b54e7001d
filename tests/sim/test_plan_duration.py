"""Laws of a free final time: it stays between its bounds, and moving those builds nothing."""

from dataclasses import replace

import pytest

from sim.planner import Goal, Planner, Weights
from tests.sim.plan_samples import BOAT, task

HURRIED = task(steps=24, waypoints=(), obstacles=(), weights=Weights(comfort=0.0))


def test_without_a_price_on_time_the_longest_time_is_taken_and_with_a_high_one_the_shortest() -> None:
    planner = Planner()
    for bounds in ((6.0, 10.0), (7.0, 12.0)):
        free = replace(HURRIED, free_duration=bounds)
        longest = planner.plan(BOAT, free, starts=1)
        assert longest.solved, longest.message
        assert longest.duration_s == pytest.approx(bounds[1], rel=1e-6)
        shortest = planner.plan(BOAT, replace(free, weights=Weights(time=50.0, comfort=0.0)), starts=1)
        assert shortest.solved, shortest.message
        assert shortest.duration_s == pytest.approx(bounds[0], rel=1e-6)


def test_between_the_bounds_no_other_final_time_is_cheaper() -> None:
    planner, weights = Planner(), Weights(time=0.05, comfort=0.0)
    straight = replace(HURRIED, weights=weights, goal=Goal(BOAT.state(x=10.0)))
    free = planner.plan(BOAT, replace(straight, free_duration=(4.0, 40.0)), starts=1)
    assert free.solved, free.message
    assert 4.1 < free.duration_s < 39.0
    for share in (0.95, 1.05):
        fixed = planner.plan(BOAT, replace(straight, duration_s=share * free.duration_s), starts=1)
        assert fixed.cost > free.cost


def test_a_plan_whose_final_time_is_found_follows_a_hand_in_a_few_steps_of_newton() -> None:
    """At a time between its bounds, and at one that a bound holds."""
    planner = Planner()
    for price, bounds in ((0.05, (4.0, 40.0)), (50.0, (6.0, 10.0))):
        free = replace(HURRIED, weights=Weights(time=price, comfort=0.0), free_duration=bounds)
        plan = planner.plan(BOAT, replace(free, goal=Goal(BOAT.state(x=10.0))), starts=1)
        for x, y in ((10.05, 0.03), (10.1, 0.05), (10.2, -0.05)):
            moved = replace(free, goal=Goal(BOAT.state(x=x, y=y)))
            plan = planner.plan(BOAT, moved, warm=plan, explain=False)
            assert plan.solved, plan.message
            assert plan.backend == "newton"
            assert plan.iterations <= 6  # 2 or 3
        fresh = planner.plan(BOAT, moved, starts=1)
        assert plan.duration_s == pytest.approx(fresh.duration_s, rel=1e-5)  # 1e-6
        assert plan.cost == pytest.approx(fresh.cost, rel=1e-7)  # 2e-9
