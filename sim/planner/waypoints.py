"""Which node has to meet which waypoint."""

from dataclasses import replace

import numpy as np

from sim.planner.parameters import nowhere
from sim.planner.task import Task
from sim.vehicles.base import Vehicle


def waypoint_places(vehicle: Vehicle, task: Task, steps: int) -> np.ndarray:
    """(N+1, 4): position and tolerance of the waypoint that each node has to meet."""
    places = nowhere(steps)
    for waypoint in task.waypoints:
        if waypoint.time_s is None:
            continue
        k = int(np.clip(round(waypoint.time_s / task.duration_s * steps), 1, steps - 1))
        places[k] = [*waypoint.position_w, waypoint.tolerance_m]
        if vehicle.group.name == "SE2":
            places[k, 2] = 0.0
    return places


def with_times(vehicle: Vehicle, task: Task, places: np.ndarray) -> Task:
    """Waypoints without a time get that of the guess's nearest node."""
    if all(w.time_s is not None for w in task.waypoints):
        return task
    times = task.duration_s * np.linspace(0.0, 1.0, len(places))
    timed = []
    for waypoint in task.waypoints:
        if waypoint.time_s is None:
            miss = np.linalg.norm(places - np.array(waypoint.position_w), axis=1)
            waypoint = replace(waypoint, time_s=float(times[1:-1][miss[1:-1].argmin()]))
        timed.append(waypoint)
    return replace(task, waypoints=tuple(timed))


def kept_times(task: Task, before: Task) -> Task:
    """Waypoints that are dragged keep the times they had."""
    if len(before.waypoints) != len(task.waypoints):
        return task
    pairs = zip(task.waypoints, before.waypoints, strict=True)
    kept = tuple(w if w.time_s is not None else replace(w, time_s=b.time_s) for w, b in pairs)
    return replace(task, waypoints=kept)
