"""Laws of the time that a plan is looked for: it is the processor's, so a busy machine finds what a quiet one does."""

import threading
import time
from dataclasses import replace

import numpy as np

import sim
from sim.planner import Goal, Planner, Task
from sim.planner.guess import driven
from sim.planner.solvers.attempt import Iterate
from sim.planner.solvers.time_limit import TimeLimit
from sim.steppers.dynamics import stepper_of
from tests.sim.plan_samples import BOAT, task

PLANNER = Planner()


def burn(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_a_machine_that_gives_few_turns_finds_the_same_plan() -> None:
    """Every iteration waits: three times the limit by the clock, of which the processor works a tenth."""
    quiet = PLANNER.plan(BOAT, task(), starts=1)
    pause_s = 3.0 / quiet.iterations

    def waits(_: Iterate) -> bool:
        time.sleep(pause_s)
        return True

    starved = PLANNER.plan(BOAT, task(), starts=1, time_limit_s=1.0, show=waits)
    assert starved.solved, starved.message
    assert (starved.iterations, starved.cost) == (quiet.iterations, quiet.cost)


def test_the_processor_s_time_of_solvers_is_limited() -> None:
    def works(_: Iterate) -> bool:
        burn(0.05)
        return True

    plan = PLANNER.plan(BOAT, task(), starts=1, time_limit_s=0.1, show=works, explain=False)
    assert plan.status == "time limit"
    assert "s of the processor" in plan.message


def test_goals_share_the_limit_of_their_task() -> None:
    seen = []

    def works(_: Iterate) -> bool:
        seen.append(0)
        burn(0.02)
        return True

    goals = tuple(Goal(BOAT.state(x=float(x), y=9.0)) for x in (18, 19, 20))
    asked = replace(task(), or_goals=goals)
    PLANNER.plan(BOAT, asked, starts=1, time_limit_s=0.2, show=works, explain=False)
    # Ten fit into the limit. Each of the goals sees one more, at which its share is over.
    assert len(seen) <= 10 + 2 * (1 + len(goals))


def test_a_failure_is_looked_into_within_the_limit_and_a_second() -> None:
    """Every iteration works for a tenth of a second, also of the problem in which all but the physics is negotiable."""
    asked, seen = replace(task(), duration_s=0.5, waypoints=()), []

    def works() -> bool:
        seen.append(0)
        burn(0.1)
        return False

    plan = PLANNER.plan(BOAT, asked, starts=1, time_limit_s=2.0, given_up=works)
    assert not plan.solved
    # Thirty fit into the limit and a second. Each of six solvers may see one more, at which its time is over.
    assert 20 <= len(seen) <= 30 + 6


def test_only_who_plans_spends() -> None:
    limit, other = TimeLimit(1.0), threading.Thread(target=burn, args=(0.3,))
    other.start()
    other.join()
    assert limit.spent_s < 0.15
    burn(0.3)
    assert 0.3 <= limit.spent_s < 0.6
    part = limit.part(0.5)
    part.spend(0.2)
    assert limit.spent_s >= 0.5


def test_by_the_clock_it_ends_in_the_end() -> None:
    limit = TimeLimit(0.01)
    time.sleep(0.15)
    assert limit.left_s < 0.0


def test_a_solver_that_is_silent_is_left_behind_when_time_is_over() -> None:
    """In steps of seven hours a helicopter's equations have numbers with which a solver finds no first step."""
    craft, limit = sim.vehicle("helicopter"), TimeLimit(0.4)
    start = craft.default_state()
    node = start.node.copy()
    node[craft.node_layout.velocity] = (-0.5, 0.3, 0.4, 2.0, -1.0, 3.0)
    long = Task(start, Goal(craft.state_at_node(node)), 1e5, steps=4)
    plan = PLANNER.plan(craft, long, starts=1, time_limit_s=limit)
    assert plan.status == "time limit", plan.message
    assert "more steps or less time" in plan.message
    assert limit.spent_s < 2.0  # measured 0.6; 5 where it is waited for as for others


def test_a_gait_for_a_day_is_guessed_in_as_many_steps_as_one_for_minutes(monkeypatch) -> None:
    """Its swings are as much slower, and nobody waits for ten million steps of a first guess."""
    made = 0

    class Counted:
        def __init__(self, stepper) -> None:
            self._stepper = stepper

        def __getattr__(self, name: str):
            return getattr(self._stepper, name)

        def advance(self, *given):
            nonlocal made
            made += 1
            assert made <= 5000
            return self._stepper.advance(*given)

    monkeypatch.setattr(driven, "stepper_of", lambda *asked: Counted(stepper_of(*asked)))
    board = sim.vehicle("snakeboard")
    goal = Goal(board.state(x=0.3, y=0.1), velocity="free")
    plan = PLANNER.plan(
        board, Task(board.state(), goal, 86400.0, steps=16), starts=1, time_limit_s=0.3, explain=False
    )
    assert made > 1000
    assert np.isfinite(plan.motion.nodes).all()
