"""What is found while a failure is looked into is not thrown away."""

from dataclasses import replace

import numpy as np
import pytest

from sim.planner import Planner
from sim.planner.result.record import record_of
from sim.planner.service import planner, search
from sim.planner.service.remedies import remedies
from sim.planner.solvers.backends import Result
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

    for module in (planner, search):
        monkeypatch.setattr(module, "attempted", failing)
    task = replace(CROSSING, steps=16)
    plan = Planner().plan(BOAT, task, starts=1)
    assert failed
    assert plan.solved, plan.message
    assert broken(plan) == []
    failed.clear()
    assert not Planner().plan(BOAT, task, starts=1, explain=False).solved


def test_where_nothing_settles_the_last_attempt_tells_where_it_does_not_hold_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every solver ends with nodes that stand where they were guessed, but for one that is 3 m aside."""

    def torn(solvers, order, p, start, run, mode="cold", bounds=None):
        w = (start.w if isinstance(start, Result) else start).copy()
        running, last = solvers.t.split(w)
        running[5, solvers.t.model.place_indices[1]] += 3.0
        w = solvers.t.join(running, last)
        nothing = np.zeros(w.size), np.zeros(solvers.t.row_low.size)
        return Result(w, *nothing, 1.0, 1.0, 1.0, 1.0, 7, 0.0, False, "lost", "fatrop", rough=False)

    for module in (planner, search):
        monkeypatch.setattr(module, "attempted", torn)
    task = replace(CROSSING, steps=16)
    plan = Planner().plan(BOAT, task)
    assert plan.status == "stuck"
    (tear, *_) = plan.violations
    assert tear.constraint == "a motion that holds together is missed"
    assert tear.time_s in (5 * task.step_s(), 6 * task.step_s())
    assert tear.amount == pytest.approx(3.0, rel=0.5)
    assert "where the search ended, a motion that holds together is missed" in plan.message
    assert remedies(record_of(plan, "torn"), task)
