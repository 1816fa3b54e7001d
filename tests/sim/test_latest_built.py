"""A planner keeps what was asked for last, and no more."""

import gc
import weakref

import numpy as np
import pytest

import sim
from sim.integrators import integrator
from sim.planner import Goal, Planner, Task
from sim.planner.service import planner as planning
from sim.planner.service.planner import LatestBuilt


def test_what_was_not_asked_for_longest_goes() -> None:
    kept: LatestBuilt[str] = LatestBuilt(2)
    size = np.array([1.0, 2.0])
    kept.keep("a", size, "first")
    kept.keep("b", size, "second")
    assert kept.find("a", size) == "first"
    kept.keep("c", size, "third")
    assert [kept.find(key, size) for key in "abc"] == ["first", None, "third"]


def test_sizes_within_a_factor_of_three_share_what_was_built() -> None:
    kept: LatestBuilt[str] = LatestBuilt(3)
    kept.keep("a", np.log([10.0, 4.0]), "small")
    kept.keep("a", np.log([100.0, 4.0]), "large")
    assert kept.find("a", np.log([25.0, 2.0])) == "small"
    assert kept.find("a", np.log([40.0, 4.0])) == "large"
    assert kept.find("a", np.log([40.0, 40.0])) is None


def test_a_planner_gives_back_the_problems_of_tasks_that_are_long_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planning, "_KEPT", 2)
    boat, method, planner = sim.vehicle("boat"), integrator("variational"), Planner()
    goal = Goal(boat.state(x=8.0, y=3.0))
    built = [
        weakref.ref(planner.solvers(boat, method, Task(boat.state(), goal, 8.0, steps)).t)
        for steps in (4, 5, 6)
    ]
    gc.collect()
    assert [problem() is None for problem in built] == [True, False, False]
