"""Optimal control: the integrators' own update equations as constraints of a sparse nonlinear program."""

from sim.planner.api import plan, task_of_scene
from sim.planner.obstacles import Box, Capsule, Cylinder, Obstacle, Sphere
from sim.planner.plan import Blame, Plan
from sim.planner.planner import Iterate, Planner
from sim.planner.task import Goal, Limits, Task, Waypoint, Weights
from sim.planner.terrain import SafeGround, safe_ground

__all__ = [
    "Blame",
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
