"""Which node has to meet which waypoint, and how soon a goal can be reached at best."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from sim.planner.task.bodies import planar
from sim.planner.task.task import GOAL_MOVES, Task, motion_of
from sim.vehicles.forms.base import Vehicle

_NOWHERE_TOLERANCE_M = 1e6


def waypoint_node(time_s: float, task: Task, steps: int) -> int:
    """The node between the ends, of `steps` + 1, that is nearest to a time."""
    return int(np.clip(round(time_s / task.duration_s * steps), 1, steps - 1))


def waypoint_places(vehicle: Vehicle, task: Task, steps: int) -> np.ndarray:
    """(N+1, 4): position and tolerance of the waypoint that each node has to meet."""
    places = nowhere(steps)
    for waypoint in task.waypoints:
        if waypoint.time_s is None:
            continue
        k = waypoint_node(waypoint.time_s, task, steps)
        places[k] = [*waypoint.position_w, waypoint.tolerance_m]
        if planar(vehicle):
            places[k, 2] = 0.0
    return places


def nowhere(steps: int) -> np.ndarray:
    """(N+1, 4) of waypoints that ask for nothing."""
    return np.tile([0.0, 0.0, 0.0, _NOWHERE_TOLERANCE_M], (steps + 1, 1))


def with_times(vehicle: Vehicle, task: Task, places: np.ndarray) -> Task:
    """Waypoints without a time get those of the guess's nearest nodes, one each and in their order."""
    untimed = [i for i, w in enumerate(task.waypoints) if w.time_s is None]
    if not untimed:
        return task
    times = task.duration_s * np.linspace(0.0, 1.0, len(places))
    wanted = np.array([task.waypoints[i].position_w for i in untimed], float)
    if planar(vehicle):
        wanted[:, 2] = 0.0
    miss = np.linalg.norm(places - wanted[:, None], axis=2)
    taken = [waypoint_node(w.time_s, task, len(places) - 1) for w in task.waypoints if w.time_s is not None]
    miss[:, [0, *taken, -1]] = np.inf
    timed = list(task.waypoints)
    for i, k in zip(untimed, _in_order(miss), strict=True):
        timed[i] = replace(timed[i], time_s=float(times[k]))
    return replace(task, waypoints=tuple(timed))


def _in_order(miss: np.ndarray) -> list[int]:
    """Growing columns, one for each row of `miss` (n, m), n < m, with the least sum of squares."""
    n, m = miss.shape
    total, before = np.full((n, m), np.inf), np.zeros((n, m), int)
    total[0] = miss[0] ** 2
    for i in range(1, n):
        best = np.minimum.accumulate(total[i - 1])
        first = np.where(total[i - 1] <= best, np.arange(m), 0)
        before[i, 1:] = np.maximum.accumulate(first)[:-1]
        total[i, 1:] = best[:-1] + miss[i, 1:] ** 2
    columns = [int(total[-1].argmin())]
    for i in range(n - 1, 0, -1):
        columns.append(int(before[i, columns[-1]]))
    return columns[::-1]


def kept_times(task: Task, before: Task) -> Task:
    """Waypoints that are dragged keep the times they had."""
    untimed = any(w.time_s is None for w in task.waypoints)
    if not untimed or len(before.waypoints) != len(task.waypoints):
        return task  # Itself: its problem is known.
    pairs = zip(task.waypoints, before.waypoints, strict=True)
    kept = tuple(w if w.time_s is not None else replace(w, time_s=b.time_s) for w, b in pairs)
    return replace(task, waypoints=kept)


def soonest_s(task: Task) -> float:
    """By the straightest way through the waypoints, at the limit of speed along every axis of the body at once."""
    if task.goal.position in ("near", "free") or motion_of(task, GOAL_MOVES) is not None:
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
