"""Plans as files: one `.npz` a plan with the other ways to do it, numbers as arrays, the rest as JSON within.

Nothing in it is executed.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from sim.integrators import integrator
from sim.planner.result.active_constraints import ActiveConstraint
from sim.planner.result.plan import Violation
from sim.planner.result.record import PlanRecord
from sim.planner.task.values import task_of_values, task_values
from sim.platform.errors import InputError, quote
from sim.platform.replacing import file_stem, replacing
from sim.platform.user_files import ArraysFile, arrays_in, as_fields, as_type, json_value, refusals
from sim.vehicles import known_vehicle

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
