"""Laws of planning on from a plan that was kept: it stays on its side, on any grid, and comes from where it stands."""

from dataclasses import replace

import numpy as np
import pytest

from sim.planner import Cylinder, Goal, Planner, Task, Waypoint
from sim.planner.result.plan import Plan
from sim.planner.result.record import PlanRecord, record_of
from sim.planner.service.jobs import PlanJob, Planned
from sim.planner.service.server import PlanServer
from sim.platform.errors import InputError
from sim.vehicles import vehicle
from tests.sim.plan_samples import BOAT

BUOY = Cylinder((10.0, 0.3, 0.0), 1.5, "buoy")


def task(goal_x_m: float = 20.0, **changes) -> Task:
    """Past a buoy that stands a little to the left: to its right is the cheaper way."""
    goal = Goal(BOAT.state(x=goal_x_m))
    values = {"start": BOAT.state(), "goal": goal, "duration_s": 20.0, "steps": 40, "obstacles": (BUOY,)}
    return Task(**{**values, **changes})


def side(places_w: np.ndarray) -> float:
    """Left of the buoy is positive."""
    return float(np.interp(BUOY.centre_w[0], places_w[:, 0], places_w[:, 1]) - BUOY.centre_w[1])


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner()


@pytest.fixture(scope="module")
def on_the_left(planner: Planner) -> PlanRecord:
    """Led there by a waypoint, then planned on without it."""
    led = task(waypoints=(Waypoint((10.0, 3.0, 0.0), 0.3),))
    first = planner.plan(BOAT, led)
    assert first.solved, first.message
    free = task()
    plan = planner.plan(BOAT, free, warm=record_of(first, "led"))
    assert plan.solved, plan.message
    return record_of(plan, "left")


@pytest.mark.parametrize("steps", [40, 56])
def test_a_plan_that_is_taken_up_stays_on_its_side_of_an_obstacle(
    planner: Planner, on_the_left: PlanRecord, steps: int
) -> None:
    edited = task(20.5, steps=steps)
    afresh = planner.plan(BOAT, edited)
    plan = planner.plan(BOAT, edited, warm=on_the_left)
    assert afresh.solved
    assert plan.solved, plan.message
    places_w = record_of(plan, "next").places_w
    assert side(places_w) > 1.0
    assert side(record_of(afresh, "afresh").places_w) < -1.0
    np.testing.assert_allclose(places_w[-1], [20.5, 0.0, 0.0], atol=1e-7)


def test_a_plan_taken_up_unchanged_is_the_same_plan(planner: Planner, on_the_left: PlanRecord) -> None:
    plan = planner.plan(BOAT, task(), warm=on_the_left)
    assert plan.solved
    np.testing.assert_allclose(record_of(plan, "again").places_w, on_the_left.places_w, atol=1e-3)  # 3e-5


def test_a_new_waypoint_gets_the_time_at_which_the_plan_passes_it(
    planner: Planner, on_the_left: PlanRecord
) -> None:
    k = 13
    place_w = on_the_left.places_w[k]
    asked = replace(task(), waypoints=(Waypoint(tuple(place_w), 0.2),))
    plan = planner.plan(BOAT, asked, warm=on_the_left)
    assert plan.solved, plan.message
    assert plan.task.waypoints[0].time_s == pytest.approx(k * on_the_left.step_s)


@pytest.mark.parametrize("through", [(), ((5.0, 2.0, 0.0), (15.0, 2.0, 0.0))])
def test_a_warm_start_counts_though_the_number_of_waypoints_differs(planner: Planner, through: tuple) -> None:
    """Led to the far side of the buoy by one waypoint, then with none and with two others that leave the side open."""
    led = planner.plan(BOAT, task(waypoints=(Waypoint((10.0, 3.0, 0.0), 0.3),)))
    assert led.solved, led.message
    plan = planner.plan(BOAT, task(waypoints=tuple(Waypoint(place, 2.5) for place in through)), warm=led)
    assert plan.solved, plan.message
    assert plan.tried == 1, "the warm start was not followed"
    assert side(record_of(plan, "warm").places_w) > 1.0


def test_a_plan_of_another_vehicle_is_no_warm_start(planner: Planner, on_the_left: PlanRecord) -> None:
    car = vehicle("car")
    asked = Task(start=car.state(), goal=Goal(car.state(x=8.0)), duration_s=8.0)
    with pytest.raises(InputError, match="warm: a plan of boat; allowed: one of car"):
        planner.plan(car, asked, warm=on_the_left)


class Pipe:
    """Nothing waits in it; what is sent is kept."""

    def __init__(self) -> None:
        self.sent: list[object] = []

    def poll(self) -> bool:
        return False

    def send(self, answer: object) -> None:
        self.sent.append(answer)


def test_the_process_plans_on_from_what_is_shown_and_not_from_what_it_planned_last(
    on_the_left: PlanRecord,
) -> None:
    pipe = Pipe()
    server, edited = PlanServer(pipe), task(20.5)
    server.take(PlanJob(1, BOAT, task(), "variational"))
    server.take(PlanJob(2, BOAT, edited, "variational", warm=True))
    server.take(PlanJob(3, BOAT, edited, "variational", warm=True, start=on_the_left))
    server.take(PlanJob(4, BOAT, replace(edited, steps=48), "variational", warm=True))
    answers = [answer for answer in pipe.sent if isinstance(answer, Planned) and answer.last]
    assert all(answer.record.solved for answer in answers)
    sides = [side(answer.record.places_w) > 0.0 for answer in answers]
    assert sides == [False, False, True, True]  # the last one on another grid than what it goes on from


def test_a_plan_that_follows_a_hand_is_not_waited_for_as_long_as_one_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[float] = []

    class Hurried(Planner):
        def plan(self, *task: object, time_limit_s: float, **options: object) -> Plan:
            limits.append(time_limit_s)
            return super().plan(*task, time_limit_s=time_limit_s, **options)

    monkeypatch.setattr("sim.planner.service.server.Planner", Hurried)
    server = PlanServer(Pipe())
    server.take(PlanJob(1, BOAT, task(), "variational"))
    server.take(PlanJob(2, BOAT, task(20.5), "variational", warm=True))
    asked_for, following = limits
    assert following < 0.1 * asked_for
