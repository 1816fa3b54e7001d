"""Tasks as plain values that JSON can hold, and back. The ground stays behind: it belongs to the world."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sim.planner.task.obstacles import Box, Capsule, Cylinder, Obstacle, Sphere
from sim.planner.task.task import Goal, Task
from sim.platform.user_files import as_fields, as_type, require_finite
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

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
        "bodies": task.bodies,
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


def _obstacle(values: dict[str, Any]) -> Obstacle:
    kind = _OBSTACLES[values["kind"]]
    return kind(**as_fields({key: value for key, value in values.items() if key != "kind"}, kind))


def _state(node: Any, vehicle: Vehicle) -> State:
    flat = np.array(as_type(node, list[float]))
    if flat.shape != (vehicle.node_layout.size,) or not np.isfinite(flat).all():
        raise ValueError(f"a state of {flat.shape} is none of a {vehicle.name}")
    return vehicle.state_at_node(flat)
