"""Tasks in which something moves by itself: where goal and obstacles are at a moment, and such tasks held still."""

from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.groups.se3 import pose as pose_of
from sim.groups.se3 import position_of, rotation_of
from sim.planner.task.task import Task
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

GOAL_MOVES = "goal"
"""What a motion calls the goal; obstacles are called by their names."""
_SAMPLES = 25


def motion_of(task: Task, name: str) -> int | None:
    """Which of a task's motions moves the goal or the obstacles of a name; None: none."""
    return next((k for k, motion in enumerate(task.motions) if name and name in motion.moves), None)


def is_moving(task: Task, obstacle_index: int) -> bool:
    """Whether an obstacle moves by itself."""
    return motion_of(task, task.obstacles[obstacle_index].name) is not None


def brought_back(task: Task, obstacle_index: int, places_w: np.ndarray, time_s: np.ndarray) -> np.ndarray:
    """(..., n, 3) places at moments (n,), seen from an obstacle that moves: where they would be beside it as the task
    has it."""
    k = motion_of(task, task.obstacles[obstacle_index].name)
    if k is None:
        return places_w
    T = task.motions[k].poses(time_s)
    return np.asarray(np.einsum("nji,...nj->...ni", T[:, :3, :3], places_w - T[:, :3, 3]))


def held(vehicle: Vehicle, task: Task) -> Task:
    """A task of the same ends in which nothing moves: the goal is where it will be, obstacles where they are when one
    who goes there straight comes nearest to them. Itself where nothing moves."""
    if not task.motions:
        return task
    goal = motion_of(task, GOAL_MOVES)
    if goal is not None:
        task = replace(task, goal=replace(task.goal, state=goal_at(vehicle, task, task.duration_s)))
    shares = np.linspace(0.0, 1.0, _SAMPLES)
    flat = len(task.start.pose) == 3
    ends = [np.r_[s.pose[:-1, -1], 0.0][:3] for s in (task.start, task.goal.state)]
    way = ends[0] + shares[:, None] * (ends[1] - ends[0])
    obstacles = list(task.obstacles)
    for i, obstacle in enumerate(obstacles):
        k = motion_of(task, obstacle.name)
        if k is None:
            continue
        T = task.motions[k].poses(shares * task.duration_s)
        there = T[:, :3, :3] @ np.array(obstacle.middle_w) + T[:, :3, 3]
        away = (there - way)[:, : 2 if flat else 3]
        near = int(np.linalg.norm(away, axis=1).argmin())
        x, y, z = (there[near] - obstacle.middle_w).tolist()
        turn = float(np.arctan2(T[near, 1, 0], T[near, 0, 0]))
        obstacles[i] = obstacle.moved((x, y, z), obstacle.heading + turn)
    return replace(task, obstacles=tuple(obstacles), motions=())


def goal_at(vehicle: Vehicle, task: Task, time_s: float) -> State:
    """The goal's state at a moment, in motion with what carries it."""
    k = motion_of(task, GOAL_MOVES)
    if k is None:
        return task.goal.state
    states = vehicle.node_layout
    around = time_s + np.array([-1.0, 0.0, 1.0]) * _APART_S
    before, here, after = task.motions[k].poses(around)
    node = task.goal.state.node
    found = _carried(vehicle)(node, here, (after - before) / (2 * _APART_S))
    carried = node.copy()
    carried[states.pose], carried[states.velocity] = (np.array(x).ravel() for x in found)
    return vehicle.state_at_node(carried)


_APART_S = 1e-4


@lru_cache(maxsize=16)
def _carried(vehicle: Vehicle) -> ca.Function:
    node, M, slope = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("M", 4, 4), ca.SX.sym("dM", 4, 4)
    return ca.Function("carried", [node, M, slope], list(carried(vehicle, node, M, slope)))


def carried(vehicle: Vehicle, node: ca.SX, M: ca.SX, slope: ca.SX) -> tuple[ca.SX, ca.SX]:
    """(flat pose, velocities) of a node that is carried along by M (4, 4), whose derivative by time is `slope`."""
    at = vehicle.node_layout
    pose, own = node[at.pose], node[at.velocity]
    if vehicle.group.turns == 1:
        heading, x, y = (pose[i] for i in range(3))
        turn = ca.atan2(M[1, 0], M[0, 0])
        place = M[:2, :2] @ ca.vertcat(x, y) + M[:2, 3]
        omega = M[0, 0] * slope[1, 0] - M[1, 0] * slope[0, 0]
        v_w = slope[:2, :2] @ ca.vertcat(x, y) + slope[:2, 3]
        c, s = ca.cos(heading + turn), ca.sin(heading + turn)
        v_b = ca.vertcat(c * v_w[0] + s * v_w[1], -s * v_w[0] + c * v_w[1])
        return ca.vertcat(heading + turn, place), own + ca.vertcat(omega, v_b)
    R, x = rotation_of(pose), position_of(pose)
    turned = M[:3, :3] @ R
    hat = turned.T @ slope[:3, :3] @ R
    omega = ca.vertcat(hat[2, 1] - hat[1, 2], hat[0, 2] - hat[2, 0], hat[1, 0] - hat[0, 1]) / 2
    v_b = turned.T @ (slope[:3, :3] @ x + slope[:3, 3])
    return pose_of(turned, M[:3, :3] @ x + M[:3, 3]), own + ca.vertcat(omega, v_b)
