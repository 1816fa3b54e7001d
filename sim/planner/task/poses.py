"""Headings, rotations and places of states and nodes, flat poses made of them, and arcs between poses on the group."""

from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.groups import SE2, LieGroup
from sim.planner.task.bodies import body_poses, placed_by_bodies, planar
from sim.planner.task.moving import GOAL_MOVES, motion_of
from sim.planner.task.task import Task
from sim.spaces import Space
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

_HEADING = SE2.columns.index("heading_rad")
_FULL_TURN_RAD = 2.0 * np.pi


def heading_rad(state: State) -> float:
    """Of what moves on a plane; turns are counted."""
    return float(state.node[state.layout.pose][_HEADING])


def counts_turns(vehicle: Vehicle, task: Task) -> bool:
    """Whether the goal's heading is a full turn or more away, which is then to be made."""
    if planar(vehicle) and _returns(task):
        return turn_rad(task) != 0.0
    if not planar(vehicle) or task.goal.rotation == "free" or motion_of(task, GOAL_MOVES) is not None:
        return False
    return abs(heading_rad(task.goal.state) - heading_rad(task.start)) > _FULL_TURN_RAD - 1e-6


def once_around(task: Task) -> Task:
    """With the goal's heading nearest to the start's, where that has been measured and counts turns of its past."""
    group = task.start.group
    if group is None or group.turns != 1:
        return task
    goal, at = task.goal.state, task.start.layout.pose.start + _HEADING
    node = goal.node.copy()
    node[at] = task.start.node[at] + wrapped(node[at] - task.start.node[at])
    return replace(task, goal=replace(task.goal, state=replace(goal, node=node)))


def turns_missed(vehicle: Vehicle, task: Task, nodes: np.ndarray) -> bool:
    """Whether a motion (N+1, node size) without jumps of its heading ends another number of full turns from the start
    than the goal's heading counts: the solver's equations know it by its sine and cosine alone."""
    if not counts_turns(vehicle, task):
        return False
    at = vehicle.node_layout.pose.start + _HEADING
    made = nodes[-1, at] - nodes[0, at]
    return bool(abs(made - turn_rad(task)) > np.pi)


def turn_rad(task: Task) -> float:
    """From the start's heading to the goal's on a plane: the shorter way around, or as many full turns as it says."""
    turn = heading_rad(task.goal.state) - heading_rad(task.start)
    if _returns(task):
        return _FULL_TURN_RAD * round(turn / _FULL_TURN_RAD)
    return turn if abs(turn) > _FULL_TURN_RAD - 1e-6 else wrapped(turn)


def _returns(task: Task) -> bool:
    """Whether it ends with the heading that it begins with, after as many full turns as the goal says."""
    return bool({"heading_rad", "pose"} & set(task.periodic))


def wrapped(angle_rad: float) -> float:
    """The same direction, from -pi to pi."""
    return float((angle_rad + np.pi) % (2 * np.pi) - np.pi)


def planar_pose(state: State) -> np.ndarray:
    """(3,) heading, x, y."""
    return np.r_[heading_rad(state), place(state)]


def place(state: State) -> np.ndarray:
    """(2,) on a plane, (3,) in space, m."""
    assert state.group is not None
    return state.node[state.layout.pose][state.group.position]


def shifted(state: State, by_w: np.ndarray) -> State:
    """With its place moved by (2,) on a plane, (3,) in space, m."""
    assert state.group is not None
    node = state.node.copy()
    node[state.layout.pose][state.group.position] += by_w
    return replace(state, node=node)


def rotation_wb(state: State) -> np.ndarray:
    """(3, 3), in space."""
    return state.pose[:3, :3]


def positions(vehicle: Vehicle, nodes: np.ndarray) -> np.ndarray:
    """(n, 3) world positions of flat nodes, of their main body; on a plane z = 0."""
    if placed_by_bodies(vehicle):
        return body_poses(vehicle, nodes)[:, :3, 3]
    places = np.atleast_2d(nodes)[:, vehicle.group.position]
    if not planar(vehicle):
        return places
    out = np.zeros((len(places), 3))
    out[:, :2] = places
    return out


def planar_poses(headings: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(n, 3) flat poses of headings (n,) at places (n, 2 or 3), whose height does not count."""
    return np.c_[headings, places[:, :2]]


def spatial_poses(R_wb: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(n, 12) flat poses of rotations (n, 3, 3) at places (n, 3)."""
    return np.c_[R_wb.transpose(0, 2, 1).reshape(-1, 9), places]


@lru_cache(maxsize=16)
def _arc(where: LieGroup | Space) -> ColumnKernel:
    size = _sizes(where)[0]
    g, k = ca.SX.sym("g", size), ca.SX.sym("k", size)
    if isinstance(where, Space):
        return _kernel([g, k], where.difference(g, k))
    return _kernel([g, k], where.cay_inv(where.compose(where.inverse(g), k)))


@lru_cache(maxsize=16)
def _point(where: LieGroup | Space) -> ColumnKernel:
    size, dim = _sizes(where)
    g, xi, s = ca.SX.sym("g", size), ca.SX.sym("xi", dim), ca.SX.sym("s")
    if isinstance(where, Space):
        return _kernel([g, xi, s], where.displaced(g, s * xi))
    return _kernel([g, xi, s], where.compose(g, where.cay(s * xi)))


def _sizes(where: LieGroup | Space) -> tuple[int, int]:
    """Of a point and of a displacement."""
    return (where.size, where.dim) if isinstance(where, Space) else (where.pose_dim, where.dim)


def _kernel(inputs: list[ca.SX], expression: ca.SX) -> ColumnKernel:
    return ColumnKernel(ca.Function("arcs", inputs, [ca.densify(expression)], {"cse": True}))


def arcs(where: LieGroup | Space, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, dim): displacements from starts to ends, flat poses (n, pose size); on a group start cay(xi) = end."""
    return _arc(where).rows(starts, ends)


def points(where: LieGroup | Space, starts: np.ndarray, xi: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, pose size): as far on the arcs as the shares (n,) say."""
    return _point(where).rows(starts, xi, share)


def between(where: LieGroup | Space, poses: np.ndarray, per_step: int) -> np.ndarray:
    """(N per_step + 1, pose size): poses (N+1, pose size) and equally many on every arc between them."""
    xi = arcs(where, poses[:-1], poses[1:])
    share = np.tile(np.arange(per_step) / per_step, len(xi))
    fine = points(where, np.repeat(poses[:-1], per_step, axis=0), np.repeat(xi, per_step, axis=0), share)
    return np.concatenate([fine, poses[-1:]])
