"""From a plan to another grid, or to other times: poses between nodes on the group, everything else linear in time."""

import numpy as np

from sim.planner.guess.variables import variables
from sim.planner.task.bodies import arc_space, velocities
from sim.planner.task.poses import arcs, points
from sim.planner.task.task import Task
from sim.planner.transcription.motion import Motion
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.base import Vehicle


def resampled(vehicle: Vehicle, move: Motion, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (m, node size) and inputs (m, planned inputs) of a motion at shares (m,) of its time, in equal times."""
    n, at = len(move.nodes) - 1, vehicle.node_layout
    where = n * shares
    k = np.minimum(where.astype(int), n - 1)
    share = where - k
    nodes = move.nodes[k] * (1 - share[:, None]) + move.nodes[k + 1] * share[:, None]
    starts = move.nodes[k][:, at.pose]
    xi = arcs(arc_space(vehicle), starts, move.nodes[k + 1][:, at.pose])
    nodes[:, at.pose] = points(arc_space(vehicle), starts, xi, share)
    pace = (len(shares) - 1) * np.gradient(shares)[:, None]
    nodes[:, [i for i, _ in velocities(vehicle)]] *= pace
    nodes[:, at.shape_velocity] *= pace
    inputs = move.inputs[k] * (1 - share[:, None]) + move.inputs[k + 1] * share[:, None]
    return nodes, inputs


def transferred(
    transcription: Transcription, vehicle: Vehicle, task: Task, move: Motion, shares: np.ndarray | None = None
) -> np.ndarray:
    """Scaled variables of another transcription from a motion, at shares (N+1,) of its time; None: as it is."""
    if shares is None:
        shares = np.linspace(0.0, 1.0, transcription.shape.steps + 1)
    nodes, inputs = resampled(vehicle, move, shares)
    duration_s = move.step_s * (len(move.nodes) - 1)
    # Arcs between coarse nodes turn in jumps; momenta that lead along them would, too.
    return variables(transcription, vehicle, task, nodes, inputs, duration_s=duration_s, led=False)


def sooner_or_later(steps: int, bows: int, nodes: float) -> np.ndarray:
    """(steps+1,) shares of the time: all is done sooner (or later, below zero) by so many nodes in the middle; with two
    bows in the first half, and later in the second."""
    even = np.linspace(0.0, 1.0, steps + 1)
    return np.asarray(np.clip(even + nodes / steps * np.sin(bows * np.pi * even), 0.0, 1.0))
