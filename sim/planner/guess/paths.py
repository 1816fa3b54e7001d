"""Ways for the vehicle from start to goal through the waypoints, around everything, walked in time."""

import numpy as np

from sim.planner.guess.route import route, routes
from sim.planner.task.bodies import planar, positions, velocities
from sim.planner.task.open_start import is_lap
from sim.planner.task.task import Task
from sim.vehicles.forms.base import Vehicle
from sim.world.path import arc_length


def paced(
    way: np.ndarray, count: int, *, from_rest: bool, to_rest: bool, gently: bool = False, smoothing: int = 40
) -> np.ndarray:
    """(count+1, 3): the polyline walked in equal times, slow where it starts or ends at rest, corners rounded.

    gently: with no jump of the velocity where it starts or ends at rest.
    """
    lengths = arc_length(way)
    t = np.linspace(0.0, 1.0, count + 1)
    progress = _progress(t, from_rest, to_rest, 0.0 if gently else 1.0)
    out = np.stack([np.interp(progress * lengths[-1], lengths, way[:, i]) for i in range(3)], axis=1)
    if len(way) > 2:
        for _ in range(smoothing):
            out[1:-1] = 0.25 * out[:-2] + 0.5 * out[1:-1] + 0.25 * out[2:]
    return out


def _progress(t: np.ndarray, from_rest: bool, to_rest: bool, jump: float) -> np.ndarray:
    """jump: 1: the velocity at rest is that of the usual pace; 0: it is 0."""
    if from_rest and to_rest:
        even = 0.5 * jump
        return even * t + (1.0 - even) * (10 * t**3 - 15 * t**4 + 6 * t**5)
    even = 0.4 * jump
    if from_rest:
        return even * t + (1.0 - even) * t**2
    if to_rest:
        return 1.0 - (even * (1 - t) + (1.0 - even) * (1 - t) ** 2)
    return t


def path_of(vehicle: Vehicle, task: Task) -> np.ndarray | None:
    """Polyline from start to goal through the waypoints, around everything; None where there is none."""
    stations, plane, low, high = _space(vehicle, task)
    return route(
        stations, task.obstacles, task.ground, radius_m=reach_m(task), plane=plane, low=low, high=high
    )


def paths_of(vehicle: Vehicle, task: Task, most: int) -> list[np.ndarray]:
    """Polylines of as many classes of homotopy, the shortest first, for a body that slips through lengthwise."""
    stations, plane, low, high = _space(vehicle, task)
    slim_m = max(ball[3] for ball in task.body) + task.clearance_m
    return routes(
        stations, task.obstacles, task.ground, radius_m=slim_m, plane=plane, low=low, high=high, most=most
    )


def stations_of(vehicle: Vehicle, task: Task) -> np.ndarray:
    """Start, waypoints and goal (n, 3)."""
    return _space(vehicle, task)[0]


def _space(vehicle: Vehicle, task: Task) -> tuple[np.ndarray, bool, np.ndarray, np.ndarray]:
    """Start, waypoints and goal (n, 3); whether all happens on a plane; the box to stay in."""
    ends = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    through = [np.array(w.position_w, float) for w in task.waypoints]
    stations = np.array([ends[0], *through, ends[1]])
    plane = planar(vehicle)
    if plane:
        stations[:, 2] = 0.0
    limits = task.limits
    low = np.array(limits.low_w if limits.low_w else (-np.inf,) * 3, float)
    high = np.array(limits.high_w if limits.high_w else (np.inf,) * 3, float)
    return stations, plane, low, high


def reach_m(task: Task) -> float:
    """Radius of the ball about the body origin that holds the vehicle, with its clearance."""
    return max(float(np.linalg.norm(b[:3])) + b[3] for b in task.body) + task.clearance_m


def paced_path(
    vehicle: Vehicle, task: Task, steps: int, way: np.ndarray | None = None, *, gently: bool = False
) -> np.ndarray:
    """(N+1, 3) places in equal times along a way, else the shortest; straight where there is no way around.

    gently: with no jump of the velocity at either end.
    """
    if way is None:
        way = path_of(vehicle, task)
    if way is None:
        way = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    if is_lap(vehicle, task):
        return paced(way, steps, from_rest=False, to_rest=False, gently=gently)
    moving = [i for i, _ in velocities(vehicle)]
    resting = [
        float(np.linalg.norm(s.node[moving])) < 0.2 * task.limits.speed_mps and demand != "free"
        for s, demand in ((task.start, "fixed"), (task.goal.state, task.goal.velocity))
    ]
    return paced(way, steps, from_rest=resting[0], to_rest=resting[1], gently=gently)
