"""Laws of a course that is followed in a scene: into the berth in weather, to the bit, given back at any time."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.commands import FollowCourse, Reset, Retake, Scrub, SetParameter, SetVehicle, StopPlan
from sim.control.helm import NEAR_M, NEAR_RAD
from sim.integrators import integrator
from sim.planner import task_of_scene
from sim.planner.task.check import check_task
from sim.planner.task.task import Task
from sim.platform.errors import InputError
from sim.recordings import Take
from sim.scene import load_scene
from sim.scene.conditions import Plan
from sim.simulation import Simulation
from sim.simulation.runs.judge import Judge
from sim.world import load_world
from ui.features.plan.planning import from_here

HARBOUR = load_scene("harbour")
BERTH, BERTH_RAD = np.array([21.75, 8.0]), 0.5 * math.pi


def course_from(x: float, y: float) -> FollowCourse:
    """At 1.5 m/s, straight to a bend of 4 m, and along the pontoon, as the planner gives it."""
    begin, bend = np.array([x, y]), np.array([18.0, 0.0])
    turn = np.linspace(0.0, 0.5 * math.pi, 20)[1:]
    round_it = bend + 4.0 * np.column_stack([np.sin(turn), 1.0 - np.cos(turn)])
    places = np.vstack([np.linspace(begin, bend, 50), round_it, np.linspace(round_it[-1], BERTH, 15)[1:]])
    along = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))]
    even = np.linspace(0.0, along[-1], 100)
    places = np.column_stack([np.interp(even, along, places[:, k]) for k in range(2)])
    way = np.gradient(places, axis=0)
    return FollowCourse(places, np.arctan2(way[:, 1], way[:, 0]), float(along[-1]) / 99 / 1.5)


def begun() -> Simulation:
    return Simulation(HARBOUR, load_world("harbour"))


def test_she_comes_into_her_berth_lies_there_and_the_take_replays_to_the_bit() -> None:
    running = begun()
    running.submit(course_from(0.0, 0.0))
    seen = running.advance(0.5)
    while not seen.plan_outcome and seen.clock_s < 90.0:
        assert seen.course is not None
        seen = running.advance(0.1)
    assert seen.course is not None
    assert seen.course.arrived, seen.course
    assert seen.message.startswith("in its berth"), seen.message
    assert seen.course.off_m <= NEAR_M + 0.1  # looked at up to a tenth of a second later
    assert seen.course.off_rad <= NEAR_RAD + 0.05
    planned = tuple(goal for goal in HARBOUR.goals if goal.find(Plan) is not None)
    assert Judge(planned, HARBOUR.vehicle, load_world("harbour")).observe(seen).at == len(planned) == 1
    off = []
    for _ in range(30):
        now = running.advance(0.5).course
        assert now is not None
        off.append((now.off_m, now.off_rad))
    # measured 0.95 m, where the wind leans her on the piles, and 0.02 rad
    assert max(m for m, _ in off) < 1.3
    assert max(rad for _, rad in off) < 0.1
    own = running.run.flown
    assert own.running
    take = Take(name="test", segments=own.recorder.segments(own.time_s), world="harbour")
    np.testing.assert_array_equal(take.playback().at(take.end_s).state, own.state)
    np.testing.assert_array_equal(take.resimulate().samples().nodes, take.samples().nodes)


def test_a_course_is_joined_where_it_is_nearest_and_goes_on_after_a_look_back() -> None:
    running = begun()
    running.submit(course_from(-20.0, 0.0))
    first = running.advance(0.1).course
    assert first is not None
    assert first.left_m == pytest.approx(28.3, abs=1.0)
    before = running.advance(4.0)
    running.submit(SetParameter("waves", 8.0))
    running.advance(1.0)
    running.submit(Scrub(3.0))
    assert running.advance(0.0).course is None
    running.submit(Retake(paused=False))
    after = running.advance(0.5).course
    assert before.course is not None
    assert after is not None
    assert 0.0 < after.left_m - before.course.left_m < 3.0


def test_the_helm_is_given_back_by_whatever_takes_it() -> None:
    running = begun()
    for command in (StopPlan(), Reset(), SetVehicle("boat")):
        running.submit(course_from(0.0, 0.0))
        assert running.advance(0.1).course is not None
        running.submit(command)
        assert running.advance(0.1).course is None, command
        assert running.run.flown.running
    assert np.array_equal(running.snapshot.lanes[0].controls, np.zeros(2))


def test_what_is_no_course_and_who_cannot_follow_one_is_refused_in_a_line() -> None:
    running, good = begun(), course_from(0.0, 0.0)
    still = np.tile(BERTH, (5, 1))
    for course, words in (
        (FollowCourse(good.places_w[:, 0], good.headings_rad, 0.1), "are no course"),
        (FollowCourse(good.places_w, good.headings_rad[1:], 0.1), "are no course"),
        (FollowCourse(good.places_w * math.nan, good.headings_rad, 0.1), "not finite"),
        (FollowCourse(good.places_w, good.headings_rad, 0.0), "takes no time"),
        (FollowCourse(still, np.zeros(5), 0.1), "leads nowhere"),
    ):
        running.submit(course)
        seen = running.advance(0.1)
        assert words in seen.message
        assert "\n" not in seen.message
        assert seen.course is None
    running.submit(SetVehicle("car"))
    running.advance(0.1)
    running.submit(good)
    seen = running.advance(0.1)
    assert seen.message == "the car cannot follow a course; allowed: motorboat"


def test_who_lies_close_to_something_sets_out_all_the_same() -> None:
    vehicle, task = task_of_scene(HARBOUR)

    def lies_at(x: float, y: float, heading_rad: float, task: Task) -> Task:
        T_wb = np.eye(4)
        T_wb[:2, :2] = Rotation.from_euler("z", heading_rad).as_matrix()[:2, :2]
        T_wb[:2, 3] = x, y
        seen = SimpleNamespace(lanes=(SimpleNamespace(T_wb=T_wb),))
        return from_here(SimpleNamespace(vehicle=vehicle, task=task), seen, task_clearance_m)  # type: ignore[arg-type]

    task_clearance_m = task.clearance_m
    widest_m = max(radius_m for *_, radius_m in task.body)
    near = lies_at(23.5 - widest_m - 0.3, 8.0, BERTH_RAD, task)  # 0.3 m from the pontoon
    assert near.clearance_m == pytest.approx(0.27, abs=1e-3)
    check_task(vehicle, integrator("variational"), near)
    assert lies_at(0.0, 0.0, 0.3, near).clearance_m == task_clearance_m
    inside = lies_at(23.2, 8.0, BERTH_RAD, task)
    with pytest.raises(InputError, match="first pontoon"):
        check_task(vehicle, integrator("variational"), inside)
