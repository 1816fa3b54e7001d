"""Tasks as plain values that JSON can hold, and back. The ground stays behind: it belongs to the world."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sim.planner.task.obstacles import Box, Capsule, Cylinder, Obstacle, Sphere
from sim.planner.task.task import Goal, Limits, Task, Waypoint, Weights
from sim.vehicles.base import State, Vehicle

_OBSTACLES: dict[str, type[Obstacle]] = {kind.kind: kind for kind in (Sphere, Cylinder, Capsule, Box)}
_PLAIN = ("duration_s", "steps", "clearance_m", "effort_scale", "safety_range_m", "name")


def task_values(task: Task) -> dict[str, Any]:
    """Everything of a task but its ground."""
    goal = {key: value for key, value in vars(task.goal).items() if key != "state"}
    return {
        **{key: getattr(task, key) for key in _PLAIN},
        "start": task.start.node.tolist(),
        "goal": {**goal, "state": task.goal.state.node.tolist()},
        "free_duration": task.free_duration,
        "weights": asdict(task.weights),
        "limits": asdict(task.limits),
        "obstacles": [{"kind": obstacle.kind, **asdict(obstacle)} for obstacle in task.obstacles],
        "waypoints": [asdict(waypoint) for waypoint in task.waypoints],
        "body": task.body,
    }


def task_of_values(values: dict[str, Any], vehicle: Vehicle) -> Task:
    """The inverse of `task_values`. Raises KeyError, TypeError or ValueError for what is no task of the vehicle."""
    goal = {**values["goal"], "state": _state(values["goal"]["state"], vehicle)}
    limits = {key: _frozen(value) for key, value in values["limits"].items()}
    free = values["free_duration"]
    return Task(
        **{key: values[key] for key in _PLAIN},
        start=_state(values["start"], vehicle),
        goal=Goal(**{key: _frozen(value) for key, value in goal.items()}),
        free_duration=None if free is None else (float(free[0]), float(free[1])),
        weights=Weights(**values["weights"]),
        limits=Limits(**limits),
        obstacles=tuple(_obstacle(obstacle) for obstacle in values["obstacles"]),
        waypoints=tuple(Waypoint(**_all_frozen(waypoint)) for waypoint in values["waypoints"]),
        body=tuple(_frozen(ball) for ball in values["body"]),
    )


def _obstacle(values: dict[str, Any]) -> Obstacle:
    return _OBSTACLES[values["kind"]](**_all_frozen({k: v for k, v in values.items() if k != "kind"}))


def _all_frozen(values: dict[str, Any]) -> dict[str, Any]:
    return {key: _frozen(value) for key, value in values.items()}


def _frozen(value: Any) -> Any:
    """JSON knows lists only; tasks hold tuples."""
    if isinstance(value, dict):
        return _all_frozen(value)
    return tuple(value) if isinstance(value, list) else value


def _state(node: Any, vehicle: Vehicle) -> State:
    flat = np.array(node, float)
    if flat.shape != (vehicle.node_layout.size,) or not np.isfinite(flat).all():
        raise ValueError(f"a state of {flat.shape} is none of a {vehicle.name}")
    return State(flat, vehicle.node_layout, vehicle.group)
