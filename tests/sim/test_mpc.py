"""Plans made in flight: what is flown, what is recorded, and what becomes of plans that come late or not at all."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.commands import PilotInput, Reset, SetParameter, SetPilotInput, StartMpc, StopMpc
from sim.control.helm import Berth
from sim.control.mpc import LATE_S, MpcAnswer, MpcRequest
from sim.planner.service.receding import Replanner, aimed
from sim.planner.task.clearance import clearance
from sim.recordings import Take, load_take, save_take
from sim.scene import Scene, Start
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicles import known_vehicle
from tests.sim.planner_tasks import BOAT
from tests.sim.simulation_scenes import simulation
from tests.sim.test_receding_horizon import HORIZON

SCENE = Scene(
    name="mpc",
    title="mpc",
    world="harbour",
    vehicle=known_vehicle("boat"),
    integrator="variational",
    step_s=0.02,
    flight_mode="station",
    start=Start(position_w=(0.0, 0.0, 0.0)),
)


class Here:
    """Plans in this very thread: none is late by the clock. `answers` says what becomes of the n-th question."""

    rate_hz = 10.0
    berth: Berth | None = None

    def __init__(self, answers: Callable[[int], str] = lambda number: "planned") -> None:
        self.task, self.asked = HORIZON, list[MpcRequest]()
        self._replanner, self._answers = Replanner(), answers
        self._due: list[MpcAnswer] = []
        self._held: list[MpcAnswer] = []

    def ask(self, request: MpcRequest) -> None:
        self.asked.append(request)
        match self._answers(request.number):
            case "planned":
                self._due.append(self._replanner.answered(request, self.task))
            case "late":
                self._held.append(self._replanner.answered(request, self.task))
            case "failed":
                self._due.append(MpcAnswer(request.number, None, 0.01, "no way was found"))

    def answers(self, wait_s: float = 0.0) -> list[MpcAnswer]:
        due, self._due = self._due, []
        return due

    def let_go(self) -> None:
        """What was held back comes now."""
        self._due, self._held = self._due + self._held, []


def flown(source: Here, seconds: float) -> tuple[Simulation, Snapshot]:
    running = simulation(SCENE)
    running.submit(StartMpc(source))
    return running, running.advance(seconds)


def until(running: Simulation, holds: Callable[[Snapshot], bool]) -> Snapshot:
    """Moved on to where it holds; how soon plans follow one another depends on the machine."""
    for _ in range(1000):
        seen = running.advance(SCENE.step_s)
        if holds(seen):
            return seen
    raise AssertionError("it never does")


def speed(seen: Snapshot) -> float:
    return float(np.linalg.norm(seen.lanes[0].twist_b[3:]))


def told(seen: Snapshot) -> str:
    assert seen.mpc is not None
    return seen.mpc.phase


def wandering() -> Take:
    """A goal that is moved and a wind that turns while plans fly, sticks that nobody hears, and an end by hand."""
    source = Here()
    running, _ = flown(source, 0.5)
    for k in range(1, 9):
        goal_w = np.array([10.0 + 0.5 * k, 3.0 * np.sin(k)])
        source.task = aimed(HORIZON, HORIZON.start, goal_w)
        running.submit(SetPilotInput(PilotInput(pitch=-1.0, roll=0.3)))
        running.submit(SetParameter("wind", (0.1 * k, 0.5, 0.0)[: np.size(BOAT.values["wind"])]))
        running.advance(0.27)
    running.submit(StopMpc())
    running.advance(0.5)
    return running.takes()[-1]


def test_a_flight_by_such_plans_replays_to_the_bit_and_names_the_steps_of_every_plan(tmp_path: Path) -> None:
    take = load_take(save_take(wandering(), tmp_path / "mpc.npz"))
    again = take.resimulate()
    np.testing.assert_array_equal(again.samples().nodes, take.samples().nodes)
    plans = [segment.plans for segment in take.segments]
    assert sum(map(len, plans)) >= 15  # ten a second for 2.7 s, and two steps of 20 ms at least between them
    for segment, own in zip(take.segments, plans, strict=True):
        assert np.all(own[:, 0] < own[:, 1])
        assert np.all(np.diff(own[:, 1]) > 0)
        assert np.all((own[:, 1] >= segment.first_step) & (own[:, 1] <= segment.steps))
        # Where a plan takes over, other controls act.
        assert np.isin(own[:, 1], segment.change_steps).mean() > 0.9 if len(own) else True
    assert sum(map(len, (segment.plans for segment in again.segments))) == sum(map(len, plans))
    assert not any(len(segment.plans) for segment in take.resimulate(step=0.01).segments)


def test_a_take_before_which_no_plans_were_made_has_none(tmp_path: Path) -> None:
    running = simulation(SCENE)
    running.advance(1.5)
    take = load_take(save_take(running.takes()[-1], tmp_path / "by-hand.npz"))
    assert all(segment.plans.shape == (0, 2) for segment in take.segments)


def test_plans_lead_to_a_goal_around_the_obstacle_and_hold_there() -> None:
    running, seen = flown(Here(), 18.0)
    assert told(seen) == "flying"
    place = seen.lanes[0].T_wb[:2, 3]
    assert np.linalg.norm(place - [14.0, 3.0]) < 0.2  # measured 0.03
    take = running.takes()[-1]
    nodes = take.samples().nodes
    assert clearance(BOAT, nodes[:, BOAT.node_layout.pose], HORIZON).least_m > 0.0


@pytest.mark.parametrize("end", ["failed", "never"])
def test_where_no_plan_comes_any_more_the_last_one_is_tracked_and_then_the_boat_is_held(end: str) -> None:
    source = Here(lambda number: "planned" if number <= 10 else end)
    running, _ = flown(source, 0.5)
    seen = until(running, lambda seen: told(seen) == "late")
    assert seen.mpc is not None
    assert seen.mpc.age_s > LATE_S
    assert seen.mpc.reason == ("no way was found" if end == "failed" else "")
    assert (seen.mpc.failed > 0) == (end == "failed")
    fastest = max(speed(running.advance(1.0)) for _ in range(4))
    seen = until(running, lambda seen: told(seen) == "holding")
    assert seen.mpc is not None
    assert seen.mpc.age_s > HORIZON.duration_s
    assert fastest > 0.8  # measured 2.8
    assert speed(running.advance(1.0)) < 0.1  # measured 0.02
    nodes = running.takes()[-1].samples().nodes
    assert clearance(BOAT, nodes[:, BOAT.node_layout.pose], HORIZON).least_m > 0.0


def test_a_last_plan_is_tracked_through_a_gust_that_it_does_not_know() -> None:
    missed = []
    for wind in ((0.0, 0.0), (0.0, 2.0)):
        source = Here(lambda number: "planned" if number == 1 else "never")
        running, _ = flown(source, 0.2)
        running.submit(SetParameter("wind", wind))
        plan = until(running, lambda seen: told(seen) == "holding").mpc
        assert plan is not None
        assert plan.places_w is not None
        place = running.snapshot.lanes[0].T_wb[:2, 3]
        missed.append(float(np.linalg.norm(place - plan.places_w[-1, :2])))
    assert missed[0] < 0.1
    assert missed[1] < 0.5


def test_a_plan_that_comes_late_is_left_and_counted_and_the_next_one_is_flown() -> None:
    source = Here(lambda number: "late" if number == 6 else "planned")
    running, _ = flown(source, 0.2)
    seen = until(running, lambda seen: told(seen) == "late")
    assert len(source.asked) == 6
    time.sleep(0.4)  # however long it took, the plan that is flown is an old one
    source.let_go()
    seen = running.advance(SCENE.step_s)
    assert seen.mpc is not None
    assert (seen.mpc.late, told(seen)) == (1, "late")
    seen = until(running, lambda seen: told(seen) == "flying")
    assert seen.mpc is not None
    assert (seen.mpc.late, seen.mpc.failed) == (1, 0)


def test_it_begins_anew_with_the_scene_and_ends_with_a_word() -> None:
    source = Here()
    running, _ = flown(source, 1.0)
    running.submit(Reset())
    seen = running.advance(1.0)
    assert (told(seen), seen.clock_s) == ("flying", 1.0)
    running.submit(StopMpc())
    seen = running.advance(0.1)
    assert seen.mpc is None
    assert "you fly" in seen.message
    asked = len(source.asked)
    running.advance(0.5)
    assert len(source.asked) == asked


def test_what_the_planner_refuses_is_told_and_the_hand_flies_until_it_finds_a_plan() -> None:
    source = Here()
    source.task = replace(HORIZON, limits=replace(HORIZON.limits, low_w=(50.0, 50.0, -1.0)))
    running, seen = flown(source, 0.5)
    assert seen.mpc is not None
    assert told(seen) == "preparing"
    assert "bounds" in seen.mpc.reason
    source.task = HORIZON
    assert told(running.advance(0.5)) == "flying"
    assert sim.vehicle("boat").name == seen.lanes[0].vehicle
