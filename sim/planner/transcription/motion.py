"""An iterate as a motion in SI units."""

from dataclasses import dataclass

import numpy as np

from sim.planner.task.bodies import planar
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.base import Vehicle


@dataclass(frozen=True)
class PlannedMotion:
    """Nodes and inputs of an iterate."""

    step_s: float
    nodes: np.ndarray
    """(N+1, node size)."""
    inputs: np.ndarray
    """(N+1, planned inputs)."""
    controls: np.ndarray
    """(N+1, n_controls)."""
    free: np.ndarray | None = None
    """(free parameters,) that were found; None: as the task has them."""


def motion(transcription: Transcription, w: np.ndarray, p: np.ndarray) -> PlannedMotion:
    """Read an iterate in SI units."""
    t, model = transcription, transcription.model
    y, z, a = t.rows_of(w, p)
    h = t.step_s(w, p)
    nodes = t.nodes.conversions.nodes(y, z, a, t.vehicle_numbers(w, p), h)
    if model.closed is not None:
        at, closure = model.closed.node_layout, model.closed.closure
        for node in nodes:
            node[at.velocity] = closure.tangent(node[at.pose], node[at.velocity])
    return PlannedMotion(h, _unwrapped(model.vehicle, nodes), a, model.input_map.controls(a), t.free(w))


def _unwrapped(vehicle: Vehicle, nodes: np.ndarray) -> np.ndarray:
    """Angles of planar poses without jumps."""
    if planar(vehicle):
        heading = vehicle.group.columns.index("heading_rad")
        nodes[:, heading] = np.unwrap(nodes[:, heading])
    return nodes
