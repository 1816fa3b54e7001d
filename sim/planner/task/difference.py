"""In a few words, what an edit of a task has changed."""

from dataclasses import fields

from sim.planner.task.obstacles import Obstacle
from sim.planner.task.task import WEIGHT_NAMES, Task


def difference(before: Task, after: Task) -> str:
    """The first thing that differs, as a user would name it."""
    return (
        _goal(before, after)
        or _obstacles(before.obstacles, after.obstacles)
        or _waypoints(before, after)
        or _weights(before, after)
        or _numbers(before, after)
        or "task"
    )


def _goal(before: Task, after: Task) -> str:
    if before.goal is after.goal:
        return ""
    moved = (before.goal.state.node != after.goal.state.node).any()
    return "goal moved" if moved else "goal's demands"


def _obstacles(before: tuple[Obstacle, ...], after: tuple[Obstacle, ...]) -> str:
    if len(after) < len(before):
        gone = next((b for i, b in enumerate(before) if i >= len(after) or after[i] != b), before[-1])
        return f"{called(gone)} deleted"
    if len(after) > len(before):
        return f"{called(after[-1])} added"
    for old, new in zip(before, after, strict=True):
        if old.name != new.name:
            return f"{called(old)} renamed {new.name}"
        if old != new:
            return f"{called(new)} moved"
    return ""


def called(obstacle: Obstacle) -> str:
    """Its name, or its kind."""
    return obstacle.name or obstacle.kind


def _waypoints(before: Task, after: Task) -> str:
    if len(after.waypoints) != len(before.waypoints):
        return "waypoint deleted" if len(after.waypoints) < len(before.waypoints) else "waypoint added"
    for index, (old, new) in enumerate(zip(before.waypoints, after.waypoints, strict=True)):
        if old.position_w != new.position_w:
            return f"waypoint {index + 1} moved"
    return ""


def _weights(before: Task, after: Task) -> str:
    for name in WEIGHT_NAMES:
        old, new = getattr(before.weights, name), getattr(after.weights, name)
        if old != new:
            return f"weight of {name} {old:.3g} \N{RIGHTWARDS ARROW} {new:.3g}"
    return ""


def _numbers(before: Task, after: Task) -> str:
    if before.duration_s != after.duration_s:
        return f"final time {before.duration_s:.4g} \N{RIGHTWARDS ARROW} {after.duration_s:.4g} s"
    for each in fields(Task):
        if getattr(before, each.name) is not getattr(after, each.name):
            return each.name.replace("_", " ")
    return ""
