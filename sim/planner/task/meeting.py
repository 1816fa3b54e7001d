"""States in which a vehicle is where it is wanted: brought to a pose, and at goals that move; tasks held still."""

from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.groups.se3 import pose as pose_of
from sim.groups.se3 import position_of, rotation_of
from sim.planner.task.bodies import (
    at_random,
    body_pose,
    body_poses,
    joint_ranges,
    own_space,
    places,
    planar,
    positions,
    stands,
    structure_of,
    velocities,
)
from sim.planner.task.task import GOAL_MOVES, Task, motion_of
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import State

_SAMPLES = 25
_LOOKED_AT, _UNMOVED = 8, 1e-6
"""Configurations at random, and how little moves in all of them what joints do not move."""
_STEPS, _DAMPING, _FARTHEST = 12, 1e-4, 0.5


def brought_to(
    vehicle: Vehicle, node: np.ndarray, place_w: np.ndarray, R_wb: np.ndarray | None = None
) -> np.ndarray:
    """The node with all of its places moved along; where it has none, as near as it comes by turning, joints within
    their limits (velocities stay as they are). R_wb: (3, 3) to which its main body is to be turned, too."""
    node = node.copy()
    written = places(vehicle)
    if written:
        by_w = place_w - positions(vehicle, node)[0]
        for at in written:
            node[at] += by_w
        return node
    R = np.eye(3) if R_wb is None else R_wb
    rows, T_wb = 3 if R_wb is None else 6, np.eye(4)
    T_wb[:3, :3], T_wb[:3, 3] = R, place_w
    ranges = [(vehicle.space.columns.index(name), *ends) for name, ends in joint_ranges(vehicle).items()]
    for _ in range(_STEPS if R_wb is None else 4 * _STEPS):
        d = _towards(vehicle, node, T_wb, _missing(vehicle, node, T_wb)[0][:rows])
        d *= min(1.0, _FARTHEST / max(float(np.abs(d).max()), 1e-12))
        if isinstance(vehicle, ClosedVehicle):
            pose = vehicle.node_layout.pose
            node[pose] = vehicle.closure.led(node[pose], vehicle.leading, d[vehicle.leading])
            continue
        moved = np.zeros(vehicle.space.dim)
        moved[: len(d)] = d
        node = _missing(vehicle, node, T_wb, moved)[2]
        for i, low, high in ranges:
            node[i] = min(max(node[i], low), high)
    return node


def _missing(
    vehicle: Vehicle, node: np.ndarray, T_wb: np.ndarray, d: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `_moved` tells of a node, displaced by d where that is given."""
    d = np.zeros(vehicle.space.dim) if d is None else d
    p, (R, x) = vehicle.parameter_vector, (T_wb[:3, :3], T_wb[:3, 3])
    miss, slope, there = (np.array(found) for found in _moved(structure_of(vehicle))(node, d, p, x, R))
    return miss.ravel(), slope, there.ravel()


def _towards(vehicle: Vehicle, node: np.ndarray, T_wb: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Displacement by which a node's main body, at T_wb or near, moves by `wanted`: (3,) of its place, or (6,) with how
    it turns about the world's axes. Of trees (nv,), with loops kept closed."""
    slope = _missing(vehicle, node, T_wb)[1][: len(wanted)]
    slope = slope[:, : vehicle.tree.nv] if isinstance(vehicle, ArticulatedVehicle) else slope
    by_leading = np.eye(slope.shape[1])
    if isinstance(vehicle, ClosedVehicle):
        by_leading = vehicle.following(node[vehicle.node_layout.pose])
    slope = slope @ by_leading
    return by_leading @ slope.T @ np.linalg.solve(slope @ slope.T + _DAMPING * np.eye(len(wanted)), wanted)


@lru_cache(maxsize=16)
def fixed_directions(vehicle: ArticulatedVehicle) -> tuple[np.ndarray, np.ndarray]:
    """Directions (k, 3) in the world along which no joint moves the tool, and axes (m, 3) about which none turns it."""
    rng, node, nv = np.random.default_rng(0), vehicle.default_state().node.copy(), vehicle.tree.nv
    nq, slopes = vehicle.tree.nq, []
    for _ in range(_LOOKED_AT):
        node[:nq] = at_random(vehicle, rng, np.full(nq, -1.0), np.ones(nq))
        slopes.append(_missing(vehicle, node, body_poses(vehicle, node)[0])[1][:, :nv])
    found = []
    for rows in np.split(np.concatenate(slopes, axis=1), 2):
        across, lengths, _ = np.linalg.svd(rows)
        found.append(across.T[lengths < _UNMOVED])
    return found[0], found[1]


@lru_cache(maxsize=16)
def _moved(structure: Structure) -> ca.Function:
    """(node, displacement, parameters, place and rotation that are wanted of the main body) -> by what they are missed
    (6,), how a displacement makes up for that, the node as moved."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    d, q = ca.SX.sym("d", vehicle.space.dim), vehicle.symbols(p)
    there = vehicle.space.displaced(node, d)
    still = [i for i in range(node.shape[0]) if i not in {k for k, _ in velocities(vehicle)}]
    T, place, R = body_pose(vehicle, there, q), ca.SX.sym("x", 3), ca.SX.sym("R", 3, 3)
    turn = sum((ca.cross(T[:3, i], R[:, i]) for i in range(3)), ca.SX.zeros(3)) / 2
    miss = ca.vertcat(place - T[:3, 3], turn)
    slope = ca.substitute(-ca.jacobian(miss, d), d, ca.SX.zeros(d.shape[0]))
    here = ca.SX(node)
    here[still] = there[still]
    found = [ca.substitute(miss, d, ca.SX.zeros(d.shape[0])), ca.densify(slope), here]
    return ca.Function("moved", [node, d, p, place, R], found, {"cse": True})


def held(vehicle: Vehicle, task: Task) -> Task:
    """A task of the same ends in which nothing moves: the goal is where it will be, obstacles where they are when one
    who goes there straight comes nearest to them. Itself where nothing moves."""
    if not task.motions:
        return task
    goal = motion_of(task, GOAL_MOVES)
    if goal is not None:
        task = replace(task, goal=replace(task.goal, state=goal_at(vehicle, task, task.duration_s)))
    shares = np.linspace(0.0, 1.0, _SAMPLES)
    ends = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    way = ends[0] + shares[:, None] * (ends[1] - ends[0])
    obstacles = list(task.obstacles)
    for i, obstacle in enumerate(obstacles):
        k = motion_of(task, obstacle.name)
        if k is None:
            continue
        T = task.motions[k].poses(shares * task.duration_s)
        there = T[:, :3, :3] @ np.array(obstacle.middle_w) + T[:, :3, 3]
        away = (there - way)[:, : 2 if planar(vehicle) else 3]
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
    node, slope = task.goal.state.node, (after - before) / (2 * _APART_S)
    if own_space(vehicle):
        return vehicle.state_at_node(_brought_along(vehicle, task, here, slope))
    found = _carried(vehicle)(node, here, slope)
    carried = node.copy()
    carried[states.pose], carried[states.velocity] = (np.array(x).ravel() for x in found)
    return vehicle.state_at_node(carried)


_APART_S = 1e-4


def _brought_along(vehicle: Vehicle, task: Task, M: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The goal's node with its main body where M (4, 4) takes it, and joints moving as that goes on with `slope`."""
    T, turned = body_poses(vehicle, task.goal.state.node)[0], task.goal.rotation != "free"
    there = M @ T
    node = brought_to(vehicle, task.goal.state.node, there[:3, 3], there[:3, :3] if turned else None)
    if not isinstance(vehicle, ArticulatedVehicle) or task.goal.velocity == "free":
        return node
    hat = slope[:3, :3] @ M[:3, :3].T
    wanted = np.r_[(slope @ T)[:3, 3], hat[2, 1], hat[0, 2], hat[1, 0]]
    node[vehicle.node_layout.velocity] = _towards(vehicle, node, there, wanted[: 6 if turned else 3])
    return node


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
    R = rotation_of(pose)
    turned = M[:3, :3] @ R
    hat = turned.T @ slope[:3, :3] @ R
    omega = ca.vertcat(hat[2, 1] - hat[1, 2], hat[0, 2] - hat[2, 0], hat[1, 0] - hat[0, 1]) / 2
    if stands(vehicle):
        return ca.vec(turned), own + omega
    x = position_of(pose)
    v_b = turned.T @ (slope[:3, :3] @ x + slope[:3, 3])
    return pose_of(turned, M[:3, :3] @ x + M[:3, 3]), own + ca.vertcat(omega, v_b)
