"""Whether the parts of a task are what they are declared to be: what a script gave in their place is one line."""

from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np

from sim.planner.task.obstacles import Box, Capsule, Cylinder, Sphere
from sim.planner.task.task import Goal, Limits, Task, Waypoint, Weights
from sim.planner.task.terrain import SafeGround
from sim.platform.errors import InputError, quote
from sim.vehicles.forms.form import State

_OBSTACLES = (Sphere, Cylinder, Capsule, Box)
_PLACES, _SIZES, _TEXTS = (
    ("centre_w", "start_w", "end_w", "half_m"),
    ("radius_m", "heading_rad"),
    ("name", "look"),
)
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
    for name in ("position", "rotation", "velocity"):
        _one(task, f"goal's {name}", getattr(task.goal, name), (str,), "fixed, within, upright, free")
    _one(task, "weights", task.weights, (Weights,), "Weights")
    _one(task, "limits", task.limits, (Limits,), "Limits")
    _one(task, "ground", task.ground, (SafeGround, type(None)), "a SafeGround, or None")
    _several(task, "obstacles", task.obstacles, _OBSTACLES, "Sphere, Cylinder, Capsule, Box")
    _several(task, "waypoints", task.waypoints, (Waypoint,), "Waypoint")
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
    _one(task, "effort_scale", task.effort_scale, (Mapping,), "a dict by name")


def _several(task: Task, what: str, value: object, kinds: tuple[type, ...], allowed: str) -> None:
    """Refused unless it is a tuple or a list of these."""
    if not isinstance(value, tuple | list) or not all(isinstance(one, kinds) for one in value):
        raise _refused(task, what, value, f"a sequence of {allowed}")


def _check_obstacle(task: Task, obstacle: object) -> None:
    for name in _PLACES:
        place = getattr(obstacle, name, (0.0, 0.0, 0.0))
        is_row = isinstance(place, tuple | list) or (isinstance(place, np.ndarray) and place.ndim == 1)
        if not is_row or len(place) != 3:
            raise _refused(task, f"an obstacle's {name}", place, "three numbers")
        for number in place:
            _one(task, f"an obstacle's {name}", number, (Real,), "three numbers")
    for name in _SIZES:
        _one(task, f"an obstacle's {name}", getattr(obstacle, name, 1.0), (Real,), "a number")
    for name in _TEXTS:
        _one(task, f"an obstacle's {name}", getattr(obstacle, name), (str,), "text")


def _one(task: Task, what: str, value: object, kinds: tuple[type, ...], allowed: str) -> None:
    if not isinstance(value, kinds):
        raise _refused(task, what, value, allowed)


def _refused(task: Task, what: str, value: object, allowed: str) -> InputError:
    return InputError(f"{task.name}: {what} = {quote(value)} is refused; allowed: {allowed}")
