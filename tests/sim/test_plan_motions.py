"""Goals and obstacles that move: kinematics by differences, arrivals by the deck's own motion, when to meet."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import sim
from benchmarks.planner import landings
from sim.planner import Box, Cylinder, Goal, Motion, Plan, Planner, Sway, Task, Weights, task_of_scene
from sim.planner.result.store import task_of_values, task_values
from sim.planner.task.meeting import goal_at
from sim.planner.task.motions import PIECES, spline, spline_jets_in_time
from sim.platform.errors import InputError
from sim.scene import load_scene

BOAT = sim.vehicle("boat")
CROSSING = Motion(("ferry",), velocity_mps=(0.0, 0.8, 0.0))
BERTH = Motion(("goal",), (22.0, 8.0, 0.0), velocity_mps=(0.3, 0.1, 0.0), turn_radps=0.05)
MEETING = Task(
    BOAT.state(),
    Goal(BOAT.state(x=22.0, y=8.0, theta=1.0)),
    20.0,
    steps=48,
    obstacles=(Cylinder((10.0, -4.0, 0.0), 2.5, "ferry"),),
    motions=(CROSSING, BERTH),
)
numbers = st.floats(-2.0, 2.0, allow_nan=False)
vectors = st.tuples(numbers, numbers, numbers)
motions = st.builds(
    Motion,
    st.just(("goal",)),
    pivot_w=vectors,
    velocity_mps=vectors,
    turn_radps=st.floats(-0.5, 0.5),
    sways=st.lists(st.builds(Sway, st.floats(4.0, 12.0), vectors, vectors, numbers), max_size=2).map(tuple),
    begun_s=st.floats(0.0, 5.0),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(motions, st.floats(0.0, 30.0))
def test_the_spline_is_the_motion_and_its_derivatives_are_those_of_the_motion(
    motion: Motion, time_s: float
) -> None:
    out = np.zeros((1, 25))
    moments, eps = time_s + 1e-4 * np.array([-1.0, 0.0, 1.0]), 1e-4
    spline_jets_in_time(spline(motion, 30.0)[None], 30.0 / PIECES, np.array([time_s]), 1, out)
    before, here, after = motion.channels(moments)
    value, slope, curvature, _ = out[0, 1:].reshape(4, 6)
    # Measured 1e-4, 8e-3 and 0.4 at worst, of sways by 2 m and 2 rad in four seconds.
    assert np.abs(value - here).max() < 3e-4
    assert np.abs(slope - (after - before) / (2 * eps)).max() < 2e-2
    assert np.abs(curvature - (after - 2 * here + before) / eps**2).max() < 1.0


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(motions, vectors, vectors, vectors, st.floats(0.0, 20.0))
def test_who_is_at_the_goal_goes_with_what_carries_it(
    motion: Motion,
    x: tuple[float, float, float],
    angles: tuple[float, float, float],
    v: tuple[float, float, float],
    time_s: float,
) -> None:
    body = sim.vehicle("helicopter")
    R = Rotation.from_rotvec(angles).as_matrix()
    task = Task(body.state(), Goal(body.state(x=x, R=R, v=v)), 20.0, motions=(motion,))
    before, here, after = (goal_at(body, task, time_s + by).pose for by in (-1e-5, 0.0, 1e-5))
    slope = np.linalg.inv(here) @ (after - before) / 2e-5
    expected = np.r_[slope[2, 1], slope[0, 2], slope[1, 0], slope[:3, 3] + v]
    assert np.allclose(goal_at(body, task, time_s).velocity, expected, atol=2e-4)  # of speeds up to 20 m/s


def test_a_boat_meets_a_berth_that_sails_and_turns_and_lets_a_ferry_pass() -> None:
    plan = sim.plan(BOAT, MEETING, starts=4)
    assert plan.solved
    # By its own circle: about the pivot's way, on which the goal stands.
    turn = 0.05 * 20.0
    place = (
        np.array([22.0, 8.0])
        + np.array(
            [
                [np.sin(turn), np.cos(turn) - 1.0],
                [1.0 - np.cos(turn), np.sin(turn)],
            ]
        )
        @ [0.3, 0.1]
        / 0.05
    )
    R = np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
    node = plan.motion.nodes[-1]
    assert np.allclose(node[:3], [1.0 + turn, *place], atol=1e-7)
    assert np.allclose(node[3:6], [0.05, *(R.T @ [0.3, 0.1])], atol=1e-6)
    # Under the simulation it keeps clear of where the ferry is at the time.
    flown = sim.simulate(
        BOAT,
        plan.integrator,
        step=plan.step_s,
        duration=20.0,
        initial=MEETING.start,
        controls=plan.controls[:-1],
    )
    assert np.abs(flown.nodes - plan.motion.nodes).max() < 1e-9
    away = np.hypot(flown.nodes[:, 1] - 10.0, flown.nodes[:, 2] + 4.0 - 0.8 * flown.time) - 2.5
    assert away.min() > -1e-3
    still = sim.plan(BOAT, replace(MEETING, motions=(BERTH,)), starts=1)
    assert plan.cost != pytest.approx(still.cost, rel=1e-3)


def test_when_to_meet_is_the_best_of_all_fixed_times() -> None:
    priced = replace(MEETING, weights=Weights(time=0.2), obstacles=(), motions=(BERTH,))
    planner = Planner()
    free = planner.plan(BOAT, replace(priced, free_duration=(8.0, 40.0)), starts=1)
    assert free.solved
    costs = [
        planner.plan(BOAT, replace(priced, duration_s=share * free.duration_s), starts=1).cost
        for share in (0.98, 1.0, 1.02)
    ]
    assert free.cost == pytest.approx(costs[1], rel=1e-5)
    assert costs[1] < min(costs[0], costs[2])


def test_the_helicopter_stands_on_the_deck_by_newton_and_euler_too() -> None:
    """Integrated to 1e-10 with the plan's inputs it ends as far from the deck as the method's order says, and half as
    long steps end a quarter as far."""
    vehicle, task = task_of_scene(load_scene("plan-deck-landing"))
    missed = []
    for steps in (48, 96):
        plan = sim.plan(vehicle, replace(task, steps=steps, free_duration=None, duration_s=9.0), starts=1)
        assert plan.solved
        deck = goal_at(vehicle, task, 9.0)
        assert np.abs(plan.motion.nodes[-1] - deck.node).max() < 2e-5  # of the spline; measured 4e-6
        missed.append(_missed_by_newton_and_euler(vehicle.values, plan, deck.node))
    assert missed[1] < 0.15  # m; measured 0.05
    assert missed[0] / missed[1] == pytest.approx(4.0, rel=0.35)


def test_plans_onto_the_deck_are_flown_there_by_feedback_in_gusts_that_none_knows() -> None:
    """The first of the documented hundred: unknown wind and gusts, and a mass that is up to 3 % off."""
    for end in landings(3, time_limit_s=120.0):
        assert end is not None
        assert end.off_m < 0.02  # measured 0.0057
        assert end.off_mps < 0.2  # measured 0.077
        assert end.off_deg < 1.0  # measured 0.23


def _missed_by_newton_and_euler(values: Mapping[str, Any], plan: Plan, end: np.ndarray) -> float:
    m, inertia, weight_w = values["mass"], np.array(values["inertia"]), [0.0, 0.0, -values["gravity"]]
    start = plan.task.start
    y = np.r_[start.pose[:3, 3], start.pose[:3, :3].ravel(), start.velocity[3:], start.velocity[:3]]
    for u, tail, pitch, roll in plan.controls[:-1]:
        lift = u * np.array([np.sin(pitch) * np.cos(roll), -np.sin(roll), np.cos(pitch) * np.cos(roll)])
        torque = np.cross([0.0, 0.0, values["rotor_offset"]], lift)
        torque[2] += values["tail_offset"] * tail

        def rates(
            t: float, y: np.ndarray, lift: np.ndarray = lift, torque: np.ndarray = torque, tail: float = tail
        ) -> np.ndarray:
            R, v, w = y[3:12].reshape(3, 3), y[12:15], y[15:]
            force = lift - [0.0, tail, 0.0] - values["drag"] * np.linalg.norm(v) * v
            spin = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
            faster = force / m - np.cross(w, v) + R.T @ weight_w
            return np.r_[R @ v, (R @ spin).ravel(), faster, (torque - np.cross(w, inertia * w)) / inertia]

        y = solve_ivp(rates, (0.0, plan.step_s), y, rtol=1e-10, atol=1e-10, method="DOP853").y[:, -1]
    return float(np.linalg.norm(y[:3] - end[9:12]))


def test_what_moves_along_a_plan_is_where_that_plan_is() -> None:
    other = sim.plan(
        BOAT, Task(BOAT.state(x=20.0), Goal(BOAT.state(y=10.0, theta=2.0)), 12.0, steps=32), starts=1
    )
    motion = Motion.of(other, ("ferry",))
    here = np.c_[other.motion.nodes[:, 1:3], np.zeros(33), np.ones(33)]
    carried = motion.poses(other.trajectory.time) @ here[0]
    assert np.abs(carried - here).max() < 1e-12
    ferry = Cylinder((20.0, 0.0, 0.0), 1.5, "ferry")
    task = Task(
        BOAT.state(y=6.0),
        Goal(BOAT.state(x=20.0, y=6.0)),
        12.0,
        steps=32,
        obstacles=(ferry,),
        motions=(motion,),
    )
    plan = sim.plan(BOAT, task, starts=4)
    assert plan.solved
    apart = np.linalg.norm(plan.motion.nodes[:, 1:3] - other.motion.nodes[:, 1:3], axis=1)
    assert apart.min() > 1.5 - 1e-6


def test_moving_tasks_are_stored_and_read_again() -> None:
    assert task_of_values(task_values(MEETING), BOAT).motions == MEETING.motions


@pytest.mark.parametrize(
    ("motion", "word"),
    [
        (Motion(("fery",)), "not there"),
        (Motion(("goal",)), "moves already"),
        (Motion(("ferry",), velocity_mps=(0.0, 0.0, 1.0)), "plane"),
        (Motion(("ferry",), sways=(Sway(0.0),)), "period"),
        (Motion(("ferry",), sways=(Sway(0.15, (0.3, 0.0, 0.0)),)), "too fast"),
        (Motion(("ferry",), table=((1.0, *[0.0] * 6), (0.5, *[0.0] * 6))), "grow"),
    ],
)
def test_motions_that_are_none_are_refused_in_a_line(motion: Motion, word: str) -> None:
    with pytest.raises(InputError, match=word) as refused:
        sim.plan(BOAT, replace(MEETING, motions=(BERTH, motion)))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("rotation", ["fixed", "free"])
def test_a_goal_inside_what_carries_it_is_told_whenever_it_is_met(rotation) -> None:
    deck = Box((22.0, 8.0, 0.0), (3.0, 2.0, 1.0), name="deck")
    sailing = replace(BERTH, moves=("goal", "deck"))
    goal = replace(MEETING.goal, rotation=rotation)
    inside = replace(
        MEETING, goal=goal, free_duration=(10.0, 40.0), obstacles=(deck,), motions=(sailing,), clearance_m=0.3
    )
    with pytest.raises(InputError, match="goal is inside obstacle deck"):
        sim.plan(BOAT, inside)
    beside = replace(deck, centre_w=(22.0, 13.0, 0.0))
    assert sim.plan(BOAT, replace(inside, obstacles=(beside,)), starts=1, explain=False).solved


def test_a_wall_that_comes_down_on_the_goal_is_told() -> None:
    gate = Box((22.0, 20.0, 0.0), (4.0, 1.0, 1.0), name="gate")
    closing = Motion(("gate",), velocity_mps=(0.0, -0.6, 0.0))
    with pytest.raises(InputError, match="goal is inside obstacle"):
        sim.plan(BOAT, replace(MEETING, obstacles=(gate,), motions=(closing,)))
    assert sim.plan(
        BOAT, replace(MEETING, duration_s=15.0, obstacles=(gate,), motions=(closing,)), starts=1
    ).solved
