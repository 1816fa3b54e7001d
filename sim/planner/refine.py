"""From a coarse plan to a finer grid: poses between nodes on the group, everything else linear in time."""

import casadi as ca
import numpy as np

from sim.planner.guess import variables
from sim.planner.plan import Motion
from sim.planner.task import Task
from sim.planner.transcription import Transcription
from sim.vehicles.base import Vehicle


def resampled(vehicle: Vehicle, move: Motion, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (steps+1, node size) and inputs (steps+1, planned inputs) of a motion in equal times."""
    n = len(move.nodes) - 1
    at = np.linspace(0.0, n, steps + 1)
    k = np.minimum(at.astype(int), n - 1)
    share = at - k
    nodes = move.nodes[k] * (1 - share[:, None]) + move.nodes[k + 1] * share[:, None]
    where = vehicle.node_layout.pose
    nodes[:, where] = _on_arcs(vehicle, move.nodes[k][:, where], move.nodes[k + 1][:, where], share)
    inputs = move.inputs[k] * (1 - share[:, None]) + move.inputs[k + 1] * share[:, None]
    return nodes, inputs


def _on_arcs(vehicle: Vehicle, starts: np.ndarray, ends: np.ndarray, share: np.ndarray) -> np.ndarray:
    group = vehicle.group
    g, k, s = ca.SX.sym("g", group.pose_dim), ca.SX.sym("k", group.pose_dim), ca.SX.sym("s")
    arc = group.cay_inv(group.compose(group.inverse(g), k))
    part = ca.Function("part", [g, k, s], [group.compose(g, group.cay(s * arc))])
    return np.array(part.map(len(starts))(starts.T, ends.T, share[None])).T


def transferred(transcription: Transcription, vehicle: Vehicle, task: Task, move: Motion) -> np.ndarray:
    """Scaled variables of another transcription from a motion."""
    nodes, inputs = resampled(vehicle, move, transcription.shape.steps)
    return variables(
        transcription, vehicle, task, nodes, inputs, duration_s=move.step_s * (len(move.nodes) - 1)
    )
