"""Guesses for what moves in all directions: along the way, turning evenly; by burns; or along the arcs of a space of
its own, with what has a place along a way."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.groups.numeric import rotation_exp, rotation_log
from sim.planner.guess.leading import Scaled, following, follows
from sim.planner.guess.route import paced_path, paths_of
from sim.planner.task.bodies import (
    arc_space,
    arcs,
    heading_rad,
    places,
    planar,
    planar_poses,
    points,
    positions,
    rotation_wb,
    spatial_poses,
    stands,
    structure_of,
    turn_rad,
    velocities,
    wrapped,
)
from sim.planner.task.inputs import ThrustVectorMap, holding, input_map_of
from sim.planner.task.task import Task, control_limits
from sim.planner.transcription.shape import inertia_diagonal
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.world.path import arc_length


def led_through_space(
    t: Transcription, vehicle: Vehicle, task: Task, most: int, scaled: Scaled
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size), the likeliest first."""
    steps, led = t.shape.steps, follows(t.model, vehicle)
    inputs = np.tile(holding(vehicle, task.goal.state.node), (steps + 1, 1))

    def moved(way: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        nodes = _along(vehicle, task, steps, paced_path(vehicle, task, steps, way, gently=led))
        return (led and following(t, vehicle, task, nodes, scaled)) or (nodes, inputs)

    yield moved()
    if places(vehicle) and task.obstacles:
        for way in paths_of(vehicle, task, most):
            yield moved(way)


def _along(vehicle: Vehicle, task: Task, steps: int, way: np.ndarray) -> np.ndarray:
    """Everything on the arc from start to goal at the way's pace, and all places as far beside it as the way is."""
    ends = np.stack([task.start.node, task.goal.state.node])
    start = np.tile(ends[0], (steps + 1, 1))
    arc = np.repeat(arcs(arc_space(vehicle), ends[:1], ends[1:]), steps + 1, axis=0)
    nodes = points(arc_space(vehicle), start, arc, _shares(way))
    beside = way - positions(vehicle, nodes)
    for at in places(vehicle):
        nodes[:, at] += beside
    return _moving(vehicle, nodes, task.duration_s / steps)


def _shares(way: np.ndarray) -> np.ndarray:
    """(N+1,) of its length; of the time where it has none."""
    done = arc_length(way)
    return done / done[-1] if done[-1] > 1e-6 else np.linspace(0.0, 1.0, len(way))


def _moving(vehicle: Vehicle, nodes: np.ndarray, h: float) -> np.ndarray:
    """The nodes with the velocities that come nearest to how they follow each other; those at the ends are kept."""
    moving = [i for i, _ in velocities(vehicle)]
    still = np.setdiff1d(np.arange(nodes.shape[1]), moving)
    nodes[1:-1][:, moving] = 0.0
    count = len(nodes)
    flat = _rates(structure_of(vehicle)).rows(nodes, vehicle.parameter_vector)
    slopes = flat.reshape(count, len(moving), len(still)).transpose(0, 2, 1)
    wanted = np.gradient(nodes[:, still], h, axis=0)
    for k in range(1, count - 1):
        nodes[k, moving] = np.linalg.lstsq(slopes[k], wanted[k], rcond=1e-9)[0]
    return nodes


@lru_cache(maxsize=16)
def _rates(structure: Structure) -> ColumnKernel:
    """(node, parameters) -> how the rest of a node changes by its velocities, column after column."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    moving = [i for i, _ in velocities(vehicle)]
    still = np.setdiff1d(np.arange(node.shape[0]), moving).tolist()
    rate = vehicle.configuration_rate(node, vehicle.symbols(p))[still]
    slopes = ca.vec(ca.densify(ca.jacobian(rate, node)[:, moving]))
    return ColumnKernel(ca.Function("rates", [node, p], [slopes], {"cse": True}), shared=(1,))


_RIGHTING = 0.7
"""Share of the highest turn rate at which a guess turns upright."""


Heading = Literal["even", "ahead", "astern", "around"]
"""On a plane: turning evenly, facing along the way or against it, turning evenly the longer way around."""
_ENDS = 6.0
"""Of the way's headings, in this part of the time at each end the given one comes in."""


def free_motion(vehicle: Vehicle, task: Task, places: np.ndarray, heading: Heading = "even") -> np.ndarray:
    """(N+1, node size): poses at places (N+1, 3), turning evenly from the start's rotation to the goal's or as told.

    What is held up by its lift rights itself first: thrown, it falls until it does.
    """
    steps = len(places) - 1
    s = np.linspace(0.0, 1.0, steps + 1)
    if planar(vehicle):
        poses = planar_poses(_headings(task, places, s, heading), places)
    else:
        R = _rotations(vehicle, task, s)
        poses = _facing(vehicle, R, places) if stands(vehicle) else spatial_poses(R, places)
    return nodes_of_poses(vehicle, poses, task.duration_s / steps)


def _headings(task: Task, places: np.ndarray, s: np.ndarray, heading: Heading) -> np.ndarray:
    """(N+1,) continuous, at shares s of the time."""
    a, free = heading_rad(task.start), task.goal.rotation == "free"
    turn = 0.0 if free else turn_rad(task)
    if heading == "around":
        turn -= np.copysign(2.0 * np.pi, turn)
    if heading in ("even", "around"):
        return np.asarray(a + _paced_turn(s) * turn)
    step = np.gradient(places[:, :2], axis=0)
    along = np.unwrap(np.arctan2(step[:, 1], step[:, 0]) + (np.pi if heading == "astern" else 0.0))
    along += a + wrapped(along[0] - a) - along[0]
    early, late = np.clip(1.0 - _ENDS * s, 0.0, 1.0) ** 2, np.clip(_ENDS * (s - 1.0) + 1.0, 0.0, 1.0) ** 2
    along -= early * (along[0] - a)
    # The way may wind, too: what is left to turn is the least that ends at the goal's heading, or at its full turns.
    left = a + turn - along[-1]
    return along if free else along + late * (left if abs(turn) > np.pi else wrapped(left))


def _facing(vehicle: Vehicle, R: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(n, 9) poses about a fixed point: rotations (n, 3, 3) turned on, so that the main body comes towards places."""
    poses = R.transpose(0, 2, 1).reshape(-1, 9)
    here = positions(vehicle, poses)
    axes = np.cross(here, places)
    sine, cosine = np.linalg.norm(axes, axis=1), np.sum(here * places, axis=1)
    turn = np.arctan2(sine, cosine) * (sine > 1e-6 * np.abs(cosine))
    R = rotation_exp(axes / np.maximum(sine, 1e-12)[:, None] * turn[:, None]) @ R
    return R.transpose(0, 2, 1).reshape(-1, 9)


def _rotations(vehicle: Vehicle, task: Task, s: np.ndarray) -> np.ndarray:
    """(N+1, 3, 3) at shares s of the time."""
    Ra, Rb = rotation_wb(task.start), rotation_wb(task.goal.state)
    righting = _to_upright(Ra)
    if isinstance(input_map_of(vehicle), ThrustVectorMap):
        takes_s = float(np.linalg.norm(righting)) / (_RIGHTING * task.limits.turn_radps)
        first = _turned(righting, _smooth(np.minimum(s * task.duration_s / max(takes_s, 1e-9), 1.0)))
        rest = _between(Ra @ first[-1], Rb) if task.goal.rotation in ("fixed", "within") else np.zeros(3)
        return Ra @ first @ _turned(rest, _paced_turn(s))
    turn = righting if task.goal.rotation == "upright" else _between(Ra, Rb)
    return Ra @ _turned(np.zeros(3) if task.goal.rotation == "free" else turn, _paced_turn(s))


def _between(Ra: np.ndarray, Rb: np.ndarray) -> np.ndarray:
    """Body rotation vector of the shortest turn from Ra to Rb."""
    return rotation_log(Ra.T @ Rb)


def _smooth(s: np.ndarray) -> np.ndarray:
    """From 0 to 1, at rest at both ends."""
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def _paced_turn(s: np.ndarray) -> np.ndarray:
    """Like the pace along the way."""
    return 0.3 * s + 0.7 * _smooth(s)


def _to_upright(R_wb: np.ndarray) -> np.ndarray:
    """Body rotation vector that brings body z to the vertical."""
    up_b = R_wb.T @ np.array([0.0, 0.0, 1.0])
    axis = np.cross([0.0, 0.0, 1.0], up_b)
    sine = np.linalg.norm(axis)
    angle = np.arctan2(sine, up_b[2])
    if sine < 1e-9:
        return np.array([angle, 0.0, 0.0])
    return axis / sine * angle


def nodes_of_poses(vehicle: Vehicle, poses: np.ndarray, h: float) -> np.ndarray:
    """(N+1, node size) with the velocities that the poses ask for: means of the two arcs at a node."""
    xi = arcs(vehicle.group, poses[:-1], poses[1:]) / h
    velocity = np.concatenate([xi[:1], (xi[1:] + xi[:-1]) / 2, xi[-1:]])
    nodes = np.zeros((len(poses), vehicle.node_layout.size))
    nodes[:, vehicle.node_layout.pose] = poses
    nodes[:, vehicle.node_layout.velocity] = velocity
    return nodes


_BURNS = ((0.2, 0.4), (0.6, 0.8))
"""Shares of the time from and to which it burns."""
_LITTLE = 1e-9


def thrust_axis(vehicle: HolonomicVehicle, task: Task) -> np.ndarray | None:
    """(3,) unit vector in the body of all forces of the inputs; None where there are several, or weight to carry."""
    input_map = input_map_of(vehicle)
    if vehicle.group.turns != 3 or isinstance(input_map, ThrustVectorMap):
        return None
    forces = input_map.columns()[3:]
    axes, sizes, _ = np.linalg.svd(forces)
    if sizes[0] < _LITTLE or sizes[1:].max(initial=0.0) > _LITTLE * sizes[0]:
        return None
    if np.abs(input_map.load(task.start.node[vehicle.node_layout.pose])).max() > _LITTLE * sizes[0]:
        return None
    along = forces.T @ axes[:, 0]
    return np.asarray(axes[:, 0] * np.sign(along[np.abs(along).argmax()]))


def burnt(
    vehicle: HolonomicVehicle, task: Task, steps: int, axis_b: np.ndarray, way: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (N+1, node size) and planned inputs (N+1, size), along a way (n, 3) where one is given.

    For what is pushed along one axis of its body alone, weightless: turn, burn, coast, burn, turn. Two burns lead from
    any place and velocity to any other in a given time, and the body has to point along each of them; a straight line
    of places with an evenly turning body says nothing of that.
    """
    s, T = np.linspace(0.0, 1.0, steps + 1), task.duration_s
    changes = _changes_of_velocity(vehicle, task)
    if way is not None or task.obstacles or task.waypoints or task.ground is not None:
        places = paced_path(vehicle, task, steps, way)
    else:
        places = _places(vehicle, task, s * T, changes)
    columns, limits = input_map_of(vehicle).columns(), control_limits(vehicle, task.limits)
    share = np.linalg.pinv(columns) @ np.r_[np.zeros(3), axis_b]
    both_ways = bool((limits[np.abs(share) > _LITTLE, 0] < 0.0).all())
    R, signs = _burning_rotations(task, s, axis_b, changes, both_ways=both_ways)
    mass, inputs = inertia_diagonal(vehicle)[3], np.zeros((steps + 1, len(share)))
    for (early, late), change, sign in zip(_BURNS, changes, signs, strict=True):
        force = sign * mass * float(np.linalg.norm(change)) / ((late - early) * T)
        inputs[(s >= early) & (s < late)] = force * share
    poses = spatial_poses(R, places)
    return nodes_of_poses(vehicle, poses, T / steps), np.clip(inputs, *limits.T)


def _velocity_w(state: State) -> np.ndarray:
    return rotation_wb(state) @ state.node[state.layout.velocity][3:]


def _ends(vehicle: HolonomicVehicle, task: Task) -> tuple[np.ndarray, np.ndarray]:
    return tuple(positions(vehicle, np.stack([task.start.node, task.goal.state.node])))


def _changes_of_velocity(vehicle: HolonomicVehicle, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """World vectors [m/s] of the two burns, each as if at its middle."""
    (x0, x1), T = _ends(vehicle, task), task.duration_s
    t0, t1 = (T * sum(burn) / 2 for burn in _BURNS)
    v0, v1 = _velocity_w(task.start), _velocity_w(task.goal.state)
    if task.goal.position == "free":
        return np.zeros(3), np.zeros(3) if task.goal.velocity == "free" else v1 - v0
    if task.goal.velocity == "free":
        return (x1 - x0 - v0 * T) / (T - t0), np.zeros(3)
    coast = (x1 - x0 - v0 * t0 - v1 * (T - t1)) / (t1 - t0)
    return coast - v0, v1 - coast


def _places(
    vehicle: HolonomicVehicle, task: Task, t: np.ndarray, changes: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """(N+1, 3): even accelerations during the burns."""
    x = _ends(vehicle, task)[0] + np.outer(t, _velocity_w(task.start))
    for burn, change in zip(_BURNS, changes, strict=True):
        early, late = (share * task.duration_s for share in burn)
        during = np.clip(t - early, 0.0, late - early)
        x += np.outer(during**2 / (2 * (late - early)) + np.maximum(t - late, 0.0), change)
    return x


def _burning_rotations(
    task: Task, s: np.ndarray, axis_b: np.ndarray, changes: tuple[np.ndarray, np.ndarray], *, both_ways: bool
) -> tuple[np.ndarray, tuple[float, float]]:
    """(N+1, 3, 3) R_wb, and whether each burn pushes ahead (1) or back (-1)."""
    R, signs, turns = rotation_wb(task.start), [], []
    for change in changes:
        sign = -1.0 if both_ways and change @ (R @ axis_b) < 0.0 else 1.0
        turns.append(_turn_between(R @ axis_b, sign * change))
        R = _turned(turns[-1], 1.0) @ R
        signs.append(sign)
    last = rotation_wb(task.goal.state) @ R.T
    turns.append(np.zeros(3) if task.goal.rotation == "free" else rotation_log(last))
    out = np.tile(rotation_wb(task.start), (len(s), 1, 1))
    for turn, begin, end in zip(
        turns, (0.0, _BURNS[0][1], _BURNS[1][1]), (_BURNS[0][0], _BURNS[1][0], 1.0), strict=True
    ):
        share = np.clip((s - begin) / (end - begin), 0.0, 1.0)
        out = _turned(turn, share * share * (3.0 - 2.0 * share)) @ out
    return out, (signs[0], signs[1])


def _turned(turn_w: np.ndarray, share: np.ndarray | float) -> np.ndarray:
    """(..., 3, 3)."""
    return rotation_exp(np.multiply.outer(share, turn_w))


def _turn_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rotation vector of the shortest turn from the direction a to that of b; none where b is nothing."""
    if np.linalg.norm(b) < _LITTLE:
        return np.zeros(3)
    axis = np.cross(a, b)
    sine, cosine = float(np.linalg.norm(axis)), float(a @ b)
    if sine < 1e-6 * abs(cosine):
        axis = np.cross(a, np.eye(3)[np.abs(a).argmin()])
    return np.arctan2(sine, cosine) * axis / np.linalg.norm(axis)
