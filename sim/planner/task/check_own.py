"""What a task's own constraints and bounds of numbers of the state come to at its start and its goal."""

import numpy as np

from sim.planner.task.bodies import own_space
from sim.planner.task.expressions import OwnRow, own_numbers, own_terms
from sim.planner.task.refusal import GOAL, START, TaskPart, refused
from sim.planner.task.task import Task
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

_ROUNDING = 1e-9


def check_own_terms(vehicle: Vehicle, task: Task, said_at_start: frozenset[int], *, measured: bool) -> None:
    """Raises TaskRefused where start or goal, as far as they are given, break them.

    said_at_start: numbers of the start that are not found with the motion. measured: the start is where the vehicle has
    come to, and may.
    """
    ends = [] if measured else [(START, task.start, 0.0, said_at_start)]
    ends.append((GOAL, task.goal.state, task.duration_s, met_columns(vehicle, task)))
    for part, state, _, met in ends:
        _check_columns(vehicle, task, part, state, met)
    terms = own_terms(vehicle, task)
    for row in terms.rows if terms else ():
        for part, state, time_s, met in ends:
            given = not row.of_controls and set(row.node_columns) <= met
            later = part is GOAL and task.free_duration is not None and terms is not None and terms.timed
            if given and not later and not (row.at == "end" and part is START) and not task.free_parameters:
                _check_row(vehicle, task, part, state, time_s, row)


def met_columns(vehicle: Vehicle, task: Task) -> frozenset[int]:
    """Numbers of the state that the goal says exactly."""
    goal, at, everything = task.goal, vehicle.node_layout, range(vehicle.node_layout.size)
    if own_space(vehicle):
        slices = vehicle.space.slices
        return frozenset(
            i for name in (slices if goal.parts is None else goal.parts) for i in everything[slices[name]]
        )
    pose = everything[at.pose]
    places = set(pose[vehicle.group.position])
    found = set(places) if goal.position == "fixed" else set()
    found |= set(pose) - places if goal.rotation == "fixed" else set()
    found |= set(everything[at.velocity]) if goal.velocity == "fixed" else set()
    found |= {at.shape.start + i for i in goal.shape}
    return frozenset(found | {at.shape_velocity.start + i for i in goal.shape_velocity})


def _check_columns(vehicle: Vehicle, task: Task, part: TaskPart, state: State, met: frozenset[int]) -> None:
    columns = vehicle.space.columns
    for name, (low, high) in task.limits.columns.items():
        i = columns.index(name)
        if i in met and not low - _ROUNDING <= state.node[i] <= high + _ROUNDING:
            raise refused(task, f"{part} has {name} = {state.node[i]:g}; allowed: {low:g} to {high:g}", part)


def _check_row(
    vehicle: Vehicle, task: Task, part: TaskPart, state: State, time_s: float, row: OwnRow
) -> None:
    reference = task.reference.at(np.array([time_s]))[0] if task.reference else np.zeros(0)
    numbers = vehicle.parameter_vector, own_numbers(task)
    value = float(row.value(state.node, vehicle.neutral_controls, time_s, *numbers, reference))
    over = max(value, row.low - value)
    if over > 1e-6:
        raise refused(task, f"{part} breaks {row.name!r} by {over:.3g}; allowed: another {part}", part)
