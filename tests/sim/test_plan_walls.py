"""Obstacles thinner than a step: a motion that leaps over one between two nodes is no plan."""

import dataclasses

import numpy as np
import pytest

from sim.planner import Box, Capsule, Sphere
from sim.planner.task.clearance import clearance
from sim.planner.task.task import Obstacle
from sim.planner.transcription.parameters import thickened
from tests.sim.plan_audit import broken
from tests.sim.planner_tasks import BOAT, CROSSING, PLANNER

ROUND = dataclasses.replace(CROSSING, duration_s=25.0, steps=24)


@pytest.mark.parametrize(
    "obstacle",
    [
        Box((5.0, 0.0, 0.0), (0.01, 4.0, 1.0), 0.0, "fence"),
        Box((5.0, 0.0, 0.0), (0.01, 4.0, 1.0), 0.3, "fence"),
        Capsule((5.0, -4.0, 0.0), (5.0, 0.5, 0.0), 0.02, "chain"),
        Sphere((5.0, 0.0, 0.0), 0.01, "pole"),
        Sphere((5.0, 0.0, 0.0), 1e-6, "needle"),
    ],
)
def test_what_is_thinner_than_a_step_is_gone_around(obstacle):
    plan = PLANNER.plan(BOAT, dataclasses.replace(ROUND, obstacles=(obstacle,)), time_limit_s=20.0, starts=1)
    assert plan.solved, plan.message
    assert not broken(plan)


def test_a_closed_fence_thinner_than_a_step_is_not_leapt_over_but_named():
    fence = Box((5.0, 0.0, 0.0), (0.01, 40.0, 1.0), 0.0, "fence")
    plan = PLANNER.plan(
        BOAT, dataclasses.replace(ROUND, steps=12, obstacles=(fence,)), time_limit_s=5.0, starts=1
    )
    assert plan.status == "infeasible"
    assert "fence" in plan.message


@pytest.mark.parametrize("half_m", [0.3, 0.03, 3e-3])
def test_clearance_sees_a_wall_however_thin_it_is(half_m):
    poses = np.stack([np.zeros(11), np.linspace(0.1, 9.7, 11), np.zeros(11)], axis=1)
    wall = Box((5.0, 0.0, 0.0), (half_m, 4.0, 1.0))
    found = clearance(BOAT, poses, dataclasses.replace(CROSSING, obstacles=(wall,)))
    assert found.by_obstacle[0] < -0.4 * half_m
    assert found.shortage_m.argmax() == 5


def test_obstacles_are_thickened_no_further_than_ends_and_waypoints_leave_room():
    near_goal = Box((9.5, 0.0, 0.0), (0.01, 1.0, 1.0))
    far = Box((5.0, 0.0, 0.0), (0.01, 1.0, 1.0))
    pole: Obstacle = Sphere((5.0, 5.0, 0.0), 0.01)
    ball: Obstacle = Sphere((5.0, -5.0, 0.0), 2.0)
    task = dataclasses.replace(CROSSING, steps=10, obstacles=(near_goal, far, pole, ball), clearance_m=0.1)
    first, second, third, fourth = thickened(BOAT, task, task.steps)
    assert 0.01 < first.half_thickness_m < 0.49 - task.clearance_m
    assert second.half_thickness_m > 1.0
    assert 0.3 < third.half_thickness_m < 1.0
    assert fourth == ball
