"""What is found while a failure is looked into is not thrown away."""

from dataclasses import replace

import pytest

from sim.planner import Planner, planner
from tests.sim.plan_audit import broken
from tests.sim.planner_tasks import BOAT, CROSSING


def test_a_motion_for_which_nothing_has_to_give_is_made_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt of every solver comes to nothing, whatever the task."""
    attempted, failed = planner.attempted, []

    def failing(solvers, *rest):
        result = attempted(solvers, *rest)
        if failed:
            return result
        failed.append(True)
        return replace(result, w=0.0 * result.w, converged=False, violation=1.0)

    monkeypatch.setattr(planner, "attempted", failing)
    task = replace(CROSSING, steps=16)
    plan = Planner().plan(BOAT, task)
    assert failed
    assert plan.solved, plan.message
    assert broken(plan) == []
    failed.clear()
    assert not Planner().plan(BOAT, task, explain=False).solved
