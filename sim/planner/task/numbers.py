"""Single numbers of a vehicle and of a task by name: `mass`, `inertia.0`, one of the task's own."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sim.planner.task.refusal import refused
from sim.planner.task.task import Task
from sim.platform.errors import one_of
from sim.vehicles.forms.base import Vehicle


@lru_cache(maxsize=16)
def number_names(vehicle: Vehicle) -> Mapping[str, int]:
    """Of the vehicle's parameters: where each stands in the flat vector; of several `name.0`, `name.1` and so on."""
    found: dict[str, int] = {}
    at = 0
    for q in vehicle.parameters:
        single = isinstance(q.default, int | float)
        found |= {q.name if single else f"{q.name}.{i}": at + i for i in range(q.size)}
        at += q.size
    return found


def place_of(vehicle: Vehicle, name: str) -> int:
    """Where a parameter's number stands in the flat vector. KeyError where there is none."""
    return number_names(vehicle)[name]


def with_number(vehicle: Vehicle, name: str, value: float) -> Vehicle:
    """The vehicle with another number."""
    base, _, index = name.partition(".")
    if not index:
        return vehicle.with_parameters(**{base: value})
    values = np.array(vehicle.values[base], float)
    values[int(index)] = value
    return vehicle.with_parameters(**{base: tuple(values.tolist())})


def start_of_free(vehicle: Vehicle, task: Task) -> np.ndarray:
    """(free parameters,) as vehicle and task have them, inside their ranges."""
    names = number_names(vehicle)
    own = [
        task.numbers[name] if name in task.numbers else vehicle.parameter_vector[names[name]]
        for name in task.free_parameters
    ]
    bounds = np.array(list(task.free_parameters.values()), float).reshape(-1, 2)
    return np.clip(np.array(own, float), bounds[:, 0], bounds[:, 1])


def with_free(vehicle: Vehicle, task: Task, found: np.ndarray) -> tuple[Vehicle, Task]:
    """Vehicle and task with what was found (free parameters,)."""
    numbers = dict(task.numbers)
    for name, value in zip(task.free_parameters, found.tolist(), strict=True):
        if name in numbers:
            numbers[name] = value
        else:
            vehicle = with_number(vehicle, name, value)
    return (vehicle, replace(task, numbers=numbers)) if task.free_parameters else (vehicle, task)


def check_free(vehicle: Vehicle, task: Task, *, meets: bool) -> None:
    """Raises TaskRefused for free parameters that are none."""
    names = number_names(vehicle)
    for name in task.free_parameters:
        if name in task.numbers:
            continue
        if name not in names:
            allowed = one_of([*task.numbers, *names], str(name))
            raise refused(task, f"unknown free parameter {name!r}; allowed: {allowed}")
        if meets:
            raise refused(
                task,
                f"where {vehicle.name} touches is told by numbers, and {name} cannot be found with contact; "
                f"allowed: {', '.join(task.numbers) or 'the numbers of the task'}",
            )
        if next(q.structural for q in vehicle.parameters if q.name == name.partition(".")[0]):
            raise refused(
                task, f"{name} makes another system of {vehicle.name}; allowed: numbers of one system"
            )
        if name.partition(".")[0] in vehicle.absent:
            raise refused(
                task,
                f"{name} is 0 in this vehicle, which leaves its effect out; allowed: a value of it to begin with",
            )
