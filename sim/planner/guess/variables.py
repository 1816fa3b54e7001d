"""The transcription's variables that belong to nodes and inputs."""

import numpy as np

from sim.planner.task.poses import arcs
from sim.planner.task.task import Task
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
) -> np.ndarray:
    """Scaled variables of nodes (N+1, node size) and planned inputs (N+1, size), over the task's duration or another.

    Private states come from the integrator's own start, unknowns from its guess, or from the poses where they
    are body velocities, which closes all gaps of the poses. Where unknowns are no variables the momenta are then
    those that lead to such arcs; not `led`: those of the nodes' velocities.
    """
    t, h = transcription, (duration_s or task.duration_s) / transcription.shape.steps
    model, n = t.model, t.shape.steps
    p, convert = vehicle.parameter_vector, t.nodes.conversions
    y = convert.start(nodes, inputs, p, h)
    z = convert.guess(y, inputs, p, h)
    if model.unknown_is_velocity:
        poses = nodes[:, vehicle.node_layout.pose]
        xi = arcs(vehicle.group, poses[:-1], poses[1:]) / h
        z = np.concatenate([xi, nodes[-1:, vehicle.node_layout.velocity]])
        if model.eliminates and led:
            y[:n] = convert.led(y[:n], xi, inputs[:n], p, h)
    return assembled(t, y, z, inputs, h)


def assembled(t: Transcription, y: np.ndarray, z: np.ndarray, inputs: np.ndarray, h: float) -> np.ndarray:
    """Scaled variables of private states, unknowns and inputs, one row a node."""
    model, n = t.model, t.shape.steps
    remembered = (
        np.concatenate([inputs[:1], inputs[:-1]]) if t.shape.remembers_inputs else np.zeros((n + 1, 0))
    )
    states = [y[:, model.form.kept], remembered, np.full((n + 1, int(t.shape.free_time)), h)]
    slack = 0.1 * np.ones((n, model.controls.sizes["slack"]))
    free = z[:, : model.controls.sizes["z"]]
    running = np.concatenate([*[s[:n] for s in states], inputs[:n], free[:n], slack], axis=1)
    missing = t.last.v.shape[0] - model.state.size
    own = np.r_[inputs[n], free[n]] if model.ends_with_controls else np.zeros(0)
    last = np.r_[np.concatenate([s[n] for s in states]), own, 0.1 * np.ones(missing - own.size)]
    return t.join(running, last)
