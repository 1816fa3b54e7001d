"""Laws of what is told to hold a plan: what it leans on and when, nothing that it does not, and that it matters."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from sim.planner import Cylinder, Goal, Limits, Planner, Task, Waypoint
from sim.planner.result.active_constraints import ActiveConstraint, active_constraints
from sim.planner.result.plan import Plan
from sim.planner.result.record import record_of
from sim.planner.result.store import load_record, save_record
from sim.vehicles import vehicle
from tests.sim.plan_samples import BOAT, record


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner()


def task(**changes) -> Task:
    values = {"start": BOAT.state(), "goal": Goal(BOAT.state(x=20.0)), "duration_s": 20.0, "steps": 40}
    return Task(**{**values, **changes})


def told(plan: Plan) -> dict[str, ActiveConstraint]:
    assert plan.solved, plan.message
    return {constraint.what: constraint for constraint in record_of(plan, "plan").active}


def test_a_plan_in_the_open_is_held_by_nothing(planner: Planner) -> None:
    assert told(planner.plan(BOAT, task(), starts=1)) == {}


def least_ahead_n() -> float:
    """What each thruster has to give so that the task can be done ahead at all: full thrust, then full braking.

    Drag is linear, so that its coefficient times the distance is the impulse of the thrust.
    """
    mass, drag = BOAT.values["mass"], BOAT.values["drag"][0] + BOAT.values["wind_drag"]
    asked, brake = task(), -2.0 * BOAT.controls[0].low

    def takes_s(thrust: float) -> float:
        ahead_s = (drag * 20.0 + brake * asked.duration_s) / (thrust + brake)
        fastest = thrust / drag * (1.0 - np.exp(-drag / mass * ahead_s))
        return ahead_s + mass / drag * np.log(1.0 + drag * fastest / brake)

    return float(brentq(lambda u: takes_s(2.0 * u) - asked.duration_s, 10.0, 75.0))


def test_who_is_too_weak_to_get_there_ahead_in_time_turns_and_goes_astern(planner: Planner) -> None:
    most = 0.8 * planner.plan(BOAT, task(), starts=1).controls.max()
    assert most < 0.93 * least_ahead_n()
    plan = planner.plan(
        BOAT, task(limits=Limits(controls=dict.fromkeys(("u_left", "u_right"), (-75.0, most))))
    )
    assert plan.solved, plan.message
    heading, backwards = plan.trajectory.nodes[20, 0], plan.trajectory.velocity[20, 1]
    assert np.cos(heading) < -0.9
    assert backwards < -1.0


def test_a_limit_of_an_input_is_told_with_the_times_at_which_it_is_used_up(planner: Planner) -> None:
    free = planner.plan(BOAT, task(), starts=1)
    most = 0.9 * free.controls.max()
    assert most > least_ahead_n()
    narrow = Limits(controls=dict.fromkeys(("u_left", "u_right"), (-75.0, most)))
    plan = planner.plan(BOAT, task(limits=narrow), starts=1)
    found = told(plan)
    assert set(found) == {f"u_left at most {most:.4g} N", f"u_right at most {most:.4g} N"}
    for column, constraint in enumerate(found.values()):
        ((begin_s, end_s),) = constraint.spans_s
        t = plan.step_s * np.arange(len(plan.controls))
        inside = (t >= begin_s - 1e-9) & (t <= end_s + 1e-9)
        assert inside.sum() > 3
        np.testing.assert_allclose(plan.controls[inside, column], most, rtol=2e-3)
        assert plan.controls[~inside, column].max() < 0.999 * most
    assert plan.cost > free.cost


def test_only_the_obstacle_that_is_passed_closely_is_told_and_without_it_the_plan_is_cheaper(
    planner: Planner,
) -> None:
    near, far = Cylinder((10.0, 0.3, 0.0), 1.5, "near"), Cylinder((10.0, 9.0, 0.0), 1.5, "far")
    plan = planner.plan(BOAT, task(obstacles=(far, near), clearance_m=0.5), starts=1)
    (constraint,) = told(plan).values()
    assert (constraint.obstacle, constraint.what) == (1, "0.5 m clear of near")
    ((begin_s, end_s),) = constraint.spans_s
    nearest = np.linalg.norm(plan.trajectory.nodes[:, 1:3] - near.centre_w[:2], axis=1).argmin()
    assert begin_s - plan.step_s <= nearest * plan.step_s <= end_s + plan.step_s
    assert planner.plan(BOAT, task(obstacles=(far,), clearance_m=0.5), starts=1).cost < plan.cost


def test_a_waypoint_that_is_only_just_met_is_told_and_one_on_the_way_is_not(planner: Planner) -> None:
    aside, on_the_way = Waypoint((10.0, 2.0, 0.0), 0.5, 10.0), Waypoint((10.0, 0.1, 0.0), 0.5, 10.0)
    (constraint,) = told(planner.plan(BOAT, task(waypoints=(aside,)), starts=1)).values()
    assert (constraint.waypoint, constraint.spans_s) == (0, ((10.0, 10.0),))
    assert told(planner.plan(BOAT, task(waypoints=(on_the_way,)), starts=1)) == {}


def test_limits_of_speed_final_time_and_place_are_told(planner: Planner) -> None:
    slow = told(planner.plan(BOAT, task(limits=Limits(speed_mps=1.2)), starts=1))
    assert list(slow) == ["speed at most 1.2 m/s"]
    late = replace(task(), free_duration=(10.0, 30.0))
    (constraint,) = told(planner.plan(BOAT, late, starts=1)).values()
    assert constraint.what == "final time at most 30 s"
    # It sets off to the right, and there is a wall.
    aside = task(start=BOAT.state(theta=-0.5, v=(1.5, 0.0)), limits=Limits(low_w=(-9.0, -0.4, -1.0)))
    plan = planner.plan(BOAT, aside, starts=1)
    (constraint,) = (constraint for what, constraint in told(plan).items() if what == "y at least -0.4 m")
    assert plan.trajectory.nodes[round(constraint.spans_s[0][0] / plan.step_s), 2] == pytest.approx(
        -0.4, abs=0.01
    )


def test_a_tilted_lift_is_told_by_the_limit_of_its_disc(planner: Planner) -> None:
    helicopter = vehicle("helicopter", mass=5.0)
    hop = Task(
        start=helicopter.state(x=(0.0, 0.0, 20.0)),
        goal=Goal(helicopter.state(x=(8.0, 3.0, 21.0))),
        duration_s=4.0,
        steps=40,
        limits=Limits(controls={"gamma_p": (-0.02, 0.02), "gamma_r": (-0.02, 0.02)}),
    )
    plan = planner.plan(helicopter, hop, starts=1)
    found = told(plan)
    assert "tilt of the disc at its limit" in found
    tilt = np.hypot(*plan.controls[:, 2:].T)
    at = found["tilt of the disc at its limit"].spans_s[0][0]
    assert tilt[round(at / plan.step_s)] == pytest.approx(0.02, rel=1e-2)


def test_what_is_given_at_the_ends_holds_nothing() -> None:
    # At rest at both ends, beside an obstacle where it starts.
    beside = task(obstacles=(Cylinder((0.0, 1.0, 0.0), 1.0, "quay"),), steps=4)
    nodes = record().nodes
    assert active_constraints(BOAT, beside, nodes, np.zeros((5, 2)), 2.0) == ()


def test_words_name_the_times() -> None:
    constraint = ActiveConstraint("lift at most 9 N", ((3.12, 4.0), (7.2, 7.24)))
    assert constraint.words == "lift at most 9 N (3.1-4.0, 7.2 s)"
    assert constraint.seconds == pytest.approx(0.92)


def test_what_holds_a_plan_is_stored_with_it(tmp_path) -> None:
    before = (
        ActiveConstraint("speed at most 3 m/s", ((1.0, 2.5),)),
        ActiveConstraint("touches buoy", ((4.0, 4.0),), obstacle=0),
    )
    assert load_record(save_record(record(active=before), tmp_path)).active == before
