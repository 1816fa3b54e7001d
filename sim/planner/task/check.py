"""Tasks that cannot be, refused before any solver runs, with the reason in one line."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from numbers import Real

import numpy as np

from sim.control.plan_following import planned_on
from sim.integrators import Integrator
from sim.integrators.composed import Composed
from sim.multibody.pushing import nearest
from sim.planner.task.bodies import (
    body_names,
    body_poses,
    counts_turns,
    jointed,
    own_space,
    planar,
    positions,
    stands,
    turn_rad,
    turns,
    velocities,
)
from sim.planner.task.check_numbers import check_numbers
from sim.planner.task.check_own import check_own_terms
from sim.planner.task.clearance import on_plane, over_ground_m
from sim.planner.task.meeting import goal_at
from sim.planner.task.motions import Motion, Sway
from sim.planner.task.open_start import check_open_start, open_start
from sim.planner.task.own_bodies import balls_at
from sim.planner.task.reference import Reference
from sim.planner.task.refusal import GOAL, START, TaskPart, TaskRefused, obstacle_part, refused, waypoint_part
from sim.planner.task.task import (
    DEMANDED,
    GOAL_MOVES,
    Goal,
    Limits,
    Task,
    Waypoint,
    Weights,
    brought_back,
    check_can_plan,
    motion_of,
)
from sim.planner.task.terrain import SafeGround
from sim.planner.task.waypoints import longest_s, soonest_s, waypoint_node
from sim.platform.errors import InputError, quote
from sim.shapes import KINDS, Shape, Vector
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

_OBSTACLES = ", ".join(kind.__name__ for kind in KINDS.values())
_WHOLE = (int, np.integer)


def check_kinds(task: object) -> None:
    """Raises InputError, in one line, for the first part that is something else."""
    if not isinstance(task, Task):
        raise InputError(f"task = {quote(task)} is refused; allowed: a Task")
    if not isinstance(task.name, str):
        raise InputError(f"a task's name = {quote(task.name)} is refused; allowed: text")
    _one(task, "start", task.start, (State,), "a State, as vehicle.state(...) gives it")
    _one(task, "goal", task.goal, (Goal,), "a Goal")
    _one(task, "goal's state", task.goal.state, (State,), "a State, as vehicle.state(...) gives it")
    for name in DEMANDED:
        _one(task, f"goal's {name}", getattr(task.goal, name), (str,), "fixed, within, upright, free")
    _several(task, "or_goals", task.or_goals, (Goal,), "Goal")
    _one(task, "weights", task.weights, (Weights,), "Weights")
    _one(task, "limits", task.limits, (Limits,), "Limits")
    _one(task, "ground", task.ground, (SafeGround, type(None)), "a SafeGround, or None")
    _several(task, "obstacles", task.obstacles, tuple(KINDS.values()), _OBSTACLES)
    _several(task, "waypoints", task.waypoints, (Waypoint,), "Waypoint")
    _several(task, "motions", task.motions, (Motion,), "Motion")
    for motion in task.motions:
        _several(task, "a motion's moves", motion.moves, (str,), "names")
        _several(task, "a motion's sways", motion.sways, (Sway,), "Sway")
        _several(task, "a motion's table", motion.table, (tuple, list), "rows of seven numbers")
    _several(task, "body", task.body, (Sequence, np.ndarray), "balls (x, y, z, radius)")
    _several(task, "bodies", task.bodies, (str,), "names")
    if task.goal.parts is not None:
        _several(task, "goal's parts", task.goal.parts, (str,), "names")
    _several(task, "goal's shape", task.goal.shape, _WHOLE, "indices")
    _several(task, "goal's shape_velocity", task.goal.shape_velocity, _WHOLE, "indices")
    for obstacle in task.obstacles:
        _check_obstacle(task, obstacle)
    for name in ("controls", "shape", "columns", "rates"):
        _one(task, f"limits' {name}", getattr(task.limits, name), (Mapping,), "a dict by name")
    for name in ("effort_scale", "numbers", "free_parameters", "start_within"):
        _one(task, name, getattr(task, name), (Mapping,), "a dict by name")
    _several(task, "periodic", task.periodic, (str,), "names of numbers or parts of the state")
    for name in ("numbers", "free_parameters", "start_within"):
        _several(task, f"names of {name}", tuple(getattr(task, name)), (str,), "names")
    _one(task, "reference", task.reference, (Reference, type(None)), "a Reference, or None")
    if not isinstance(task.constraints, tuple | list):
        raise _refused(task, "constraints", task.constraints, "a sequence of functions or PathConstraint")


def _several(task: Task, what: str, value: object, kinds: tuple[type, ...], allowed: str) -> None:
    """Refused unless it is a tuple or a list of these."""
    if not isinstance(value, tuple | list) or not all(isinstance(one, kinds) for one in value):
        raise _refused(task, what, value, f"a sequence of {allowed}")


def _check_obstacle(task: Task, obstacle: Shape) -> None:
    """By what each of its fields is declared to be."""
    for field in fields(obstacle):  # type: ignore[arg-type]
        what, value = f"an obstacle's {field.name}", getattr(obstacle, field.name)
        if field.type == Vector:
            _three(task, what, value)
        elif field.type is str:
            _one(task, what, value, (str,), "text")
        elif field.type is float:
            _one(task, what, value, (Real,), "a number")
        elif not isinstance(value, Sequence | np.ndarray) or isinstance(value, str):
            raise _refused(task, what, value, "a sequence of points")
        else:
            for row in value:
                (_three if field.type == tuple[Vector, ...] else _row)(task, what, row)


def _row(task: Task, what: str, row: object) -> None:
    if not isinstance(row, tuple | list | np.ndarray):
        raise _refused(task, what, row, "rows of numbers")
    for number in row:
        _one(task, what, number, (Real,), "rows of numbers")


def _three(task: Task, what: str, place: object) -> None:
    is_row = isinstance(place, tuple | list) or (isinstance(place, np.ndarray) and place.ndim == 1)
    if not is_row or len(place) != 3:  # type: ignore[arg-type]
        raise _refused(task, what, place, "three numbers")
    for number in place:  # type: ignore[attr-defined]
        _one(task, what, number, (Real,), "three numbers")


def _one(task: Task, what: str, value: object, kinds: tuple[type, ...], allowed: str) -> None:
    if not isinstance(value, kinds):
        raise _refused(task, what, value, allowed)


def _refused(task: Task, what: str, value: object, allowed: str) -> InputError:
    return InputError(f"{task.name}: {what} = {quote(value)} is refused; allowed: {allowed}")


_ROUNDING = 1e-9
_DEEP_M = 1e-3
"""What a foot may be below the ground at an end of a plan."""
_STRAYED = 0.25
"""Share of the way that a plan can go at most: a measured start that is farther outside than that is refused."""


def check_task(vehicle: Vehicle, method: Integrator, task: Task, *, measured: bool = False) -> None:
    """Raises InputError for the first thing that is impossible.

    measured: the start is where a vehicle has come to, and may be a little outside of the bounds.
    """
    check_can_plan(vehicle)
    check_kinds(task)
    reason = unplannable(method) or method.serves(vehicle)
    if reason:
        raise refused(task, reason)
    check_numbers(vehicle, task)
    check_open_start(vehicle, task)
    if task.ground is not None and stands(vehicle):
        raise refused(task, f"{vehicle.name} stands on a fixed point; allowed: no ground, obstacles")
    _check_waypoints(vehicle, task)
    found = open_start(vehicle, task).found
    check_own_terms(vehicle, task, frozenset(range(vehicle.node_layout.size)) - found, measured=measured)
    if measured:
        near_m = _STRAYED * task.limits.speed_mps * task.duration_s
        _check_place(vehicle, task, START, positions(vehicle, task.start.node[None])[0], near_m)
    else:
        _check_end(vehicle, task, START, task.start, 0.0, found)
    arrival_s = task.duration_s if task.free_duration is None else None
    along = motion_of(task, GOAL_MOVES)
    if arrival_s is not None or along is None:
        _check_end(vehicle, task, GOAL, goal_at(vehicle, task, task.duration_s), arrival_s)
    elif task.goal.position == "fixed":
        # Whenever that is, what moves with it is where the task has it beside it.
        if task.goal.rotation == "fixed":
            _check_clear(vehicle, task, GOAL, task.goal.state, None, along)
        x = positions(vehicle, task.goal.state.node[None])[0]
        _check_anyhow_clear(vehicle, task, GOAL, x, 0.0, None, along)
    _check_standing(vehicle, method, task)
    least_s, most_s = soonest_s(task), longest_s(task)
    if counts_turns(vehicle, task) and abs(turn_rad(task)) > 1.1 * most_s * task.limits.turn_radps:
        raise refused(
            task,
            f"goal is {abs(turn_rad(task)):.4g} rad around from the start, which counts full turns: at "
            f"{task.limits.turn_radps:g} rad/s that takes more than {most_s:g} s; allowed: more time, a higher limit "
            "of turning, or a heading less than a full turn away",
            GOAL,
        )
    # Methods that bound the velocity at nodes only may be a little faster between them.
    if least_s > 1.1 * most_s:
        raise refused(
            task,
            f"goal is too far for {most_s:g} s: at {task.limits.speed_mps:g} m/s it takes {least_s:.3g} s or longer; "
            "allowed: more time, or a higher limit of speed",
            GOAL,
            reason="too far",
        )


def _check_standing(vehicle: Vehicle, method: Integrator, task: Task) -> None:
    """Where contact is planned, no end of a body is deep in the level ground at either end, and no ball in a box."""
    ground, ends = planned_on(vehicle, method), {START: task.start}
    if ground is None:
        return
    if task.goal.parts is None:
        ends[GOAL] = task.goal.state
    for what, state in ends.items():
        deep_m = -ground.clearance_m(state.node)
        if deep_m > _DEEP_M:
            raise refused(
                task,
                f"{what} is {deep_m:.3g} m deep in the ground; allowed: ends of bodies on it, or above",
                what,
            )
        tree, pairs = ground.vehicle.tree, ground.vehicle.pushing
        gap_m, between = nearest(tree, pairs, state.node[: tree.nq])
        if gap_m < -_DEEP_M:
            raise refused(
                task,
                f"{what} has {' and '.join(between)} {-gap_m:.3g} m in each other; allowed: bodies "
                "that touch, or are apart",
                what,
            )


def unplannable(method: Integrator) -> str:
    """Why no plan can be made of a method's steps, in a sentence; empty where one can."""
    if not method.forms:
        return f"{method.name} is a recursion over bodies, and plans are made of equations"
    if method.adaptive:
        return f"{method.name} divides its steps by itself, and a plan takes one from node to node"
    if isinstance(method, Composed):
        return f"{method.name} composes a step of several, and a plan takes one from node to node"
    return ""


def _check_waypoints(vehicle: Vehicle, task: Task) -> None:
    """Each can be met by itself, and no node has to meet two."""
    at_node: dict[int, int] = {}
    for i, waypoint in enumerate(task.waypoints):
        x = np.array(waypoint.position_w, float)
        if planar(vehicle):
            x[2] = 0.0
        what, near = waypoint_part(i), waypoint.tolerance_m
        _check_place(vehicle, task, what, x, near)
        _check_anyhow_clear(vehicle, task, what, x, near, waypoint.time_s)
        if waypoint.time_s is None:
            continue
        k = waypoint_node(waypoint.time_s, task, task.steps)
        if k in at_node:
            raise refused(
                task,
                f"{what} falls on the same step as waypoint {at_node[k] + 1}; allowed: at least "
                f"{task.step_s():.3g} s apart, or more steps",
                what,
            )
        at_node[k] = i


def _check_end(
    vehicle: Vehicle,
    task: Task,
    name: TaskPart,
    state: State,
    time_s: float | None,
    found: frozenset[int] = frozenset(),
) -> None:
    """time_s: when it is there; None: nobody knows. found: numbers of it that are found with the motion."""
    goal, at = task.goal, vehicle.node_layout
    x = positions(vehicle, state.node[None])[0]
    whole = name == START or (own_space(vehicle) and goal.parts is None)
    position, rotation, velocity = ("fixed",) * 3 if whole else (goal.position, goal.rotation, goal.velocity)
    if own_space(vehicle) and not whole:
        velocity = "free"
    # What is to be near may be missed, and so may be anywhere.
    position, rotation, velocity = (
        "free" if demand == "near" else demand for demand in (position, rotation, velocity)
    )
    if found:
        moves = {i for i, _ in velocities(vehicle)}
        position = "free" if found & set(range(at.pose.start, at.pose.stop)) else position
        velocity = "free" if found & moves else velocity
    if position != "free":
        near = goal.tolerance_m * np.sqrt(3.0) if position == "within" else 0.0
        if position == rotation == "fixed":
            _check_clear(vehicle, task, name, state, time_s)
        _check_anyhow_clear(vehicle, task, name, x, near, time_s)
        turned = rotation == "fixed" and not found & set(range(at.pose.start, at.pose.stop))
        _check_place(vehicle, task, name, x, near, state.node if turned else None)
    if rotation != "free" and turns(vehicle) == 3 and not found & set(range(9)):
        spare = goal.tolerance_rad if rotation == "within" else 0.0
        R_wb = body_poses(vehicle, state.node)[0] if own_space(vehicle) else state.pose
        _check_tilt(task, name, 1.0 if rotation == "upright" else float(R_wb[2, 2]), spare)
    inner = tuple(i for i in range(at.shape.stop - at.shape.start) if at.shape.start + i not in found)
    _check_shape(vehicle, task, name, state.node[at.shape], goal.shape if name == GOAL else inner)
    if velocity == "free":
        return
    spare = goal.tolerance_mps if velocity == "within" else 0.0
    fastest = {True: 0.0, False: 0.0}
    for i, angular in velocities(vehicle):
        fastest[angular] = max(fastest[angular], abs(float(state.node[i])) - spare - _ROUNDING)
    for what, most, limit, unit in (
        ("turns at", fastest[True], task.limits.turn_radps, "rad/s"),
        ("moves at", fastest[False], task.limits.speed_mps, "m/s"),
    ):
        if most > limit:
            raise refused(
                task,
                f"{name} is faster than the limits allow: it {what} {most:.3g} of {limit:g} {unit}",
                name,
            )


def _outside_m(
    vehicle: Vehicle, task: Task, places_w: np.ndarray, time_s: float | None, along: int | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """(obstacle, (n,) how far places (n, 3) are from it); at a moment, or but for those that move. along: those alone
    that one of the task's motions moves, and places that it moves, too."""
    for i, obstacle in enumerate(task.obstacles):
        moved_by = motion_of(task, obstacle.name)
        if moved_by != along if along is not None else time_s is None and moved_by is not None:
            continue
        seen = places_w
        if along is None:
            seen = brought_back(task, i, places_w[:, None], np.array([time_s or 0.0]))[:, 0]
        yield i, on_plane(vehicle, obstacle).distance(seen)


def _check_clear(
    vehicle: Vehicle,
    task: Task,
    name: TaskPart,
    state: State,
    time_s: float | None,
    along: int | None = None,
) -> None:
    """Of a pose that is given, whole."""
    pose = state.node[vehicle.node_layout.pose][None]
    centres = balls_at(vehicle, state.node[None], task)[:, 0]
    for i, outside in _outside_m(vehicle, task, centres, time_s, along):
        distance = outside - np.array(task.body, float)[:, 3]
        deep = task.clearance_m - float(distance.min())
        if deep > _ROUNDING:
            raise _inside(task, name, i, deep)
    over_m = over_ground_m(vehicle, pose, centres[:, None], task) if jointed(vehicle) else None
    if over_m is not None and over_m[0] < task.clearance_m - _ROUNDING:
        text = f"{name} is {task.clearance_m - over_m[0]:.3g} m too low to keep clear of the ground"
        raise refused(task, text, name, reason="too low")


def _check_anyhow_clear(
    vehicle: Vehicle,
    task: Task,
    name: TaskPart,
    x: np.ndarray,
    near_m: float,
    time_s: float | None,
    along: int | None = None,
) -> None:
    """Of a place that may be met within `near_m` and at any attitude: no ball can keep out of what covers all that."""
    main = "", body_names(vehicle)[0]
    covered_m = [
        radius_m - math.hypot(*centre)
        for (*centre, radius_m), name in zip(task.body, task.ball_bodies, strict=True)
        if name in main
    ]
    for i, away in _outside_m(vehicle, task, x[None], time_s, along) if covered_m else ():
        outside = float(away[0]) - task.clearance_m
        deep = max(covered_m) - outside - near_m
        if deep > _ROUNDING:
            raise _inside(task, name, i, deep)


def _inside(task: Task, name: TaskPart, i: int, deep_m: float) -> TaskRefused:
    obstacle = obstacle_part(task.obstacles[i], i)
    text = f"{name} is inside {obstacle} or its clearance by {deep_m:.3g} m"
    return refused(task, text, name, obstacle, reason="inside an obstacle")


def _check_place(
    vehicle: Vehicle, task: Task, name: TaskPart, x: np.ndarray, near_m: float, node: np.ndarray | None = None
) -> None:
    """Ground and box of a place that may be met within `near_m`; at any attitude where no node is given."""
    limits = task.limits
    for axis in range(2 if planar(vehicle) else 3):
        least = limits.low_w[axis] if limits.low_w is not None else -np.inf
        most = limits.high_w[axis] if limits.high_w is not None else np.inf
        if not least - near_m - _ROUNDING <= x[axis] <= most + near_m + _ROUNDING:
            raise refused(
                task,
                f"{name} is outside the bounds: {'xyz'[axis]} = {x[axis]:g} m, allowed {least:g} to {most:g}",
                name,
                reason="too low" if axis == 2 and x[axis] < least else "other",
            )
    ground = task.ground
    if ground is None or jointed(vehicle):
        return
    if node is None:
        # What is held may be anywhere about the place.
        _check_over_ground(task, ground, name, x, near_m + math.hypot(*ground.held_b))
    else:
        _check_over_ground(task, ground, name, ground.held_w(body_poses(vehicle, node))[0], near_m)


def _check_over_ground(task: Task, ground: SafeGround, name: TaskPart, x: np.ndarray, near_m: float) -> None:
    low, high = ground.domain
    if (x[:2] + near_m < low).any() or (x[:2] - near_m > high).any():
        raise refused(task, f"{name} is outside the terrain that the task covers", name)
    # The lowest ground that can be reached, on a grid where there is room to move.
    around = near_m * np.linspace(-1.0, 1.0, 9) if near_m else np.zeros(1)
    xs, ys = (np.clip(x[i] + around, low[i], high[i]) for i in (0, 1))
    xs, ys = (a.ravel() for a in np.meshgrid(xs, ys))
    top = x[2] + near_m
    soil = float(np.min(ground.terrain.height(xs, ys)))
    if top < soil - _ROUNDING:
        raise refused(task, f"{name} is under ground by {soil - top:.3g} m", name, reason="too low")
    short = float(np.min(ground.height(xs, ys))) - top
    if short > _ROUNDING:
        text = f"{name} is {short:.3g} m too low to keep {ground.margin_m:g} m from the terrain"
        raise refused(task, text, name, reason="too low")


def _check_tilt(task: Task, name: TaskPart, cosine: float, spare_rad: float) -> None:
    tilt = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
    if task.limits.tilt_rad is not None and tilt - spare_rad > task.limits.tilt_rad + 1e-6:
        asked, most = np.degrees(tilt), np.degrees(task.limits.tilt_rad)
        raise refused(
            task, f"{name} is tilted by {asked:.3g} deg; allowed by the limit: {most:.3g} deg", name
        )


def _check_shape(
    vehicle: Vehicle, task: Task, name: TaskPart, r: np.ndarray, wanted: tuple[int, ...] | None
) -> None:
    """wanted: which coordinates count; None: all."""
    for i, coordinate in enumerate(vehicle.shape_coordinates):
        low, high = task.limits.shape.get(coordinate.name, (-np.inf, np.inf))
        low, high = max(low, coordinate.low), min(high, coordinate.high)
        if (wanted is None or i in wanted) and not low - _ROUNDING <= r[i] <= high + _ROUNDING:
            raise refused(
                task,
                f"{name} has {coordinate.name} = {r[i]:g}; allowed: {low:g} to {high:g} {coordinate.unit}",
                name,
            )
