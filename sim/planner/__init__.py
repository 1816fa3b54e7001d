"""Optimal control: the integrators' own update equations as constraints of a sparse nonlinear program."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.control.calm_water import calm_water, seen_from_above
    from sim.planner.api import plan, task_of_scene
    from sim.planner.result.plan import Plan, Violation
    from sim.planner.service.planner import Iterate, Planner
    from sim.planner.task.motions import Motion, Sway
    from sim.planner.task.reference import Reference
    from sim.planner.task.task import Goal, Limits, Obstacle, PathConstraint, Task, Waypoint, Weights
    from sim.planner.task.terrain import SafeGround, safe_ground
    from sim.shapes import Box, Capsule, Cone, ConvexMesh, Cylinder, Drum, Sphere

__all__ = [
    "Violation",
    "Box",
    "Capsule",
    "Cone",
    "ConvexMesh",
    "Cylinder",
    "Drum",
    "Goal",
    "Iterate",
    "Limits",
    "Motion",
    "Obstacle",
    "PathConstraint",
    "Plan",
    "Planner",
    "Reference",
    "SafeGround",
    "Sphere",
    "Sway",
    "Task",
    "Waypoint",
    "Weights",
    "calm_water",
    "plan",
    "safe_ground",
    "seen_from_above",
    "task_of_scene",
]


_LATE = {
    **dict.fromkeys(("plan", "task_of_scene"), "api"),
    **dict.fromkeys(("Plan", "Violation"), "result.plan"),
    **dict.fromkeys(("Iterate", "Planner"), "service.planner"),
    **dict.fromkeys(("Box", "Capsule", "Cone", "ConvexMesh", "Cylinder", "Drum", "Sphere"), "sim.shapes"),
    **dict.fromkeys(
        ("Goal", "Limits", "Obstacle", "PathConstraint", "Task", "Waypoint", "Weights"), "task.task"
    ),
    "Reference": "task.reference",
    **dict.fromkeys(("calm_water", "seen_from_above"), "sim.control.calm_water"),
    **dict.fromkeys(("Motion", "Sway"), "task.motions"),
    **dict.fromkeys(("SafeGround", "safe_ground"), "task.terrain"),
}
"""Whoever only names a task or a plan does not wait for what solves it."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = _LATE[name]
    return getattr(
        importlib.import_module(place if place.startswith("sim.") else f"{__name__}.{place}"), name
    )
