"""Guesses for what follows a leader by a law of its own: the motion that comes of it where the leader goes the way."""

import casadi as ca
import numpy as np

from sim.planner.task.poses import positions
from sim.planner.task.task import Task, control_limits
from sim.planner.transcription.model import NodeModel
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.homogeneous import Leader, has_leader


def follows(model: NodeModel, vehicle: Vehicle) -> bool:
    """It has a leader, and a step of the method has no unknowns to solve for."""
    return has_leader(vehicle) and not model.unknowns


def following(
    model: NodeModel, vehicle: Vehicle, task: Task, nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Nodes (N+1, node size) and inputs (N+1, size) of a motion that obeys the equations and its inputs' ranges.

    The leader's velocity is that of `nodes` (N+1, node size), on which all else is as it should be rather than as the
    law has it; the motion ends near the goal, not at it. None where the law does not lead along the way, as with steps
    that are too long for it.
    """
    inputs = _leading(vehicle, task, nodes)
    y, z, still = ca.SX.sym("y", model.scheme.y.shape[0]), ca.SX(0, 1), model.scheme.inputs.w.shape[0]
    a, p, h = ca.SX.sym("a", model.input_map.size), ca.SX.sym("p", vehicle.parameter_count), ca.SX.sym("h")
    start = ca.SX.sym("start", nodes.shape[1])
    _, after, node, begin, _ = model.step(y, z, a, ca.SX(still, 1), p, h, start)
    step = ca.Function("step", [y, a, p, h, start], [after, node, begin])
    first, numbers, h_s = task.start.node, vehicle.parameter_vector, task.duration_s / (len(nodes) - 1)
    state = np.array(step(np.zeros(y.shape[0]), inputs[0], numbers, h_s, first)[2]).ravel()
    moved = np.empty_like(nodes)
    for k, row in enumerate(inputs):
        after_k, node_k, _ = step(state, row, numbers, h_s, first)
        moved[k] = np.array(node_k).ravel()
        state = np.array(after_k).ravel()
    if not np.isfinite(moved).all():
        return None
    way = positions(vehicle, nodes)
    length_m = max(1.0, float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum()))
    astray_m = np.linalg.norm(positions(vehicle, moved) - way, axis=1).max()
    return (moved, inputs) if astray_m < length_m else None


def _leading(vehicle: Vehicle, task: Task, nodes: np.ndarray) -> np.ndarray:
    """(N+1, size) inputs that change the leader's velocity from node to node as it does, within their ranges."""
    leader = Leader.of(vehicle)
    wanted = np.diff(nodes[:, leader.velocity], axis=0) / (task.duration_s / (len(nodes) - 1))
    low, high = control_limits(vehicle, task.limits).T
    inputs = np.zeros((len(nodes), len(vehicle.controls)))
    for k, change in enumerate(wanted):
        inputs[k] = np.clip(leader.controls(nodes[k], change), low, high)
    return inputs
