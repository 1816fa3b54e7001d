"""What parts of a task are no such thing at all, refused by what they are declared to be."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from numbers import Real

import numpy as np

from sim.planner.task.motions import Motion, Sway
from sim.planner.task.reference import Reference
from sim.planner.task.task import DEMANDED, Goal, Limits, Task, Waypoint, Weights
from sim.planner.task.terrain import SafeGround
from sim.platform.errors import InputError, quote
from sim.shapes import KINDS, Shape, Vector
from sim.vehicles.forms.form import State

_OBSTACLES = ", ".join(kind.__name__ for kind in KINDS.values())
_WHOLE = (int, np.integer)


def check_kinds(task: object) -> None:
    """Raises InputError, in one line, for the first part that is something else."""
    if not isinstance(task, Task):
        raise InputError(f"task = {quote(task)} is refused; allowed: a Task")
    if not isinstance(task.name, str):
        raise InputError(f"a task's name = {quote(task.name)} is refused; allowed: text")
    _one(task, "start", task.start, (State,), "a State, as vehicle.state(...) gives it")
    _one(task, "goal", task.goal, (Goal,), "a Goal")
    _one(task, "goal's state", task.goal.state, (State,), "a State, as vehicle.state(...) gives it")
    for name in DEMANDED:
        _one(task, f"goal's {name}", getattr(task.goal, name), (str,), "fixed, within, upright, free")
    _several(task, "or_goals", task.or_goals, (Goal,), "Goal")
    _one(task, "weights", task.weights, (Weights,), "Weights")
    _one(task, "limits", task.limits, (Limits,), "Limits")
    _one(task, "ground", task.ground, (SafeGround, type(None)), "a SafeGround, or None")
    _several(task, "obstacles", task.obstacles, tuple(KINDS.values()), _OBSTACLES)
    _several(task, "waypoints", task.waypoints, (Waypoint,), "Waypoint")
    _several(task, "motions", task.motions, (Motion,), "Motion")
    for motion in task.motions:
        _several(task, "a motion's moves", motion.moves, (str,), "names")
        _several(task, "a motion's sways", motion.sways, (Sway,), "Sway")
        _several(task, "a motion's table", motion.table, (tuple, list), "rows of seven numbers")
    _several(task, "body", task.body, (Sequence, np.ndarray), "balls (x, y, z, radius)")
    _several(task, "bodies", task.bodies, (str,), "names")
    if task.goal.parts is not None:
        _several(task, "goal's parts", task.goal.parts, (str,), "names")
    _several(task, "goal's shape", task.goal.shape, _WHOLE, "indices")
    _several(task, "goal's shape_velocity", task.goal.shape_velocity, _WHOLE, "indices")
    for obstacle in task.obstacles:
        _check_obstacle(task, obstacle)
    for name in ("controls", "shape", "columns", "rates"):
        _one(task, f"limits' {name}", getattr(task.limits, name), (Mapping,), "a dict by name")
    for name in ("effort_scale", "numbers", "free_parameters", "start_within"):
        _one(task, name, getattr(task, name), (Mapping,), "a dict by name")
    _several(task, "periodic", task.periodic, (str,), "names of numbers or parts of the state")
    for name in ("numbers", "free_parameters", "start_within"):
        _several(task, f"names of {name}", tuple(getattr(task, name)), (str,), "names")
    _one(task, "reference", task.reference, (Reference, type(None)), "a Reference, or None")
    if not isinstance(task.constraints, tuple | list):
        raise _refused(task, "constraints", task.constraints, "a sequence of functions or PathConstraint")


def _several(task: Task, what: str, value: object, kinds: tuple[type, ...], allowed: str) -> None:
    """Refused unless it is a tuple or a list of these."""
    if not isinstance(value, tuple | list) or not all(isinstance(one, kinds) for one in value):
        raise _refused(task, what, value, f"a sequence of {allowed}")


def _check_obstacle(task: Task, obstacle: Shape) -> None:
    """By what each of its fields is declared to be."""
    for field in fields(obstacle):  # type: ignore[arg-type]
        what, value = f"an obstacle's {field.name}", getattr(obstacle, field.name)
        if field.type == Vector:
            _three(task, what, value)
        elif field.type is str:
            _one(task, what, value, (str,), "text")
        elif field.type is float:
            _one(task, what, value, (Real,), "a number")
        elif not isinstance(value, Sequence | np.ndarray) or isinstance(value, str):
            raise _refused(task, what, value, "a sequence of points")
        else:
            for row in value:
                (_three if field.type == tuple[Vector, ...] else _row)(task, what, row)


def _row(task: Task, what: str, row: object) -> None:
    if not isinstance(row, tuple | list | np.ndarray):
        raise _refused(task, what, row, "rows of numbers")
    for number in row:
        _one(task, what, number, (Real,), "rows of numbers")


def _three(task: Task, what: str, place: object) -> None:
    is_row = isinstance(place, tuple | list) or (isinstance(place, np.ndarray) and place.ndim == 1)
    if not is_row or len(place) != 3:  # type: ignore[arg-type]
        raise _refused(task, what, place, "three numbers")
    for number in place:  # type: ignore[attr-defined]
        _one(task, what, number, (Real,), "three numbers")


def _one(task: Task, what: str, value: object, kinds: tuple[type, ...], allowed: str) -> None:
    if not isinstance(value, kinds):
        raise _refused(task, what, value, allowed)


def _refused(task: Task, what: str, value: object, allowed: str) -> InputError:
    return InputError(f"{task.name}: {what} = {quote(value)} is refused; allowed: {allowed}")
