"""How soon a goal can be reached at best."""

from itertools import pairwise

import numpy as np

from sim.planner.task.task import Task


def soonest_s(task: Task) -> float:
    """By the straightest way through the waypoints, at the limit of speed along every axis of the body at once."""
    if task.goal.position == "free":
        return 0.0
    group = task.start.group
    if group is None or not group.columns[group.position]:
        # Of what moves about a space of its own the parts may have to go further than the main body, or not as far;
        # what stands on a fixed point goes nowhere.
        return 0.0
    start, goal = (state.pose[:-1, -1] for state in (task.start, task.goal.state))
    axes = start.size
    spare = task.goal.tolerance_m * np.sqrt(axes)
    stops = [(start, 0.0)]
    stops += [(np.array(w.position_w, float)[:axes], w.tolerance_m) for w in task.waypoints]
    stops.append((goal, spare if task.goal.position == "within" else 0.0))
    way_m = sum(
        max(float(np.linalg.norm(b - a)) - near_a - near_b, 0.0)
        for (a, near_a), (b, near_b) in pairwise(stops)
    )
    return way_m / (task.limits.speed_mps * np.sqrt(axes))


def longest_s(task: Task) -> float:
    """That the task allows."""
    return task.duration_s if task.free_duration is None else task.free_duration[1]
