"""Guesses for what rolls along its heading: the shape follows the curvature of the way."""

import casadi as ca
import numpy as np

from sim.planner.guess.way import paced_way
from sim.planner.task.task import Task
from sim.vehicles.nonholonomic import NonholonomicVehicle

_AHEAD, _BOW = 2.5, 0.6
"""How far ahead of a goal beside the start a car goes, in distances aside, and the share of the time that it takes."""


def driven(vehicle: NonholonomicVehicle, task: Task, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Along the way with the heading of its tangent; shape and shape velocity by least squares of the body velocity."""
    h = task.duration_s / steps
    if _is_beside(task):
        places, heading = _shuffled(task, steps)
    else:
        places = paced_way(vehicle, task, steps)
        heading = _along(places, task)
    poses = np.c_[heading, places[:, :2]]
    speed = np.gradient(places[:, :2], h, axis=0)
    forward = np.cos(heading) * speed[:, 0] + np.sin(heading) * speed[:, 1]
    xi = np.stack([np.gradient(heading, h), forward, np.zeros_like(forward)], axis=1)
    r, u = _shapes_that_move(vehicle, task, xi)
    for i in vehicle.dynamic:
        r[:, i] = task.start.shape[i] + np.r_[0.0, np.cumsum((u[1:, i] + u[:-1, i]) / 2 * h)]
    nodes = np.c_[poses, _body_velocities(vehicle, r, u), r, u]
    inputs = np.zeros((steps + 1, len(vehicle.controls)))
    names = [c.name for c in vehicle.controls]
    for i, coordinate in enumerate(vehicle.shape_coordinates):
        if coordinate.name in vehicle.commanded:
            rate = np.gradient(r[:, i], h)
            nodes[:, vehicle.node_layout.shape_velocity][:, i] = rate
            inputs[:, names.index(vehicle.commanded[coordinate.name])] = rate
    return nodes, inputs


def _chord_b(task: Task) -> np.ndarray:
    """(2,) from start to goal, ahead and left of the start."""
    a, d = task.start.node[0], task.goal.state.node[1:3] - task.start.node[1:3]
    return np.array([np.cos(a) * d[0] + np.sin(a) * d[1], np.cos(a) * d[1] - np.sin(a) * d[0]])


def _is_beside(task: Task) -> bool:
    """Whether it has to come to lie beside where it starts, facing about the same way; a straight way leads nowhere."""
    ahead, left = np.abs(_chord_b(task))
    turn = 0.0 if task.goal.rotation == "free" else _wrapped(task.goal.state.node[0] - task.start.node[0])
    return bool(left > 1.2 * ahead and left > 1e-3 and abs(turn) < 1.0 and not task.waypoints)


def _shuffled(task: Task, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """(N+1, 3) places and (N+1,) headings: ahead of the goal in a bow, and back into it."""
    a = task.start.node[0]
    b = a if task.goal.rotation == "free" else a + _wrapped(task.goal.state.node[0] - a)
    left = abs(_chord_b(task)[1])
    at_a, at_b = (np.array([np.cos(x), np.sin(x)]) for x in (a, b))
    start, goal = task.start.node[1:3], task.goal.state.node[1:3]
    cusp = goal + _AHEAD * left * at_b
    t = np.linspace(0.0, 1.0, steps + 1)
    s, back = _eased(t / _BOW), _eased((t - _BOW) / (1.0 - _BOW))
    reach = float(np.linalg.norm(cusp - start))
    blend = np.stack([2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s, 3 * s**2 - 2 * s**3, s**3 - s**2], axis=1)
    slope = np.stack([6 * s**2 - 6 * s, 3 * s**2 - 4 * s + 1, 6 * s - 6 * s**2, 3 * s**2 - 2 * s], axis=1)
    knots = np.stack([start, reach * at_a, cusp, reach * at_b])
    tangent = slope @ knots
    heading = a + np.unwrap(np.arctan2(tangent[:, 1], tangent[:, 0]) - a)
    xy = blend @ knots - back[:, None] * (cusp - goal)
    return np.c_[xy, np.zeros(steps + 1)], heading


def _eased(s: np.ndarray) -> np.ndarray:
    """From 0 to 1 and at rest at both."""
    s = np.clip(s, 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


def _along(places: np.ndarray, task: Task) -> np.ndarray:
    """(N+1,) continuous headings of the way, turning into those of the ends."""
    step = np.gradient(places[:, :2], axis=0)
    a, b = task.start.node[0], task.goal.state.node[0]
    chord = places[-1, :2] - places[0, :2]
    ahead = np.hypot(*chord) > 1e-6 and abs(_wrapped(np.arctan2(chord[1], chord[0]) - a)) < 1.0
    if not ahead:
        return a + _wrapped(b - a) * np.linspace(0.0, 1.0, len(places))
    heading = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    heading += _wrapped(heading[0] - a) + a - heading[0]
    s = np.linspace(0.0, 1.0, len(places))
    early, late = np.clip(1 - 6 * s, 0, 1) ** 2, np.clip(6 * s - 5, 0, 1) ** 2
    return heading - early * _wrapped(heading[0] - a) + late * _wrapped(b - heading[-1])


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2 * np.pi) - np.pi)


def _shapes_that_move(
    vehicle: NonholonomicVehicle, task: Task, xi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(N+1, n_shape) shapes and dynamic shape velocities that come closest to body velocities, by Gauss-Newton."""
    n = len(vehicle.shape_coordinates)
    free = [i for i in range(n) if i not in vehicle.dynamic]
    r, u, want = ca.SX.sym("r", n), ca.SX.sym("u", n), ca.SX.sym("xi", vehicle.group.dim)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    unknown = ca.vertcat(u[vehicle.dynamic], r[free])
    miss = -(vehicle.connection(r, q) @ u) - want
    slope = ca.jacobian(miss, unknown)
    step = -ca.solve(slope.T @ slope + 1e-6 * ca.SX.eye(unknown.shape[0]), slope.T @ miss)
    count = len(xi)
    newton = ca.Function("newton", [r, u, want], [step]).map(count)
    rs, us = np.tile(task.start.shape, (count, 1)), np.zeros((count, n))
    us[:, vehicle.dynamic] = 1e-3
    for _ in range(12):
        change = np.array(newton(rs.T, us.T, xi.T)).T
        us[:, vehicle.dynamic] += change[:, : len(vehicle.dynamic)]
        rs[:, free] += np.clip(change[:, len(vehicle.dynamic) :], -0.3, 0.3)
        for i in free:
            stops = vehicle.shape_coordinates[i]
            rs[:, i] = np.clip(rs[:, i], 0.8 * stops.low, 0.8 * stops.high)
    us[:, free] = 0.0
    return rs, us


def _body_velocities(vehicle: NonholonomicVehicle, rs: np.ndarray, us: np.ndarray) -> np.ndarray:
    n = len(vehicle.shape_coordinates)
    r, u = ca.SX.sym("r", n), ca.SX.sym("u", n)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    move = ca.Function("xi", [r, u], [ca.densify(-(vehicle.connection(r, q) @ u))])
    return np.array(move.map(len(rs))(rs.T, us.T)).T
