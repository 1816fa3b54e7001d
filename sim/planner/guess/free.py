"""Guesses for what moves in all directions: along the way, turning evenly."""

from typing import Literal

import numpy as np

from sim.groups.numeric import rotation_exp, rotation_log
from sim.planner.task.bodies import planar, stands
from sim.planner.task.inputs import ThrustVectorMap, input_map_of
from sim.planner.task.poses import (
    arcs,
    heading_rad,
    planar_poses,
    positions,
    rotation_wb,
    spatial_poses,
    turn_rad,
    wrapped,
)
from sim.planner.task.task import Task
from sim.vehicles.forms.base import Vehicle

_RIGHTING = 0.7
"""Share of the highest turn rate at which a guess turns upright."""


Heading = Literal["even", "ahead", "astern", "around"]
"""On a plane: turning evenly, facing along the way or against it, turning evenly the longer way around."""
_ENDS = 6.0
"""Of the way's headings, in this part of the time at each end the given one comes in."""


def free_motion(vehicle: Vehicle, task: Task, places: np.ndarray, heading: Heading = "even") -> np.ndarray:
    """(N+1, node size): poses at places (N+1, 3), turning evenly from the start's rotation to the goal's or as told.

    What is held up by its lift rights itself first: thrown, it falls until it does.
    """
    steps = len(places) - 1
    s = np.linspace(0.0, 1.0, steps + 1)
    if planar(vehicle):
        poses = planar_poses(_headings(task, places, s, heading), places)
    else:
        R = _rotations(vehicle, task, s)
        poses = _facing(vehicle, R, places) if stands(vehicle) else spatial_poses(R, places)
    return nodes_of_poses(vehicle, poses, task.duration_s / steps)


def _headings(task: Task, places: np.ndarray, s: np.ndarray, heading: Heading) -> np.ndarray:
    """(N+1,) continuous, at shares s of the time."""
    a, free = heading_rad(task.start), task.goal.rotation == "free"
    turn = 0.0 if free else turn_rad(task)
    if heading == "around":
        turn -= np.copysign(2.0 * np.pi, turn)
    if heading in ("even", "around"):
        return np.asarray(a + _paced_turn(s) * turn)
    step = np.gradient(places[:, :2], axis=0)
    along = np.unwrap(np.arctan2(step[:, 1], step[:, 0]) + (np.pi if heading == "astern" else 0.0))
    along += a + wrapped(along[0] - a) - along[0]
    early, late = np.clip(1.0 - _ENDS * s, 0.0, 1.0) ** 2, np.clip(_ENDS * (s - 1.0) + 1.0, 0.0, 1.0) ** 2
    along -= early * (along[0] - a)
    # The way may wind, too: what is left to turn is the least that ends at the goal's heading, or at its full turns.
    left = a + turn - along[-1]
    return along if free else along + late * (left if abs(turn) > np.pi else wrapped(left))


def _facing(vehicle: Vehicle, R: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(n, 9) poses about a fixed point: rotations (n, 3, 3) turned on, so that the main body comes towards places."""
    poses = R.transpose(0, 2, 1).reshape(-1, 9)
    here = positions(vehicle, poses)
    axes = np.cross(here, places)
    sine, cosine = np.linalg.norm(axes, axis=1), np.sum(here * places, axis=1)
    turn = np.arctan2(sine, cosine) * (sine > 1e-6 * np.abs(cosine))
    R = rotation_exp(axes / np.maximum(sine, 1e-12)[:, None] * turn[:, None]) @ R
    return R.transpose(0, 2, 1).reshape(-1, 9)


def _rotations(vehicle: Vehicle, task: Task, s: np.ndarray) -> np.ndarray:
    """(N+1, 3, 3) at shares s of the time."""
    Ra, Rb = rotation_wb(task.start), rotation_wb(task.goal.state)
    righting = _to_upright(Ra)
    if isinstance(input_map_of(vehicle), ThrustVectorMap):
        takes_s = float(np.linalg.norm(righting)) / (_RIGHTING * task.limits.turn_radps)
        first = _turned(righting, _smooth(np.minimum(s * task.duration_s / max(takes_s, 1e-9), 1.0)))
        rest = _between(Ra @ first[-1], Rb) if task.goal.rotation in ("fixed", "within") else np.zeros(3)
        return Ra @ first @ _turned(rest, _paced_turn(s))
    turn = righting if task.goal.rotation == "upright" else _between(Ra, Rb)
    return Ra @ _turned(np.zeros(3) if task.goal.rotation == "free" else turn, _paced_turn(s))


def _between(Ra: np.ndarray, Rb: np.ndarray) -> np.ndarray:
    """Body rotation vector of the shortest turn from Ra to Rb."""
    return rotation_log(Ra.T @ Rb)


def _turned(vector: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotations by shares (n,) of a rotation vector."""
    return rotation_exp(np.outer(shares, vector))


def _smooth(s: np.ndarray) -> np.ndarray:
    """From 0 to 1, at rest at both ends."""
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def _paced_turn(s: np.ndarray) -> np.ndarray:
    """Like the pace along the way."""
    return 0.3 * s + 0.7 * _smooth(s)


def _to_upright(R_wb: np.ndarray) -> np.ndarray:
    """Body rotation vector that brings body z to the vertical."""
    up_b = R_wb.T @ np.array([0.0, 0.0, 1.0])
    axis = np.cross([0.0, 0.0, 1.0], up_b)
    sine = np.linalg.norm(axis)
    angle = np.arctan2(sine, up_b[2])
    if sine < 1e-9:
        return np.array([angle, 0.0, 0.0])
    return axis / sine * angle


def nodes_of_poses(vehicle: Vehicle, poses: np.ndarray, h: float) -> np.ndarray:
    """(N+1, node size) with the velocities that the poses ask for: means of the two arcs at a node."""
    xi = arcs(vehicle.group, poses[:-1], poses[1:]) / h
    velocity = np.concatenate([xi[:1], (xi[1:] + xi[:-1]) / 2, xi[-1:]])
    nodes = np.zeros((len(poses), vehicle.node_layout.size))
    nodes[:, vehicle.node_layout.pose] = poses
    nodes[:, vehicle.node_layout.velocity] = velocity
    return nodes
