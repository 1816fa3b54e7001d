"""What a plan may go on from: another plan, a trajectory or a take, or arrays of nodes and controls."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.planner.guess.variables import transferred
from sim.planner.result.plan import Plan
from sim.planner.result.record import PlanRecord
from sim.planner.solvers.backends import Result
from sim.planner.task.inputs import input_map_of
from sim.planner.task.task import Task
from sim.planner.task.waypoints import kept_times, with_times
from sim.planner.transcription.motion import PlannedMotion
from sim.planner.transcription.transcription import Transcription
from sim.platform.errors import InputError, array_of, numbers, quote
from sim.steppers.trajectory import Trajectory
from sim.vehicles.forms.base import Vehicle

_ALLOWED = "a plan, a trajectory, a take, arrays (nodes, controls), or None"


@dataclass(frozen=True, eq=False)
class WarmMotion:
    """A motion of the vehicle, which need not do the task."""

    step_s: float
    nodes: np.ndarray
    """(M+1, node size)."""
    controls: np.ndarray
    """(M+1, n_controls)."""


Warm = Plan | PlanRecord | WarmMotion


def checked_warm(warm: Any, vehicle: Vehicle, task: Task) -> Warm | None:
    """Raises InputError for what no plan goes on from."""
    if warm is None or isinstance(warm, Plan | PlanRecord):
        if warm is not None and warm.vehicle.name != vehicle.name:
            raise InputError(f"warm: a plan of {warm.vehicle.name}; allowed: one of {vehicle.name}")
        return warm
    size, inputs = vehicle.node_layout.size, len(vehicle.controls)
    if isinstance(warm, tuple | list) and len(warm) == 2:
        nodes = numbers("warm: nodes", warm[0])
        if nodes.ndim != 2 or nodes.shape[1] != size or len(nodes) < 2:
            raise InputError(f"warm: nodes are {nodes.shape}; allowed: (M+1, {size})")
        controls = numbers("warm: controls", warm[1])
        if controls.shape not in ((len(nodes), inputs), (len(nodes) - 1, inputs)):
            raise InputError(
                f"warm: controls are {controls.shape}; allowed: ({len(nodes)}, {inputs}), or one row less"
            )
        return _motion(task.duration_s / (len(nodes) - 1), nodes, controls)
    flown = getattr(warm, "trajectory", warm)
    if not isinstance(flown, Trajectory):
        raise InputError(f"warm = {quote(warm)} is refused; allowed: {_ALLOWED}")
    if flown.vehicle.name != vehicle.name:
        raise InputError(f"warm: a motion of {flown.vehicle.name}; allowed: one of {vehicle.name}")
    whole = np.isfinite(flown.nodes).all(axis=1)
    count = int(whole.argmin()) if not whole.all() else len(whole)
    if count < 2:
        raise InputError("warm: a motion that diverged at once; allowed: one of a step or more")
    return _motion(
        flown.step_s,
        array_of("warm: nodes", flown.nodes[:count], (count, size)),
        array_of("warm: controls", flown.controls[: count - 1], (count - 1, inputs)),
    )


def _motion(step_s: float, nodes: np.ndarray, controls: np.ndarray) -> WarmMotion:
    if len(controls) < len(nodes):
        controls = np.concatenate([controls, controls[-1:]])
    return WarmMotion(float(step_s), np.ascontiguousarray(nodes), np.ascontiguousarray(controls))


def resumed(t: Transcription, warm: Warm, vehicle: Vehicle, task: Task) -> tuple[Task, Result]:
    """The task with its waypoints' times, and the motion on the task's grid, without multipliers.

    Waypoints that are dragged keep the times they had; others get those of the motion's nearest nodes.
    """
    inputs, planned = input_map_of(vehicle).planned(warm.controls), not isinstance(warm, WarmMotion)
    nodes = warm.motion.nodes if isinstance(warm, Plan) else warm.nodes
    found = warm.motion.free if isinstance(warm, Plan) else None
    # What was flown for longer or shorter is done in the task's time, unless that is free.
    step_s = warm.step_s if planned or task.free_duration else task.duration_s / (len(nodes) - 1)
    w = transferred(t, vehicle, task, PlannedMotion(step_s, nodes, inputs, warm.controls, found))
    before = warm.task if isinstance(warm, Plan | PlanRecord) else None
    timed = with_times(vehicle, kept_times(task, before or task), t.places(w))
    return timed, Result(
        w=w,
        lam_x=np.zeros(t.low.size),
        lam_g=np.zeros(t.row_low.size),
        cost=np.inf if isinstance(warm, WarmMotion) else warm.cost,
        violation=np.inf,
        defect=np.inf if isinstance(warm, WarmMotion) else warm.defect,
        kkt=np.inf,
        iterations=0,
        seconds=0.0,
        converged=False,
        word="",
        backend="",
        rough=True,
    )
