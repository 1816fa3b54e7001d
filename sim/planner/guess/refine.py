"""From a coarse plan to a finer grid: poses between nodes on the group, everything else linear in time."""

import numpy as np

from sim.planner.guess.variables import variables
from sim.planner.task.geodesics import arcs, points
from sim.planner.task.task import Task
from sim.planner.transcription.motion import Motion
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.base import Vehicle


def resampled(vehicle: Vehicle, move: Motion, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (steps+1, node size) and inputs (steps+1, planned inputs) of a motion in equal times."""
    n = len(move.nodes) - 1
    at = np.linspace(0.0, n, steps + 1)
    k = np.minimum(at.astype(int), n - 1)
    share = at - k
    nodes = move.nodes[k] * (1 - share[:, None]) + move.nodes[k + 1] * share[:, None]
    where = vehicle.node_layout.pose
    starts = move.nodes[k][:, where]
    xi = arcs(vehicle.group, starts, move.nodes[k + 1][:, where])
    nodes[:, where] = points(vehicle.group, starts, xi, share)
    inputs = move.inputs[k] * (1 - share[:, None]) + move.inputs[k + 1] * share[:, None]
    return nodes, inputs


def transferred(transcription: Transcription, vehicle: Vehicle, task: Task, move: Motion) -> np.ndarray:
    """Scaled variables of another transcription from a motion."""
    nodes, inputs = resampled(vehicle, move, transcription.shape.steps)
    duration_s = move.step_s * (len(move.nodes) - 1)
    # Arcs between coarse nodes turn in jumps; momenta that lead along them would, too.
    return variables(transcription, vehicle, task, nodes, inputs, duration_s=duration_s, led=False)
