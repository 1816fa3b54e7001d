"""The transcription's variables that belong to a motion: of nodes and inputs, on this grid or another."""

import numpy as np

from sim.planner.task.bodies import arc_space, velocities
from sim.planner.task.numbers import start_of_free, with_free
from sim.planner.task.poses import arcs, points
from sim.planner.task.task import Task
from sim.planner.transcription.motion import PlannedMotion
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.base import Vehicle


def variables(
    transcription: Transcription,
    vehicle: Vehicle,
    task: Task,
    nodes: np.ndarray,
    inputs: np.ndarray,
    *,
    duration_s: float | None = None,
    led: bool = True,
    free: np.ndarray | None = None,
) -> np.ndarray:
    """Scaled variables of nodes (N+1, node size) and planned inputs (N+1, size), over the task's duration or another.

    Private states come from the integrator's own start, unknowns from its guess, or from the poses where they
    are body velocities, which closes all gaps of the poses. Where unknowns are no variables the momenta are then
    those that lead to such arcs; not `led`: those of the nodes' velocities.
    """
    t, h = transcription, (duration_s or task.duration_s) / transcription.shape.steps
    model, n = t.model, t.shape.steps
    free = start_of_free(vehicle, task) if free is None else free
    p, convert = with_free(vehicle, task, free)[0].parameter_vector, t.nodes.conversions
    y = convert.start(nodes, inputs, p, h)
    z = convert.guess(y, inputs, p, h)
    if model.unknown_is_velocity:
        poses = nodes[:, vehicle.node_layout.pose]
        xi = arcs(arc_space(vehicle), poses[:-1], poses[1:]) / h
        moving = np.concatenate([xi, nodes[-1:, vehicle.node_layout.velocity]])
        if model.closed is None:
            z = np.concatenate([moving, z[:, moving.shape[1] :]], axis=1)
        else:
            z = convert.closing(y, moving, p, h)
        if model.eliminates and led:
            y[:n] = convert.led(y[:n], xi, inputs[:n], p, h)
    return assembled(t, y, z, inputs, h, free)


def assembled(
    t: Transcription, y: np.ndarray, z: np.ndarray, inputs: np.ndarray, h: float, free: np.ndarray
) -> np.ndarray:
    """Scaled variables of private states, unknowns and inputs, one row a node, and of what is found with them."""
    model, n = t.model, t.shape.steps
    remembered = (
        np.concatenate([inputs[:1], inputs[:-1]]) if t.shape.remembers_inputs else np.zeros((n + 1, 0))
    )
    states = [y[:, model.form.kept], remembered, np.full((n + 1, int(t.shape.free_time)), h)]
    states.append(np.tile(free, (n + 1, 1)))
    states.append(np.tile(np.r_[states[0][0], states[1][0]][model.ends.periodic], (n + 1, 1)))
    slack = 0.1 * np.ones((n, model.controls.sizes["slack"]))
    free = z[:, : model.controls.sizes["z"]]
    planned = inputs[:, : model.controls.sizes["a"]]
    running = np.concatenate([*[s[:n] for s in states], planned[:n], free[:n], slack], axis=1)
    missing = t.last.v.shape[0] - model.state.size
    own = np.r_[planned[n], free[n]] if model.ends_with_controls else np.zeros(0)
    last = np.r_[np.concatenate([s[n] for s in states]), own, 0.1 * np.ones(missing - own.size)]
    return t.join(running, last)


def resampled(vehicle: Vehicle, move: PlannedMotion, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    transcription: Transcription,
    vehicle: Vehicle,
    task: Task,
    move: PlannedMotion,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """Scaled variables of another transcription from a motion, at shares (N+1,) of its time; None: as it is."""
    if shares is None:
        shares = np.linspace(0.0, 1.0, transcription.shape.steps + 1)
    nodes, inputs = resampled(vehicle, move, shares)
    duration_s = move.step_s * (len(move.nodes) - 1)
    # Arcs between coarse nodes turn in jumps; momenta that lead along them would, too.
    known = move.free if move.free is not None and len(move.free) == len(task.free_parameters) else None
    return variables(
        transcription, vehicle, task, nodes, inputs, duration_s=duration_s, led=False, free=known
    )


def sooner_or_later(steps: int, bows: int, nodes: float) -> np.ndarray:
    """(steps+1,) shares of the time: all is done sooner (or later, below zero) by so many nodes in the middle; with two
    bows in the first half, and later in the second."""
    even = np.linspace(0.0, 1.0, steps + 1)
    return np.asarray(np.clip(even + nodes / steps * np.sin(bows * np.pi * even), 0.0, 1.0))
