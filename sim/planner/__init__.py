"""Optimal control: the integrators' own update equations as constraints of a sparse nonlinear program."""

from sim.planner.api import plan, task_of_scene
from sim.planner.result.plan import Plan, Violation
from sim.planner.service.planner import Iterate, Planner
from sim.planner.task.obstacles import Box, Capsule, Cylinder, Obstacle, Sphere
from sim.planner.task.task import Goal, Limits, Task, Waypoint, Weights
from sim.planner.task.terrain import SafeGround, safe_ground

__all__ = [
    "Violation",
    "Box",
    "Capsule",
    "Cylinder",
    "Goal",
    "Iterate",
    "Limits",
    "Obstacle",
    "Plan",
    "Planner",
    "SafeGround",
    "Sphere",
    "Task",
    "Waypoint",
    "Weights",
    "plan",
    "safe_ground",
    "task_of_scene",
]
