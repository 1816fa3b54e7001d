"""What a task that was refused is refused for, so that it can be marked where it is.

A refusal begins with what it is about, and calls obstacles by what messages call them.
"""

import re

from sim.planner.task.obstacles import label
from sim.planner.task.task import Task

_NUMBERED = re.compile(r"waypoint (\d+)\b")


def told(reason: str, task: Task) -> str:
    """The reason without the task's name before it."""
    return reason.removeprefix(f"{task.name}: ")


def refused_parts(reason: str, task: Task) -> tuple[str, ...]:
    """Names of the handles that a reason is about, "start" among them, the first one first; empty where it is none."""
    reason = told(reason, task)
    parts = [end for end in ("start", "goal") if reason.startswith(f"{end} ")]
    numbered = _NUMBERED.match(reason)
    if numbered is not None and 0 < int(numbered[1]) <= len(task.waypoints):
        parts.append(f"waypoint {int(numbered[1]) - 1}")
    for i, obstacle in enumerate(task.obstacles):
        name = f"obstacle {label(obstacle, i)}"
        if reason.startswith(f"{name}: ") or f" inside {name} or " in reason:
            parts.append(f"obstacle {i}")
    return tuple(parts)
