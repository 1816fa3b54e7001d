"""Plans as files: one `.npz` a plan with the other ways to do it, numbers as arrays, the rest as JSON within.

Tasks are plain values in it; their ground stays behind, since it belongs to the world. Nothing in it is executed.
"""

import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from sim.integrators import integrator
from sim.planner.result.active_constraints import ActiveConstraint
from sim.planner.result.plan import Violation
from sim.planner.result.record import PlanRecord
from sim.planner.task.task import Goal, Obstacle, Task
from sim.platform.errors import InputError, quote
from sim.platform.replacing import file_stem, replacing
from sim.platform.user_files import (
    ArraysFile,
    arrays_in,
    as_fields,
    as_type,
    json_value,
    refusals,
    require_finite,
)
from sim.shapes import KINDS
from sim.vehicles import known_vehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

_PLAIN = ("duration_s", "steps", "clearance_m", "effort_scale", "safety_range_m", "numbers", "name")


def task_values(task: Task) -> dict[str, Any]:
    """Everything of a task that is `plain`."""
    goal = {key: value for key, value in vars(task.goal).items() if key != "state"}
    return {
        **{key: getattr(task, key) for key in _PLAIN},
        "start": task.start.node.tolist(),
        "goal": {**goal, "state": task.goal.state.node.tolist()},
        "free_duration": task.free_duration,
        "weights": asdict(task.weights),
        "limits": asdict(task.limits),
        "obstacles": [_obstacle_values(obstacle) for obstacle in task.obstacles],
        "motions": [asdict(motion) for motion in task.motions],
        "waypoints": [asdict(waypoint) for waypoint in task.waypoints],
        "body": task.body,
        "bodies": task.bodies,
        "free_parameters": task.free_parameters,
        "start_within": task.start_within,
        "periodic": task.periodic,
    }


def task_of_values(values: Any, vehicle: Vehicle) -> Task:
    """The inverse of `task_values`. Raises InputError, KeyError or ValueError for what is no task of the vehicle."""
    given = as_type(values, dict[str, Any])
    require_finite({key: value for key, value in given.items() if key != "limits"})
    goal = as_type(given["goal"], dict[str, Any])
    return Task(
        start=_state(given["start"], vehicle),
        goal=Goal(_state(goal["state"], vehicle), **as_fields(goal, Goal, but=("state",))),
        obstacles=tuple(
            _obstacle(obstacle) for obstacle in as_type(given["obstacles"], list[dict[str, Any]])
        ),
        **as_fields(given, Task, but=("start", "goal", "obstacles", "ground")),
    )


def _obstacle_values(obstacle: Obstacle) -> dict[str, Any]:
    named = [field.name for field in fields(obstacle)]  # type: ignore[arg-type]
    return {"kind": obstacle.kind, **{name: getattr(obstacle, name) for name in named}}


def _obstacle(values: dict[str, Any]) -> Obstacle:
    kind = KINDS[values["kind"]]
    return kind(**as_fields({key: value for key, value in values.items() if key != "kind"}, kind))


def _state(node: Any, vehicle: Vehicle) -> State:
    flat = np.array(as_type(node, list[float]))
    if flat.shape != (vehicle.node_layout.size,) or not np.isfinite(flat).all():
        raise ValueError(f"a state of {flat.shape} is none of a {vehicle.name}")
    return vehicle.state_at_node(flat)


_FORMAT = 2
_READABLE = (1, 2)
"""Files of format 1 do not say what task they are a plan of; early ones of format 2 hold no other ways to do it."""
_TEXTS = ("name", "integrator", "status", "message")
_NUMBERS = ("step_s", "cost", "seconds", "defect", "clearance_m")
_OTHERS = ("costs", "iterations", "waypoint_times_s")
_ARRAYS = ("nodes", "controls", "history")


def save_record(record: PlanRecord, folder: Path) -> Path:
    """Write a plan into `folder`, replacing one of the same name; a reader never sees half of it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{file_stem(record.name, 'plan')}.npz"
    records = (record, *record.alternatives)
    about = {
        "format": _FORMAT,
        **_values(record),
        "tried": record.tried,
        "alternatives": [_values(other) for other in record.alternatives],
    }
    arrays: dict[str, Any] = {
        f"{_prefix(i)}{name}": array
        for i, one in enumerate(records)
        for name, array in zip(_ARRAYS, _arrays(one), strict=True)
    }
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
    return path


def load_record(path: Path) -> PlanRecord:
    """Read what `save_record` wrote. Raises InputError, one line, for a file that is none."""
    with refusals(path, "no stored plan"), arrays_in(path) as file:
        about = as_type(json_value(file.text("about")), dict[str, Any])
        if about["format"] not in _READABLE:
            allowed = ", ".join(map(str, _READABLE))
            raise InputError(f"format {quote(about['format'])} is unknown; allowed: {allowed}")
        others = as_type(about.get("alternatives", ()), tuple[dict[str, Any], ...])
        return replace(
            _record(file, about, 0),
            alternatives=tuple(_record(file, other, i) for i, other in enumerate(others, 1)),
            tried=as_type(about.get("tried", 1), int),
        )


def _prefix(way: int) -> str:
    """Of the names of arrays: the plan's own are plain."""
    return f"way {way} " if way else ""


def _values(record: PlanRecord) -> dict[str, Any]:
    """What JSON can say of a plan, without its alternatives."""
    return {
        "vehicle": record.vehicle.name,
        "parameters": record.vehicle.values,
        "options": record.options,
        "blames": [asdict(violation) for violation in record.violations],
        "holds": [asdict(constraint) for constraint in record.active],
        "task": None if record.task is None else task_values(record.task),
        **{key: getattr(record, key) for key in _TEXTS + _NUMBERS + _OTHERS},
    }


def _arrays(record: PlanRecord) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `_ARRAYS` names them."""
    return record.nodes, record.controls, np.array(record.history, float).reshape(-1, 2)


def _record(file: ArraysFile, about: dict[str, Any], way: int) -> PlanRecord:
    """A plan, without its alternatives."""
    subject = known_vehicle(about["vehicle"], **as_type(about["parameters"], dict[str, Any]))
    options = as_type(about.get("options", {}), dict[str, float | str])
    reason = integrator(about["integrator"], **options).serves(subject)
    if reason:
        raise InputError(reason)
    nodes, controls, history = (f"{_prefix(way)}{name}" for name in _ARRAYS)
    motion, task = _array(file, nodes, (None, subject.node_layout.size)), about.get("task")
    return PlanRecord(
        vehicle=subject,
        task=None if task is None else task_of_values(task, subject),
        nodes=motion,
        options=options,
        controls=_array(file, controls, (len(motion), len(subject.controls))),
        history=tuple((float(cost), float(violation)) for cost, violation in file.array(history)),
        violations=as_type(about["blames"], tuple[Violation, ...]),
        active=as_type(about.get("holds", ()), tuple[ActiveConstraint, ...]),
        **as_fields({key: about[key] for key in _TEXTS + _NUMBERS + _OTHERS}, PlanRecord),
    )


def _array(file: ArraysFile, name: str, shape: tuple[int | None, int]) -> np.ndarray:
    """An array of finite numbers, two rows or more."""
    array = np.ascontiguousarray(file.array(name), float)
    wanted = (array.shape[0] if shape[0] is None and array.ndim else shape[0], shape[1])
    if array.shape != wanted or len(array) < 2 or not np.isfinite(array).all():
        raise InputError(f"{name} is {array.shape}; allowed: {wanted} finite numbers")
    return array


def stored(folder: Path) -> tuple[Path, ...]:
    """The plans in a folder, by name."""
    return tuple(sorted(folder.glob("*.npz"))) if folder.is_dir() else ()
