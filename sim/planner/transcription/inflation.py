"""Obstacles that a step could leap over are made thicker for the optimiser, which looks at the nodes alone.

What a plan is checked by stays as thin as it is.
"""

from dataclasses import replace

import numpy as np

from sim.planner.task.bodies import planar
from sim.planner.task.clearance import ball_places, on_plane
from sim.planner.task.obstacles import Box, Capsule, Obstacle, half_thickness_m, true_distance
from sim.planner.task.poses import positions
from sim.planner.task.task import Task
from sim.vehicles.forms.base import Vehicle

_WALL_STEPS, _POLE_STEPS = 3.0, 0.75
"""Half of the least thickness, in mean steps; through less of a wall the optimiser hurries between two nodes."""
_ROOM = 0.8
"""Of the distance to an end that a wall may take."""


def thickened(vehicle: Vehicle, task: Task, steps: int) -> tuple[Obstacle, ...]:
    """The obstacles in their order, none thinner than some steps where ends and waypoints leave room for that."""
    around = task.clearance_m + min(ball[3] for ball in task.body)
    step = _mean_step_m(vehicle, task, steps)
    return tuple(_thickened(vehicle, task, o, _wanted_steps(o) * step - around) for o in task.obstacles)


def _wanted_steps(obstacle: Obstacle) -> float:
    """A pole is gone around as soon as it is seen, and the gap between two has to stay."""
    return _WALL_STEPS if isinstance(obstacle, Box | Capsule) else _POLE_STEPS


def _mean_step_m(vehicle: Vehicle, task: Task, steps: int) -> float:
    ends = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    stations = np.array([ends[0], *(w.position_w for w in task.waypoints), ends[1]], float)
    if planar(vehicle):
        stations[:, 2] = 0.0
    way = float(np.linalg.norm(np.diff(stations, axis=0), axis=1).sum())
    return way / steps


def _thickened(vehicle: Vehicle, task: Task, obstacle: Obstacle, wanted_m: float) -> Obstacle:
    if half_thickness_m(obstacle) >= wanted_m:
        return obstacle
    most = half_thickness_m(obstacle) + max(0.0, _ROOM * _room_m(vehicle, task, obstacle))
    half = min(wanted_m, most)
    if isinstance(obstacle, Box):
        x, y, z = (max(h, half) for h in obstacle.half_m)
        return replace(obstacle, half_m=(x, y, z))
    return replace(obstacle, radius_m=half)


def _room_m(vehicle: Vehicle, task: Task, obstacle: Obstacle) -> float:
    """Between the obstacle and what is given: the vehicle at both ends, the waypoints."""
    flat, at = on_plane(vehicle, obstacle), vehicle.node_layout.pose
    ends = [task.start] if task.goal.position == "free" else [task.start, task.goal.state]
    balls = ball_places(vehicle, np.stack([end.node[at] for end in ends]), task)
    radii = np.array(task.body, float)[:, 3:]
    room = (true_distance(flat, balls.reshape(-1, 3)).reshape(len(radii), -1) - radii).min()
    for waypoint in task.waypoints:
        x = np.array([waypoint.position_w], float)
        if planar(vehicle):
            x[:, 2] = 0.0
        room = min(room, float(true_distance(flat, x)[0]) - float(radii.max()) + waypoint.tolerance_m)
    return float(room) - task.clearance_m
