"""Plans as files: one `.npz` a plan, numbers as arrays and the rest as JSON within. Nothing in it is executed."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from sim.errors import InputError
from sim.planner.result.active_constraints import ActiveConstraint
from sim.planner.result.plan import Violation
from sim.planner.result.record import PlanRecord
from sim.planner.task.values import task_of_values, task_values
from sim.replacing import file_stem, replacing
from sim.vehicles import known_vehicle

_FORMAT = 2
_READABLE = (1, 2)
"""Files of format 1 do not say what task they are a plan of."""
_TEXTS = ("name", "integrator", "status", "message")
_NUMBERS = ("step_s", "cost", "seconds", "defect", "clearance_m")


def save_record(record: PlanRecord, folder: Path) -> Path:
    """Write a plan into `folder`, replacing one of the same name; a reader never sees half of it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{file_stem(record.name, 'plan')}.npz"
    about = {
        "format": _FORMAT,
        "vehicle": record.vehicle.name,
        "parameters": record.vehicle.values,
        "costs": record.costs,
        "iterations": record.iterations,
        "blames": [asdict(violation) for violation in record.violations],
        "holds": [asdict(constraint) for constraint in record.active],
        "waypoint_times_s": record.waypoint_times_s,
        "task": None if record.task is None else task_values(record.task),
        **{key: getattr(record, key) for key in _TEXTS + _NUMBERS},
    }
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            about=np.array(json.dumps(about)),
            nodes=record.nodes,
            controls=record.controls,
            history=np.array(record.history, float).reshape(-1, 2),
        )
    return path


def load_record(path: Path) -> PlanRecord:
    """Read what `save_record` wrote. Raises InputError, one line, for a file that is none."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            nodes, controls, history = file["nodes"], file["controls"], file["history"]
        if about["format"] not in _READABLE:
            allowed = ", ".join(map(str, _READABLE))
            raise InputError(f"{path}: format {about['format']} is unknown; allowed: {allowed}")
        subject = known_vehicle(about["vehicle"], **about["parameters"])
        _check(nodes, (subject.node_layout.size,))
        _check(controls, (len(subject.controls),), rows=len(nodes))
        task = about.get("task")
        return PlanRecord(
            vehicle=subject,
            task=None if task is None else task_of_values(task, subject),
            nodes=nodes,
            controls=controls,
            history=tuple((float(cost), float(violation)) for cost, violation in history),
            costs={str(name): float(value) for name, value in about["costs"].items()},
            iterations=int(about["iterations"]),
            violations=tuple(_violation(values) for values in about["blames"]),
            active=tuple(_active(values) for values in about.get("holds", ())),
            waypoint_times_s=tuple(about["waypoint_times_s"]),
            **{key: str(about[key]) for key in _TEXTS},  # type: ignore[arg-type]
            **{key: float(about[key]) for key in _NUMBERS},  # type: ignore[arg-type]
        )
    except (OSError, BadZipFile, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: is no stored plan ({error})") from None


def _violation(values: dict[str, Any]) -> Violation:
    return Violation(**{**values, "place_w": tuple(values["place_w"])})


def _active(values: dict[str, Any]) -> ActiveConstraint:
    return ActiveConstraint(
        **{**values, "spans_s": tuple((float(a), float(b)) for a, b in values["spans_s"])}
    )


def stored(folder: Path) -> tuple[Path, ...]:
    """The plans in a folder, by name."""
    return tuple(sorted(folder.glob("*.npz"))) if folder.is_dir() else ()


def _check(array: np.ndarray, shape: tuple[int, ...], *, rows: int | None = None) -> None:
    wanted = (array.shape[0] if rows is None else rows, *shape)
    if array.ndim != 2 or array.shape != wanted or len(array) < 2 or not np.isfinite(array).all():
        raise ValueError(f"an array of {array.shape} where {wanted} finite numbers belong")
