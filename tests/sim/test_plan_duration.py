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
