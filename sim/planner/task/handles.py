"""What of a task can be taken by the hand: goal, waypoints, obstacles.

Pure edits, any of which is another task, and in a few words what one has changed.
"""

from dataclasses import fields, replace

import numpy as np
from numpy.typing import ArrayLike

from sim.groups.numeric import pose_matrix, triple, upright
from sim.planner.task.bodies import (
    body_poses,
    heading_rad,
    jointed,
    own_space,
    places,
    planar,
    positions,
    stands,
)
from sim.planner.task.meeting import brought_to, fixed_directions
from sim.planner.task.task import GOAL_MOVES, WEIGHT_NAMES, Obstacle, Task, Waypoint, motion_of
from sim.shapes import Cylinder
from sim.shapes.shape import Handle
from sim.vehicles import Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle

UP = np.array([0.0, 0.0, 1.0])
"""Of the world."""


def handles(vehicle: Vehicle, task: Task) -> tuple[Handle, ...]:
    """Everything that can be moved."""
    counts = task.goal.rotation == "fixed"
    posed = counts and jointed(vehicle) and task.goal.parts is not None
    turns = "xyz" if posed else "z" if counts and not own_space(vehicle) else ""
    out = [Handle("goal", _pose_of(vehicle, task), turns)]
    out += [Handle(f"waypoint {i}", _at(w.position_w), "") for i, w in enumerate(task.waypoints)]
    for i, obstacle in enumerate(task.obstacles):
        out.append(Handle(f"obstacle {i}", _at(obstacle.middle_w, obstacle.heading), "z" * obstacle.turns))
    return tuple(out)


def never_along(vehicle: Vehicle, task: Task, name: str) -> np.ndarray | None:
    """(3,) unit direction along which a hand does not move a handle: up on a plane, and of a goal that something
    carries, as a deck does; across what joints can do, of a tool. None: it goes anywhere."""
    if planar(vehicle):
        return UP
    if name != "goal":
        return None
    if isinstance(vehicle, ArticulatedVehicle) and not places(vehicle):
        along, _ = fixed_directions(vehicle)
        return along[0] if len(along) else None
    carrier = motion_of(task, GOAL_MOVES)
    return UP if carrier is not None and len(task.motions[carrier].moves) > 1 else None


def moved(vehicle: Vehicle, task: Task, name: str, T_w: np.ndarray) -> Task:
    """The task with one handle at another pose. What moves on a plane stays on it; T_w is a rigid motion."""
    kind, _, index = name.partition(" ")
    if kind == "goal":
        return _with_goal(vehicle, task, T_w)
    i, flat = int(index), planar(vehicle)
    if kind == "waypoint":
        place = _flat(T_w[:3, 3], flat, task.waypoints[i].position_w[2])
        return _with_waypoint(task, i, replace(task.waypoints[i], position_w=place))
    obstacle = task.obstacles[i]
    middle = np.array(obstacle.middle_w)
    by = triple(np.array(_flat(T_w[:3, 3], flat, float(middle[2]))) - middle)
    new = obstacle.moved(by, float(np.arctan2(T_w[1, 0], T_w[0, 0])))
    return replace(task, obstacles=(*task.obstacles[:i], new, *task.obstacles[i + 1 :]))


def scaled(task: Task, name: str, factor: float) -> Task:
    """The task with an obstacle, or how near a waypoint is to be passed, larger by a factor; the goal stays."""
    kind, _, index = name.partition(" ")
    if kind == "goal":
        return task
    i = int(index)
    if kind == "waypoint":
        waypoint = task.waypoints[i]
        return _with_waypoint(task, i, replace(waypoint, tolerance_m=factor * waypoint.tolerance_m))
    new = task.obstacles[i].scaled(factor)
    return replace(task, obstacles=(*task.obstacles[:i], new, *task.obstacles[i + 1 :]))


def with_waypoint(task: Task, place_w: np.ndarray, *, tolerance_m: float, time_s: float | None) -> Task:
    """The task with one more waypoint."""
    return replace(task, waypoints=(*task.waypoints, Waypoint(triple(place_w), tolerance_m, time_s)))


def without(task: Task, name: str) -> Task:
    """The task without a waypoint or an obstacle; the goal stays."""
    kind, _, index = name.partition(" ")
    if kind == "goal":
        return task
    i = int(index)
    if kind == "waypoint":
        return replace(task, waypoints=(*task.waypoints[:i], *task.waypoints[i + 1 :]))
    return replace(task, obstacles=(*task.obstacles[:i], *task.obstacles[i + 1 :]))


def copied(task: Task, name: str) -> Task:
    """The task with one more waypoint or obstacle, beside the one that is named; there is one goal only."""
    kind, _, index = name.partition(" ")
    if kind == "goal":
        return task
    i = int(index)
    if kind == "waypoint":
        waypoint = task.waypoints[i]
        x, y, z = waypoint.position_w
        beside = replace(waypoint, position_w=(x, y + 4.0 * waypoint.tolerance_m, z), time_s=None)
        return replace(task, waypoints=(*task.waypoints, beside))
    obstacle = task.obstacles[i]
    taken = {each.name for each in task.obstacles}
    name = _free_name(obstacle.name or obstacle.kind, taken)
    new = obstacle.moved((0.0, 1.5 * obstacle.across_m, 0.0)).called(name)
    return replace(task, obstacles=(*task.obstacles, new))


def renamed(task: Task, index: int, name: str) -> Task:
    """The task with an obstacle called otherwise."""
    obstacles = list(task.obstacles)
    obstacles[index] = obstacles[index].called(name)
    return replace(task, obstacles=tuple(obstacles))


def with_obstacle(vehicle: Vehicle, task: Task) -> Task:
    """The task with one more pillar, halfway from the start to the goal."""
    ends = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    reach = float(np.linalg.norm(ends[1] - ends[0]))
    name = _free_name("pillar", {each.name for each in task.obstacles})
    pillar = Cylinder(triple(ends.mean(axis=0)), max(0.04 * reach, 0.2), name)
    return replace(task, obstacles=(*task.obstacles, pillar))


def _free_name(wanted: str, taken: set[str]) -> str:
    stem = wanted.rstrip("0123456789").rstrip() or wanted
    numbers = (f"{stem} {k}" for k in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(name for name in numbers if name not in taken)


def stretched(task: Task, seconds: float) -> Task:
    """The task in another final time, or first guess of it; waypoints keep their share, bounds make room."""
    share = seconds / task.duration_s
    waypoints = tuple(w if w.time_s is None else replace(w, time_s=w.time_s * share) for w in task.waypoints)
    free = task.free_duration
    if free is not None:
        free = min(free[0], seconds), max(free[1], seconds)
    return replace(task, duration_s=seconds, waypoints=waypoints, free_duration=free)


def with_gait(vehicle: Vehicle, task: Task, on: bool) -> Task:
    """The task as a gait, whose shape and velocities end as they begin, whatever they are; or from rest to rest again,
    with any shape."""
    count = len(vehicle.shape_coordinates)
    if on:
        goal = replace(task.goal, velocity="free", shape=(), shape_velocity=())
        return replace(task, periodic=("shape", "velocity"), goal=goal)
    node = task.start.node.copy()
    node[vehicle.node_layout.velocity] = 0.0
    node[vehicle.node_layout.shape_velocity] = 0.0
    goal = replace(task.goal, velocity="fixed", shape_velocity=tuple(range(count)))
    return replace(task, periodic=(), goal=goal, start=vehicle.state_at_node(node))


def freed(task: Task, bounds_s: tuple[float, float] | None) -> Task:
    """The task with its final time left to the planner between two bounds, or fixed at what it is (None)."""
    if bounds_s is None:
        return replace(task, free_duration=None)
    inside = min(max(task.duration_s, bounds_s[0]), bounds_s[1])
    return replace(stretched(replace(task, free_duration=None), inside), free_duration=bounds_s)


def _with_waypoint(task: Task, i: int, waypoint: Waypoint) -> Task:
    return replace(task, waypoints=(*task.waypoints[:i], waypoint, *task.waypoints[i + 1 :]))


def _with_goal(vehicle: Vehicle, task: Task, T_w: np.ndarray) -> Task:
    if own_space(vehicle):
        posed = jointed(vehicle) and task.goal.rotation == "fixed" and task.goal.parts is not None
        node = brought_to(vehicle, task.goal.state.node, T_w[:3, 3], T_w[:3, :3] if posed else None)
        return replace(task, goal=replace(task.goal, state=vehicle.state_at_node(node)))
    node, T_wb = task.goal.state.node.copy(), T_w.copy()
    if not planar(vehicle):
        u, _, vt = np.linalg.svd(T_w[:3, :3])
        T_wb[:3, :3] = u @ vt
    node[vehicle.node_layout.pose] = vehicle.group.from_space(T_wb)
    return replace(task, goal=replace(task.goal, state=replace(task.goal.state, node=node)))


def _pose_of(vehicle: Vehicle, task: Task) -> np.ndarray:
    state = task.goal.state
    if jointed(vehicle):
        return body_poses(vehicle, state.node)[0]
    if own_space(vehicle):
        return _at(positions(vehicle, state.node)[0])
    if planar(vehicle):
        return _at(positions(vehicle, state.node)[0], heading_rad(state))
    if stands(vehicle):
        return body_poses(vehicle, state.node)[0]
    return state.pose


def _at(place: ArrayLike, heading_rad: float = 0.0) -> np.ndarray:
    return pose_matrix(upright(heading_rad), place)


def _flat(place: np.ndarray, planar: bool, z_m: float) -> tuple[float, float, float]:
    return triple(np.array([*place[:2], z_m if planar else place[2]]))


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
