"""Laws of a planning session: it never waits, follows the newest task, survives its process, keeps files whole."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.planner import Iterate, Weights
from sim.planner.result.record import PlanRecord
from sim.planner.result.store import stored
from sim.planner.service.jobs import Answer, Built, PlanJob, Planned, Progressed, Refused
from sim.planner.service.requests import (
    ChooseMethod,
    ChoosePlan,
    DeletePlan,
    EditTask,
    FlyShown,
    KeepPlan,
    SavePlan,
    ShowPlan,
    StartPlanning,
    StopPlanning,
    TakeAlternative,
)
from sim.planner.service.session import FADE_S, PlanSession
from sim.planner.task.handles import freed
from sim.planner.task.refusal import Refusal
from sim.platform.errors import InputError
from tests.sim.plan_samples import BOAT, record, task


class FakeWorker:
    """Answers what it is told to, when it is told to."""

    def __init__(self) -> None:
        self.alive = True
        self.jobs: list[PlanJob] = []
        self.cancels = 0
        self.waiting: list[Answer] = []
        self.broken = False

    def submit(self, job: PlanJob) -> None:
        self.jobs.append(job)

    def cancel(self) -> None:
        self.cancels += 1

    def answers(self) -> list[Answer]:
        if self.broken:
            raise EOFError
        waiting, self.waiting = self.waiting, []
        return waiting

    def close(self) -> None:
        self.alive = False


@pytest.fixture
def workers() -> list[FakeWorker]:
    return []


@pytest.fixture
def session(tmp_path: Path, workers: list[FakeWorker]) -> PlanSession:
    return PlanSession(BOAT, task(), "variational", tmp_path, make_worker=_maker(workers))


def _maker(workers: list[FakeWorker]) -> Callable[[], FakeWorker]:
    def make() -> FakeWorker:
        workers.append(FakeWorker())
        return workers[-1]

    return make


def planned(session: PlanSession, workers: list[FakeWorker], name: str = "first", **changes) -> None:
    session.handle(StartPlanning(), 0.0)
    workers[-1].waiting = [Planned(workers[-1].jobs[-1].number, record(name, **changes))]
    session.poll(0.1)


def iterate(cost: float) -> Iterate:
    return Iterate(0, cost, 1.0, np.zeros((5, 3)))


def test_a_prepared_session_has_the_problem_built_before_the_first_plan(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    session.prepare()
    assert [(job.only_build, job.warm) for job in workers[0].jobs] == [(True, False)]
    workers[0].waiting = [Built(workers[0].jobs[0].number)]
    session.poll(0.1)
    assert not session.view.busy
    planned(session, workers)
    assert session.view.plan is not None
    assert len(workers) == 1


def test_no_process_is_started_before_the_first_plan(session: PlanSession, workers: list[FakeWorker]) -> None:
    session.poll(0.0)
    assert workers == []
    session.handle(StartPlanning(), 0.0)
    assert len(workers) == 1
    assert session.view.phase == "building"


def test_iterates_are_shown_and_fade(session: PlanSession, workers: list[FakeWorker]) -> None:
    session.handle(StartPlanning(), 0.0)
    number = workers[0].jobs[0].number
    workers[0].waiting = [Progressed(number, iterate(3.0)), Progressed(number, iterate(2.0))]
    session.poll(1.0)
    assert session.view.phase == "solving"
    assert session.view.history == ((3.0, 1.0), (2.0, 1.0))
    assert len(session.view.iterates) == 2
    session.poll(1.0 + FADE_S)
    assert session.view.iterates == ()


def test_while_dragging_only_the_newest_task_is_planned(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    planned(session, workers)
    for x in (1.0, 2.0, 3.0):
        session.handle(EditTask(replace(session.view.task, duration_s=8.0 + x)), 1.0)
        session.poll(1.0)
    first, *others = workers[0].jobs[1:]
    assert first.warm
    assert others == []
    assert session.view.stale
    workers[0].waiting = [Planned(first.number, record("second"))]
    session.poll(1.1)
    assert session.view.stale
    last = workers[0].jobs[-1]
    assert last.task.duration_s == 11.0
    workers[0].waiting = [Planned(last.number, record("third"))]
    session.poll(1.2)
    assert not session.view.stale
    assert session.view.plan is not None
    assert session.view.plan.name == "third"
    assert session.view.phase == "idle"


def test_curves_end_at_the_plan_that_is_shown_also_while_it_follows_a_hand(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    planned(session, workers)
    before = session.view.history
    session.handle(EditTask(replace(session.view.task, duration_s=9.0)), 1.0)
    session.poll(1.0)
    moved = replace(record(), cost=1.25)
    workers[0].waiting = [Planned(workers[0].jobs[-1].number, moved)]
    session.poll(2.0)
    assert session.view.plan is moved
    assert session.view.history == (*before, (1.25, moved.defect))


def test_a_drag_that_leads_nowhere_keeps_the_plan_marked_as_old(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    planned(session, workers)
    session.handle(EditTask(replace(session.view.task, duration_s=9.0)), 1.0)
    session.poll(1.0)
    answer = record("bad", status="stuck", message="Stuck at the buoy.")
    workers[0].waiting = [Planned(workers[0].jobs[-1].number, answer)]
    session.poll(1.1)
    assert session.view.plan is not None
    assert session.view.plan.name == "first"
    assert session.view.stale
    assert session.view.message == "Stuck at the buoy."


def test_where_following_failed_it_plans_anew_unless_the_hand_moves_on(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    planned(session, workers)
    session.handle(EditTask(replace(session.view.task, duration_s=9.0)), 1.0)
    session.poll(1.0)
    workers[0].waiting = [Planned(workers[0].jobs[-1].number, record("bad", status="stuck"))]
    session.poll(1.1)
    assert not workers[0].jobs[-1].warm
    assert session.view.busy
    session.handle(EditTask(replace(session.view.task, duration_s=10.0)), 1.2)
    session.poll(1.2)
    assert workers[0].jobs[-1].warm
    assert workers[0].jobs[-1].task.duration_s == 10.0


def test_answers_to_older_jobs_are_not_heard(session: PlanSession, workers: list[FakeWorker]) -> None:
    planned(session, workers)
    session.handle(StartPlanning(), 1.0)
    workers[0].waiting = [Planned(workers[0].jobs[0].number, record("late"))]
    session.poll(1.1)
    assert session.view.busy
    assert session.view.plan is not None
    assert session.view.plan.name == "first"


def test_refusals_are_told_in_words(session: PlanSession, workers: list[FakeWorker]) -> None:
    session.handle(StartPlanning(), 0.0)
    workers[0].waiting = [Refused(workers[0].jobs[0].number, Refusal("the goal lies inside buoy"))]
    session.poll(0.1)
    assert session.view.phase == "idle"
    assert session.view.message == "the goal lies inside buoy"


def test_a_solver_that_does_not_hear_a_stop_is_ended_and_replaced(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    session.handle(StartPlanning(), 0.0)
    workers[0].waiting = [Progressed(workers[0].jobs[0].number, iterate(3.0))]
    session.poll(0.5)
    session.handle(StopPlanning(), 1.0)
    assert workers[0].cancels == 1
    session.poll(1.5)
    assert session.view.phase == "stopping"
    session.poll(5.0)
    assert session.view.phase == "idle"
    assert not workers[0].alive
    session.handle(StartPlanning(), 6.0)
    assert len(workers) == 2


def test_a_problem_that_is_being_built_when_it_is_stopped_is_built_to_its_end(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    session.handle(StartPlanning(), 0.0)
    session.handle(StopPlanning(), 1.0)
    session.poll(9.0)
    assert workers[0].alive
    workers[0].waiting = [Planned(workers[0].jobs[-1].number, record("none", status="stopped"))]
    session.poll(9.1)
    assert session.view.phase == "idle"
    session.handle(StartPlanning(), 10.0)
    assert len(workers) == 1


def test_a_stop_leaves_the_plan_that_is_there_and_plans_nothing_by_itself(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    planned(session, workers)
    for request in (StartPlanning(), EditTask(replace(session.view.task, duration_s=9.0))):
        session.handle(request, 1.0)
        session.poll(1.0)
        session.handle(StopPlanning(), 1.1)
        jobs = len(workers[0].jobs)
        workers[0].waiting = [Planned(workers[0].jobs[-1].number, record("bad", status="stopped"))]
        session.poll(1.2)
        session.poll(1.3)
        assert session.view.phase == "idle"
        assert session.view.plan is not None
        assert session.view.plan.name == "first"
        assert session.view.stale == isinstance(request, EditTask)
        assert len(workers[0].jobs) == jobs
    assert len(workers) == 1


def test_a_crashed_process_is_told_and_the_next_plan_has_another(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    session.handle(StartPlanning(), 0.0)
    workers[0].broken = True
    session.poll(0.1)
    assert "ended unexpectedly" in session.view.message
    planned(session, workers)
    assert len(workers) == 2
    assert session.view.plan is not None


def test_only_a_plan_that_leads_there_is_flown_as_it_was_planned_in_the_wind_that_is_asked_for(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    with pytest.raises(InputError, match="no solved plan"):
        session.handle(FlyShown(), 0.0)
    planned(session, workers, status="stuck")
    with pytest.raises(InputError, match="no solved plan"):
        session.handle(FlyShown(), 0.2)
    planned(session, workers)
    shown = session.view.plan
    assert shown is not None
    flight = session.handle(FlyShown(tracked=True, wind_mps=(1.0, -2.0)), 0.3)
    assert flight is not None
    assert (flight.vehicle, flight.integrator, flight.step_s) == (shown.vehicle, shown.method, shown.step_s)
    assert flight.nodes is shown.nodes
    assert flight.controls is shown.controls
    assert flight.tracked
    assert flight.flown is not None
    own = np.array(shown.vehicle.values["wind"])
    np.testing.assert_allclose(flight.flown.values["wind"], own + np.array([1.0, -2.0]))


def test_kept_plans_are_chosen_saved_found_again_and_deleted(
    session: PlanSession, workers: list[FakeWorker], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        planned(session, workers, name)
        session.handle(KeepPlan(), 1.0)
    session.handle(ChoosePlan("one"), 1.0)
    assert session.view.plan is session.view.kept[0]
    session.handle(SavePlan("one"), 1.0)
    again = PlanSession(BOAT, task(), "variational", tmp_path, make_worker=FakeWorker)
    assert [kept.name for kept in again.view.kept] == ["one"]
    again.handle(DeletePlan("one"), 1.0)
    assert again.view.kept == ()
    assert stored(tmp_path) == ()
    with pytest.raises(InputError, match="one"):
        again.handle(ChoosePlan("one"), 1.0)


def test_a_chosen_plan_comes_with_its_task_and_is_planned_on_from_there(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    first = task(duration_s=11.0, waypoints=(), weights=Weights(comfort=0.7))
    planned(session, workers, "one", task=first, integrator="rk4")
    session.handle(KeepPlan(), 1.0)
    planned(session, workers, "two", task=task())
    session.handle(EditTask(task(duration_s=5.0)), 1.0)
    session.handle(ChoosePlan("one"), 1.0)
    view = session.view
    assert (view.task, view.method, view.stale, view.phase) == (first, "rk4", False, "idle")
    session.poll(1.1)
    assert workers[0].jobs[-1].task is not view.task  # nothing had to be planned
    session.handle(EditTask(replace(view.task, duration_s=12.0)), 2.0)
    session.poll(2.0)
    last = workers[0].jobs[-1]
    assert (last.method, last.task.duration_s, last.task.weights) == ("rk4", 12.0, first.weights)


def test_what_is_planned_after_a_choice_goes_on_from_the_chosen_plan(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    for name in ("one", "two"):
        planned(session, workers, name, task=task())
        session.handle(KeepPlan(), 1.0)
    session.handle(ChoosePlan("one"), 1.0)
    chosen, starts = session.view.plan, []
    for answer in (record("lost", status="stuck"), record("found"), record("next")):
        session.handle(EditTask(replace(session.view.task, duration_s=9.0)), 2.0)
        session.poll(2.0)
        starts.append(workers[0].jobs[-1].start)
        workers[0].waiting = [Planned(workers[0].jobs[-1].number, answer)]
        session.handle(EditTask(replace(session.view.task, duration_s=9.5)), 2.0)
        session.poll(2.1)
    assert starts == [chosen, chosen, None]  # until another plan is shown
    workers[0].broken = True
    session.poll(3.0)
    session.handle(EditTask(replace(session.view.task, duration_s=10.0)), 3.0)
    session.poll(3.0)
    assert workers[1].jobs[-1].start is session.view.plan  # a new process knows of none


def test_an_answer_to_what_was_asked_before_the_choice_is_not_heard(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    planned(session, workers, "one", task=task())
    session.handle(KeepPlan(), 1.0)
    session.handle(StartPlanning(), 1.0)
    late = workers[0].jobs[-1].number
    session.handle(ChoosePlan("one"), 1.0)
    assert workers[0].cancels == 1
    workers[0].waiting = [Planned(late, record("late"))]
    session.poll(1.2)
    assert session.view.plan is session.view.kept[0]


def test_another_method_makes_the_plan_anew(session: PlanSession, workers: list[FakeWorker]) -> None:
    planned(session, workers)
    session.handle(ChooseMethod("rk4"), 1.0)
    assert session.view.stale
    session.poll(1.0)
    assert workers[0].jobs[-1].method == "rk4"
    assert session.view.phase == "building"
    workers[0].waiting = [Planned(workers[0].jobs[-1].number, record("second", integrator="rk4"))]
    session.poll(1.1)
    assert not session.view.stale


def test_a_problem_of_another_shape_is_built_and_says_so(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    planned(session, workers)
    for edit, phase in [
        (freed(task(), (4.0, 16.0)), "building"),
        (freed(task(), (3.0, 16.0)), "following"),
        (task(duration_s=9.0), "following"),
    ]:
        session.handle(EditTask(edit), 1.0)
        session.poll(1.0)
        assert session.view.phase == phase
        workers[0].waiting = [Planned(workers[0].jobs[-1].number, record("next"))]
        session.poll(1.1)


def test_a_plan_looks_out_of_date_once_it_cannot_keep_up(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    def edited(now_s: float) -> int:
        session.handle(
            EditTask(replace(session.view.task, duration_s=session.view.task.duration_s + 0.1)), now_s
        )
        session.poll(now_s)
        return workers[0].jobs[-1].number

    planned(session, workers)
    number = edited(1.0)
    assert session.view.stale
    assert not session.view.dated  # it is about to follow
    session.poll(1.3)
    assert not session.view.dated
    session.poll(1.6)
    assert session.view.dated  # but does not
    workers[0].waiting = [Planned(number, record("second"))]
    session.poll(1.7)
    assert not session.view.dated
    number = edited(2.0)
    workers[0].waiting = [Refused(number, Refusal("goal is inside obstacle buoy or its clearance by 1 m"))]
    session.poll(2.1)
    assert session.view.dated
    assert session.view.refused
    assert session.view.message == "goal is inside obstacle buoy or its clearance by 1 m"
    number = edited(3.0)
    assert session.view.dated  # until a plan is there again
    workers[0].waiting = [Planned(number, record("third"))]
    session.poll(3.1)
    assert not session.view.dated
    assert not session.view.refused


def test_kept_plans_are_shown_and_hidden(session: PlanSession, workers: list[FakeWorker]) -> None:
    planned(session, workers, "one")
    session.handle(KeepPlan(), 1.0)
    session.handle(ShowPlan("one", False), 1.0)
    assert session.view.hidden == {"one"}
    session.handle(ShowPlan("one", True), 1.0)
    assert session.view.hidden == frozenset()


def compared(session: PlanSession, workers: list[FakeWorker]) -> PlanRecord:
    """A first plan with two others beside it, while more are tried."""
    others = tuple(record(name, cost=cost) for name, cost in (("way 2", 4.0), ("way 3", 5.0)))
    session.handle(StartPlanning(), 0.0)
    best = record("first", alternatives=others, tried=3)
    workers[-1].waiting = [Planned(workers[-1].jobs[-1].number, best, last=False)]
    session.poll(0.1)
    return best


def test_the_first_plan_is_there_while_others_are_tried_and_a_better_one_takes_its_place(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    best = compared(session, workers)
    assert (session.view.phase, session.view.plan) == ("comparing", best)
    better = record("better", cost=3.0)
    workers[-1].waiting = [Planned(workers[-1].jobs[-1].number, better)]
    session.poll(0.2)
    assert (session.view.phase, session.view.plan) == ("idle", better)


def test_a_hand_does_not_wait_for_others_to_be_tried(session: PlanSession, workers: list[FakeWorker]) -> None:
    compared(session, workers)
    session.handle(EditTask(task(duration_s=9.0)), 0.2)
    session.poll(0.21)
    assert workers[-1].jobs[-1].warm
    assert workers[-1].jobs[-1].task.duration_s == 9.0


def test_another_way_is_taken_and_the_present_one_stays_beside_it(
    session: PlanSession, workers: list[FakeWorker]
) -> None:
    compared(session, workers)
    session.handle(TakeAlternative(1), 0.2)
    plan = session.view.plan
    assert plan is not None
    assert (plan.name, session.view.phase, workers[-1].cancels) == ("way 3", "idle", 1)
    assert [other.name for other in plan.alternatives] == ["first", "way 2"]
    session.handle(EditTask(task(duration_s=9.0)), 0.3)
    session.poll(0.31)
    assert workers[-1].jobs[-1].start is plan
    session.handle(TakeAlternative(7), 0.4)  # there is none
    assert session.view.plan is plan
