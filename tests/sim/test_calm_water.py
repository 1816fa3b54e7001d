"""Floating boats are planned by the mechanics of their hull on flat water."""

import math
from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.control.planar_craft import CURRENT, FORCE, TORQUE, numbers_of, step
from sim.planner import Goal, Task, task_of_scene
from sim.planner.task.calm_water import calm_water, seen_from_above
from sim.scene import load_scene


def test_it_moves_as_the_equations_of_its_pilot_do_in_a_current_and_under_a_push() -> None:
    boat = sim.vehicle("motorboat")
    numbers = numbers_of(boat)
    numbers[CURRENT : CURRENT + 2], numbers[FORCE : TORQUE + 1] = (0.4, -0.3), (30.0, -20.0, 5.0)
    calm, thrust = calm_water(boat, numbers), np.array([300.0, 100.0])
    c, s = math.cos(0.3), math.sin(0.3)
    state = np.array([0.0, 0.0, 0.3, 1.0 - (0.4 * c - 0.3 * s), 0.2 - (-0.3 * c - 0.4 * s), 0.1])
    after = np.empty(6)
    for _ in range(6000):
        step(numbers, state, thrust, 1e-3, after)
        state = after.copy()
    flown = sim.simulate(
        calm,
        "variational",
        step=0.01,
        duration=6.0,
        initial=calm.state_of((0.3, 0.0, 0.0), (0.1, 1.0, 0.2)),
        controls=thrust,
    )
    end = flown.nodes[-1]
    assert end[:4] == pytest.approx(state[[2, 0, 1, 5]], abs=5e-3)  # 2.3e-3, of the first-order steps there


def test_the_state_seen_from_above_is_that_over_ground() -> None:
    boat = sim.vehicle("motorboat")
    calm = calm_water(boat)
    c, s = math.cos(0.7), math.sin(0.7)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    cr, sr = math.cos(0.2), math.sin(0.2)
    roll = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    level = seen_from_above(
        calm, boat.state(R=R, x=(1.0, 2.0, 0.1), omega=(0.3, 0.0, 0.2), v=(1.0, 0.5, 0.4))
    )
    assert level.node == pytest.approx([0.7, 1.0, 2.0, 0.2, 1.0, 0.5])
    rolled = seen_from_above(calm, boat.state(R=R @ roll, v=(2.0, 0.0, 0.0)))
    assert rolled.node[:1] == pytest.approx([0.7])
    assert rolled.node[4] == pytest.approx(2.0)


def test_docking_in_a_current_and_under_a_push_is_planned_and_sailed() -> None:
    boat = sim.vehicle("motorboat", current=(0.3, 0.1))
    numbers = numbers_of(boat)
    numbers[CURRENT : CURRENT + 2], numbers[FORCE : FORCE + 2] = (0.3, 0.1), (20.0, -30.0)
    calm = calm_water(boat, numbers)
    _, scene = task_of_scene(load_scene("plan-boat-docking"))
    goal = replace(scene.goal, state=calm.state_at_node(scene.goal.state.node))
    task = replace(
        scene,
        start=calm.state_of((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        goal=goal,
        duration_s=25.0,
        free_duration=(10.0, 60.0),
        effort_scale={},
    )
    plan = sim.plan(calm, task, starts=4)
    assert plan.solved
    flown = sim.simulate(
        calm,
        plan.integrator,
        step=plan.step_s,
        duration=plan.duration_s,
        initial=plan.task.start,
        controls=plan.controls[:-1],
    )
    assert np.abs(flown.nodes[-1] - plan.motion.nodes[-1]).max() < 1e-8
    assert flown.nodes[-1, 1:3] == pytest.approx(goal.state.node[1:3], abs=1e-6)


def test_what_floats_is_refused_by_name_of_what_is_planned_instead() -> None:
    boat = sim.vehicle("motorboat")
    with pytest.raises(sim.InputError, match=r"floats on waves.*calm_water") as refusal:
        sim.plan(boat, Task(boat.state(), Goal(boat.state(x=(5.0, 0.0, 0.0))), 5.0))
    assert "\n" not in str(refusal.value)
