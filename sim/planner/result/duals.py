"""Multipliers of a plan by name: what the cost would fall by if a bound gave way, and rise by if a goal moved."""

from dataclasses import dataclass

import numpy as np

from sim.planner.solvers.backends import Result
from sim.planner.task.clearance import on_plane
from sim.planner.task.inputs import Constraint
from sim.planner.task.refusal import obstacle_part
from sim.planner.task.task import Task
from sim.planner.transcription.model import NodeModel, Slots
from sim.planner.transcription.transcription import Transcription
from sim.platform.errors import InputError
from sim.vehicles.forms.base import Vehicle

_INNER = ("dynamics", "start")
"""Equations of the method, whose multipliers are no prices of anything that a task says."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """What a plan was solved as, and what came of it."""

    vehicle: Vehicle
    task: Task
    problem: Transcription | None
    """None of a plan that was read from a file."""
    result: Result | None
    numbers: np.ndarray | None
    """Parameters of the problem."""
    solved: bool


def duals(plan: Optimum) -> dict[str, np.ndarray]:
    """Of inequalities (N+1,) at the nodes: cost by one unit of the bound, from 0. Of a goal's parts, one or more: the
    derivatives of the cost by what is asked for, in its own equations. Raises InputError for a plan without any."""
    if plan.problem is None or plan.result is None or not plan.result.lam_g.any():
        raise InputError(
            f"{plan.task.name}: this plan has no multipliers; allowed: one that is solved, not loaded"
        )
    t = plan.problem
    found: dict[str, np.ndarray] = {}
    goals: dict[str, list[float]] = {}
    steps = t.shape.steps
    for (k, row), lam in zip(t.row_labels(), plan.result.lam_g, strict=True):
        if row is None or row.name in _INNER:
            continue
        if row.goal and row.low == row.high:
            goals.setdefault(row.name, []).append(float(-lam / row.scale))
            continue
        price = found.setdefault(row_name(row, plan.vehicle, plan.task), np.zeros(steps + 1))
        price[k] += (-lam if row.low == row.high else abs(lam)) / row.scale
    for name, k, price_there in _of_variables(t, plan.result.lam_x):
        found.setdefault(name, np.zeros(steps + 1))[k] += price_there
    return found | {name: np.array(values) for name, values in goals.items()}


def row_name(row: Constraint, vehicle: Vehicle, task: Task) -> str:
    """By which a user finds a constraint: "obstacle east mast", "ground", "goal position", a control, one's own."""
    if row.obstacle is None:
        return row.name
    kind, number = row.obstacle
    same = [(i, o) for i, o in enumerate(task.obstacles) if on_plane(vehicle, o).kind == kind]
    return str(obstacle_part(same[number][1], same[number][0]))


def _of_variables(t: Transcription, lam_x: np.ndarray) -> list[tuple[str, int, float]]:
    """(name, node, price) of the bounds of variables that are finite."""
    names, last = _names(t.model, t.model.controls), _names(t.model, t.last_controls)
    n, size, out = t.shape.steps, t.stage_size, []
    for i in np.flatnonzero(np.isfinite(t.low) | np.isfinite(t.high)):
        k = min(int(i) // size, n)
        j = int(i) - k * size
        name, unscale = (names[j], t.running.unscale[j]) if k < n else (last[j], t.last.unscale[j])
        if name:
            out.append((name, k, float(abs(lam_x[i]) / unscale)))
    return out


def _names(model: NodeModel, controls: Slots) -> list[str]:
    """Of the variables of a node; empty: nothing that a task says."""
    columns = model.vehicle.space.columns
    y = [""] * model.state.sizes["y"]
    for i, column in enumerate(columns):
        found = model.component(i)
        if found is not None:
            y[found] = column
    free = [f"free {name}" for name, _, _ in model.shape.free_parameters]
    state = [
        *y,
        *model.input_map.names[: model.state.sizes["previous"]],
        *([""] * model.state.sizes["h"]),
        *free,
    ]
    at = model.vehicle.node_layout.velocity
    velocities = list(columns[at]) if model.unknown_is_velocity else []
    velocities += [""] * (controls.sizes["z"] - len(velocities))
    own = [*model.input_map.names[: controls.sizes["a"]], *velocities[: controls.sizes["z"]]]
    return [*state, *own, *[""] * (controls.size - len(own))]
