"""Tasks that cannot be, refused before any solver runs, with the reason in one line."""

import math
from collections.abc import Callable, Iterator
from dataclasses import fields

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
from sim.planner.task.check_kinds import check_kinds
from sim.planner.task.check_numbers import check_numbers
from sim.planner.task.check_own import check_own_terms
from sim.planner.task.clearance import on_plane, over_ground_m
from sim.planner.task.meeting import goal_at
from sim.planner.task.open_start import check_open_start, open_start
from sim.planner.task.own_bodies import balls_at
from sim.planner.task.refusal import GOAL, START, TaskPart, TaskRefused, obstacle_part, refused, waypoint_part
from sim.planner.task.task import (
    GOAL_MOVES,
    Goal,
    Task,
    brought_back,
    check_can_plan,
    motion_of,
)
from sim.planner.task.terrain import SafeGround
from sim.planner.task.waypoints import longest_s, soonest_s, waypoint_node
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

_ROUNDING = 1e-9
_DEEP_M = 1e-3
"""What a foot may be below the ground at an end of a plan."""
_STRAYED = 0.25
"""Share of the way that a plan can go at most: a measured start that is farther outside than that is refused."""


def check_task(
    vehicle: Vehicle, method: Integrator, task: Task, *, measured: bool = False, before: Task | None = None
) -> None:
    """Raises InputError for the first thing that is impossible.

    measured: the start is where a vehicle has come to, and may be a little outside of the bounds. before: a task that
    this vehicle and method were found to be able to do, as measured as this one; what it shares with this one is not
    looked at again.
    """
    if before is None:
        check_can_plan(vehicle)
    check_kinds(task)
    if before is None:
        reason = unplannable(method) or method.serves(vehicle)
        if reason:
            raise refused(task, reason)
    changed = frozenset(
        name for name in _PARTS if before is None or getattr(task, name) is not getattr(before, name)
    )
    check_numbers(vehicle, task, changed)
    for looks_at, check in _CHECKS:
        if not changed.isdisjoint(looks_at):
            check(vehicle, method, task, measured)


_PARTS = tuple(field.name for field in fields(Task))  # type: ignore[arg-type]


class TaskCheck:
    """Checks one task after another; where something is dragged only what it has changed is looked at."""

    def __init__(self) -> None:
        self._latest: tuple[Vehicle, Integrator, bool, Task] | None = None
        """That was found possible."""

    def __call__(self, vehicle: Vehicle, method: Integrator, task: Task, *, measured: bool = False) -> None:
        """As `check_task`."""
        before = None
        if self._latest is not None:
            of, by, as_measured, latest = self._latest
            before = latest if of is vehicle and by is method and as_measured == measured else None
        check_task(vehicle, method, task, measured=measured, before=before)
        self._latest = vehicle, method, measured, task


def _check_ground(vehicle: Vehicle, _: Integrator, task: Task, __: bool) -> None:
    if task.ground is not None and stands(vehicle):
        raise refused(task, f"{vehicle.name} stands on a fixed point; allowed: no ground, obstacles")


def _check_own(vehicle: Vehicle, _: Integrator, task: Task, measured: bool) -> None:
    said = frozenset(range(vehicle.node_layout.size)) - open_start(vehicle, task).found
    check_own_terms(vehicle, task, said, measured=measured)


def _check_start(vehicle: Vehicle, _: Integrator, task: Task, measured: bool) -> None:
    if measured:
        near_m = _STRAYED * task.limits.speed_mps * task.duration_s
        _check_place(vehicle, task, START, positions(vehicle, task.start.node[None])[0], near_m)
    else:
        _check_end(vehicle, task, START, task.start, None, 0.0, open_start(vehicle, task).found)


def _check_goal(vehicle: Vehicle, _: Integrator, task: Task, __: bool) -> None:
    arrival_s = task.duration_s if task.free_duration is None else None
    along = motion_of(task, GOAL_MOVES)
    if arrival_s is not None or along is None:
        at_end = goal_at(vehicle, task, task.duration_s)
        _check_end(vehicle, task, GOAL, at_end, task.goal, arrival_s, frozenset())
    elif task.goal.position == "fixed":
        # Whenever that is, what moves with it is where the task has it beside it.
        if task.goal.rotation == "fixed":
            _check_clear(vehicle, task, GOAL, task.goal.state, None, along)
        x = positions(vehicle, task.goal.state.node[None])[0]
        _check_anyhow_clear(vehicle, task, GOAL, x, 0.0, None, along)


def _check_in_time(vehicle: Vehicle, _: Integrator, task: Task, __: bool) -> None:
    """Neither too far nor too many turns away."""
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


def _check_standing(vehicle: Vehicle, method: Integrator, task: Task, _: bool) -> None:
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


def _check_waypoints(vehicle: Vehicle, _: Integrator, task: Task, __: bool) -> None:
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
    goal: Goal | None,
    time_s: float | None,
    found: frozenset[int],
) -> None:
    """goal: which asks for it; None: all of it is given, but for what is `found` with the motion. time_s: when it is
    there; None: nobody knows."""
    at = vehicle.node_layout
    x = positions(vehicle, state.node[None])[0]
    whole = goal is None or (own_space(vehicle) and goal.parts is None)
    goal = goal or Goal(state)
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


_Check = Callable[[Vehicle, Integrator, Task, bool], None]
_PLACES = frozenset(("obstacles", "motions", "clearance_m", "body", "bodies", "ground", "limits"))
"""What a place is held against."""
_OPEN = frozenset(("start_within", "periodic", "limits"))
_TIMES = frozenset(("duration_s", "free_duration"))
_CHECKS: tuple[tuple[frozenset[str], _Check], ...] = (
    (_OPEN | {"goal"}, lambda vehicle, _, task, __: check_open_start(vehicle, task)),
    (frozenset(("ground",)), _check_ground),
    (_PLACES | _TIMES | {"waypoints", "steps"}, _check_waypoints),
    (frozenset(_PARTS), _check_own),
    (_PLACES | _OPEN | {"start", "duration_s"}, _check_start),
    (_PLACES | _TIMES | {"goal", "start"}, _check_goal),
    (frozenset(("start", "goal")), _check_standing),
    (_TIMES | {"start", "goal", "waypoints", "motions", "limits", "periodic"}, _check_in_time),
)
"""In turn, with the names of the task's parts that each looks at."""
