"""Which node has to meet which waypoint."""

from dataclasses import replace

import numpy as np

from sim.planner.task.bodies import planar
from sim.planner.task.task import Task
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
