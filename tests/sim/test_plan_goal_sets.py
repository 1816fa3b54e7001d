"""Any of several goals: the plan is the best of those to each of them alone."""

from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.planner import Cylinder, Goal, Planner, Task
from sim.platform.errors import InputError

BOAT = sim.vehicle("boat", wind=(0.0, -4.0))


def berths(seed: int) -> list[Goal]:
    rng = np.random.default_rng(seed)
    places = rng.uniform((10.0, -12.0, -3.0), (24.0, 12.0, 3.0), (3, 3))
    return [Goal(BOAT.state(x=x, y=y, theta=theta)) for x, y, theta in places]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_goes_to_the_berth_that_costs_least(seed: int) -> None:
    first, *others = berths(seed)
    task = Task(BOAT.state(), first, 18.0, steps=32, or_goals=tuple(others))
    planner = Planner()
    plan = planner.plan(BOAT, task, starts=2)
    alone = [planner.plan(BOAT, replace(task, goal=g, or_goals=()), starts=2) for g in (first, *others)]
    best = min(alone, key=lambda one: one.cost)
    assert plan.solved
    assert plan.cost == pytest.approx(best.cost, rel=1e-9)
    assert plan.task.goal is best.task.goal
    assert np.allclose(plan.motion.nodes[-1, 1:3], best.task.goal.state.pose[:2, 2], atol=1e-6)
    assert len(plan.task.or_goals) == 2
    dragged = planner.plan(BOAT, replace(plan.task, duration_s=17.9), warm=plan)
    assert dragged.solved


def test_a_berth_that_is_taken_is_left_out_and_all_of_them_are_refused() -> None:
    first, second, _ = berths(3)
    x, y = first.state.pose[:2, 2]
    there = Cylinder((x, y, 0.0), 1.0, "lighter")
    task = Task(BOAT.state(), first, 18.0, steps=32, obstacles=(there,), or_goals=(second,))
    plan = sim.plan(BOAT, task, starts=1)
    assert plan.solved
    assert plan.task.goal is second
    with pytest.raises(InputError, match="lighter"):
        sim.plan(BOAT, replace(task, or_goals=(first,)))
