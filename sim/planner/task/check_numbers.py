"""Numbers of a task that no task can have, one by one; how they go together is `check`'s."""

import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from numbers import Real

import casadi as ca
import numpy as np

from sim.groups.numeric import rotation_log
from sim.planner.task.bodies import (
    body_names,
    own_space,
    planar,
    positions,
    rotation_wb,
)
from sim.planner.task.inputs import input_map_of
from sim.planner.task.meeting import fixed_directions
from sim.planner.task.motions import Motion, spline_error
from sim.planner.task.numbers import check_free, number_names
from sim.planner.task.refusal import GOAL, START, TaskPart, obstacle_part, refused, waypoint_part
from sim.planner.task.task import DEMANDED, DEMANDS, GOAL_MOVES, WEIGHT_NAMES, Task, control_limits
from sim.planner.task.waypoints import longest_s
from sim.platform.errors import InputError, numeric, one_of, quote
from sim.spaces import Space
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

_FAR_M, _MOST_WEIGHT, _LONGEST_S = 1e6, 1e6, 1e6
_FAR = 1e12
_CLOSED_M = 1e-12
_LOOKED_AT = 25
"""Moments at which a motion is compared with what joints do."""
_SPLINE_OFF = 3e-4
"""m or rad; velocities are then off by some mm/s."""
_EFFORT_SCALES = 1e-9, 1e9


def check_numbers(vehicle: Vehicle, task: Task, changed: Collection[str]) -> None:
    """Raises InputError, in one line, for the first number that is none or out of range.

    changed: names of the task's parts that are to be looked at, and what goes with them.
    """
    for looks_at, check in _CHECKS:
        if not looks_at.isdisjoint(changed):
            check(vehicle, task)


def _check_single(_: Vehicle, task: Task) -> None:
    """What is a number by itself."""
    number(task, "duration_s", task.duration_s, 0.0, _LONGEST_S, f"seconds above 0, up to {_LONGEST_S:g}")
    steps: object = task.steps
    if not isinstance(steps, int | np.integer) or isinstance(steps, bool) or not 4 <= steps <= 1024:
        raise refused(task, f"steps = {quote(steps)} is not possible; allowed: a whole number from 4 to 1024")
    if task.free_duration is not None:
        low, high = vector(task, "free duration", task.free_duration, 2)
        if not 0.0 < low < high <= _LONGEST_S:
            raise refused(
                task,
                f"free duration {low:g} to {high:g} s is not possible; allowed: 0 < shortest < longest "
                f"<= {_LONGEST_S:g} s",
            )
    for name in WEIGHT_NAMES:
        value = getattr(task.weights, name)
        number(task, f"weight {name}", value, 0.0, _MOST_WEIGHT, f"0 to {_MOST_WEIGHT:g}", least_too=True)
    for what, value in (("clearance_m", task.clearance_m), *_radii(task)):
        number(task, what, value, 0.0, _FAR_M, "metres from 0", least_too=True)
    number(task, "safety_range_m", task.safety_range_m, 0.0, _FAR_M, "metres above 0")


def number(
    task: Task,
    what: TaskPart | str,
    value: object,
    low: float,
    high: float,
    allowed: str,
    *,
    least_too: bool = False,
) -> float:
    """The value as a float; refused unless low < value <= high, or low <= value where `least_too`."""
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        raise refused(task, f"{what} = {quote(value)} is no number; allowed: {allowed}", what)
    try:
        x = float(value)  # type: ignore[arg-type]
    except OverflowError:
        x = math.inf
    if not (low < x <= high or (least_too and x == low)):
        raise refused(task, f"{what} = {x:g} is not possible; allowed: {allowed}", what)
    return x


def vector(task: Task, what: TaskPart | str, value: object, count: int) -> tuple[float, ...]:
    """The value as `count` finite floats."""
    is_row = isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim == 1)
    if not is_row or len(value) != count:  # type: ignore[arg-type]
        raise refused(task, f"{what} = {quote(value)} is not possible; allowed: {count} numbers", what)
    return tuple(number(task, what, x, -math.inf, _FAR_M, f"{count} finite numbers") for x in value)  # type: ignore[attr-defined]


def _radii(task: Task) -> list[tuple[str, float]]:
    if not task.body:
        raise refused(task, "body has no balls; allowed: at least one, (0, 0, 0, 0) for a point")
    balls = [vector(task, f"body ball {i + 1}", ball, 4) for i, ball in enumerate(task.body)]
    return [(f"radius of body ball {i + 1}", ball[3]) for i, ball in enumerate(balls)]


def _check_goal(vehicle: Vehicle, task: Task) -> None:
    goal, flat = task.goal, planar(vehicle)
    for part in DEMANDED:
        allowed = tuple(d for d in DEMANDS if d != "upright" or (part == "rotation" and not flat))
        if getattr(goal, part) not in allowed:
            raise refused(
                task,
                f"goal's {part} = {quote(getattr(goal, part))} is not possible; allowed: {', '.join(allowed)}",
            )
    for name in ("tolerance_m", "tolerance_rad", "tolerance_mps"):
        number(task, f"goal's {name}", getattr(goal, name), 0.0, _FAR_M, "above 0")
    named = tuple(vehicle.space.slices) if own_space(vehicle) else ()
    for part in goal.parts or ():
        if part not in named:
            has = ", ".join(named) or f"none, {vehicle.name} is met by position, rotation and velocity"
            raise refused(task, f"goal's part {part!r} is not possible; allowed: {has}")
    asks = goal.parts != () or goal.position != "free" or goal.rotation != "free" or task.periodic
    if own_space(vehicle) and not asks:
        raise refused(
            task, "goal asks for nothing; allowed: a part, or position or rotation of the main body"
        )
    count = len(vehicle.shape_coordinates)
    for index in (*goal.shape, *goal.shape_velocity):
        if index not in range(count):
            has = f"0 to {count - 1}" if count else f"none, {vehicle.name} has no shape"
            raise refused(task, f"goal's shape index {index!r} is not possible; allowed: {has}")


def _check_state(vehicle: Vehicle, task: Task, kind: TaskPart, state: State) -> None:
    at = vehicle.node_layout
    if state.node.shape != (at.size,) or state.group is not (None if own_space(vehicle) else vehicle.group):
        raise refused(
            task, f"{kind} does not fit vehicle {vehicle.name!r}; make it with vehicle.state(...)", kind
        )
    if not np.isfinite(state.node).all():
        raise refused(task, f"{kind} has entries that are not finite; make it with vehicle.state(...)", kind)
    if kind == START and isinstance(vehicle, ClosedVehicle):
        try:
            vehicle.closure.closed(state.node[at.pose], state.node[at.velocity], _CLOSED_M)
        except InputError as open_loop:
            raise refused(task, f"start: {open_loop}; allowed: vehicle.closed_state(...)", kind) from None
    place = np.abs(positions(vehicle, state.node))
    if place.max() > _FAR_M:
        raise refused(task, f"{kind} is {place.max():.3g} m away; allowed: up to {_FAR_M:g} m", kind)
    if own_space(vehicle):
        off = np.abs(_off_space(vehicle)(state.node)).max(initial=0.0)
        if not off < 1e-6:
            raise refused(
                task, f"{kind} is no point of the vehicle's space; make it with vehicle.state(...)", kind
            )
    elif vehicle.group.turns == 3:
        R = rotation_wb(state)
        if np.abs(R @ R.T - np.eye(3)).max() > 1e-6:
            raise refused(task, f"{kind} has no rotation matrix; make it with vehicle.state(...)", kind)


@lru_cache(maxsize=16)
def _defect(space: Space) -> ca.Function:
    x = ca.SX.sym("x", space.size)
    return ca.Function("defect", [x], [ca.densify(space.defect(x))])


def _off_space(vehicle: Vehicle) -> Callable[[np.ndarray], np.ndarray]:
    """By how much a node is no point of the vehicle's space."""
    return lambda node: np.array(_defect(vehicle.space)(node)).ravel()


def _check_limits(vehicle: Vehicle, task: Task) -> None:
    limits = task.limits
    for name in ("speed_mps", "turn_radps"):
        number(task, f"limit {name}", getattr(limits, name), 0.0, _FAR_M, "above 0")
    if limits.tilt_rad is not None:
        number(
            task, "limit tilt_rad", limits.tilt_rad, 1e-3, math.pi, "radians above 0.001 up to pi, or None"
        )
    _check_box(task)
    controls, shapes = [c.name for c in vehicle.controls], [s.name for s in vehicle.shape_coordinates]
    planned = input_map_of(vehicle).names
    for what, names, allowed in (
        ("control", limits.controls, controls),
        ("shape coordinate", limits.shape, shapes),
        ("planned input", limits.rates, planned),
        ("planned input", task.effort_scale, planned),
    ):
        for name in names:
            if name not in allowed:
                raise refused(task, f"unknown {what} {name!r}; allowed: {', '.join(allowed) or 'none'}")
    _check_names(vehicle, task)
    for name, bounds in {**limits.shape, **limits.columns}.items():
        _check_range(task, name, bounds)
    for name, bounds in limits.controls.items():
        _check_range(task, name, bounds, held=True)
    ranges = control_limits(vehicle, limits)
    for i, (control, (low, high)) in enumerate(zip(vehicle.controls, ranges, strict=True)):
        if low == high and not input_map_of(vehicle).can_hold(i):
            raise refused(
                task,
                f"{control.name} is held at {low:g} {control.unit}, and plans for {vehicle.name} move its controls "
                "together; allowed: a range",
            )
        if low > high:
            raise refused(
                task,
                f"bounds contradict each other: {control.name} is left {low:g} to {high:g} {control.unit} of "
                f"the vehicle's {control.low:g} to {control.high:g}",
            )
    held = [c.name for c, (low, high) in zip(vehicle.controls, ranges, strict=True) if low == high]
    found = task.free_parameters or task.start_within or task.periodic or task.free_duration
    if len(held) == len(vehicle.controls) and not found:
        raise refused(
            task,
            f"nothing is left to choose: {', '.join(held)} of {vehicle.name} {'are' if held[1:] else 'is'} held at one "
            "number, and from a start that is given one motion follows; allowed: a range of a control, a start or a "
            "duration that is found",
        )
    for coordinate in vehicle.shape_coordinates:
        low, high = limits.shape.get(coordinate.name, (-math.inf, math.inf))
        if max(low, coordinate.low) >= min(high, coordinate.high):
            raise refused(
                task,
                f"bounds contradict each other: {coordinate.name} from {low:g} to {high:g}, and the vehicle's "
                f"stops at {coordinate.low:g} and {coordinate.high:g}",
            )
    for name, rate in limits.rates.items():
        number(task, f"rate of {name}", rate, 0.0, 1e12, "per second, above 0")
    least, most = _EFFORT_SCALES
    for name, scale in task.effort_scale.items():
        number(task, f"effort scale of {name}", scale, least, most, f"{least:g} to {most:g}", least_too=True)


def _check_own(vehicle: Vehicle, task: Task) -> None:
    """Own numbers, what of the vehicle is free, and a reference."""
    names = number_names(vehicle)
    for name, value in task.numbers.items():
        number(task, f"number {name}", value, -math.inf, _FAR, "a finite number")
        if name.partition(".")[0] in {n.partition(".")[0] for n in names}:
            raise refused(task, f"number {name!r} is a parameter of {vehicle.name}; allowed: another name")
    check_free(vehicle, task, meets=isinstance(vehicle, ArticulatedVehicle) and vehicle.meets)
    for name, bounds in task.free_parameters.items():
        low, high = vector(task, f"range of {name}", bounds, 2)
        if not low < high:
            raise refused(task, f"{name} is left {low:g} to {high:g}; allowed: lowest < highest")
    if task.reference is None:
        return
    for name in task.reference.columns:
        if name not in vehicle.space.columns:
            allowed = one_of(vehicle.space.columns, name)
            raise refused(task, f"reference has an unknown number of the state {name!r}; allowed: {allowed}")
    if task.free_duration is not None:
        raise refused(task, "reference says when the motion is where; allowed: a duration that is not free")


def _check_names(vehicle: Vehicle, task: Task) -> None:
    """Of numbers of the state and of bodies."""
    columns = vehicle.space.columns
    for name, bounds in task.limits.columns.items():
        if name not in columns:
            raise refused(task, f"unknown number of the state {name!r}; allowed: {one_of(columns, name)}")
        if not own_space(vehicle) and name.startswith("R_"):
            raise refused(
                task,
                f"bounds of {name} = {quote(bounds)} are bounds of an entry of a rotation; allowed: tilt_rad, or "
                "constraints of your own",
            )
    if task.bodies and len(task.bodies) != len(task.body):
        raise refused(
            task, f"{len(task.bodies)} bodies for {len(task.body)} balls; allowed: one for each, or none"
        )
    names = body_names(vehicle) if task.bodies else ()
    bodies = names if own_space(vehicle) or len(names) > 1 else ()
    for name in task.bodies:
        if name and name not in bodies:
            allowed = ", ".join(bodies) or f"none, {vehicle.name} is one body"
            raise refused(task, f"unknown body {name!r}; allowed: {allowed}")


def _check_box(task: Task) -> None:
    """Corners may be infinite: no bound on that side."""
    corners = {"low_w": task.limits.low_w, "high_w": task.limits.high_w}
    for name, corner in corners.items():
        if corner is not None and not _are_bounds(corner, 3):
            raise refused(task, f"limit {name} = {quote(corner)} is not possible; allowed: three numbers")
    if task.limits.low_w is None or task.limits.high_w is None:
        return
    for axis, low, high in zip("xyz", task.limits.low_w, task.limits.high_w, strict=True):
        if low >= high:
            raise refused(task, f"bounds contradict each other: {axis} from {low:g} to {high:g} m")


def _are_bounds(value: object, count: int) -> bool:
    """Whether it is so many numbers, infinite ones among them perhaps."""
    try:
        row = numeric(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return row.shape == (count,) and not bool(np.isnan(row).any())


def _check_range(task: Task, name: str, bounds: Sequence[float], *, held: bool = False) -> None:
    """held: both may be the same number."""
    if not _are_bounds(bounds, 2):
        raise refused(task, f"bounds of {name} = {quote(bounds)} are not possible; allowed: two numbers")
    low, high = bounds
    if low > high or (low == high and not held):
        raise refused(task, f"bounds contradict each other: {name} from {low:g} to {high:g}")


def _check_obstacles(_: Vehicle, task: Task) -> None:
    for i, obstacle in enumerate(task.obstacles):
        what = obstacle_part(obstacle, i)
        try:
            numbers, size_m = obstacle.numbers().tolist(), min(obstacle.sizes_m)
        except InputError as error:
            raise refused(task, f"{what}: {error}", what) from None
        vector(task, what.of("its numbers"), numbers, obstacle.size)
        if size_m <= 0.0:
            raise refused(task, f"{what}: size {size_m:g} m is not possible; sizes must be above 0", what)


def _check_motions(vehicle: Vehicle, task: Task) -> None:
    moved: set[str] = set()
    for k, motion in enumerate(task.motions):
        what = f"motion {k + 1}"
        for name in motion.moves:
            named = [o.name for o in task.obstacles if o.name]
            if name != GOAL_MOVES and name not in named:
                known = one_of([GOAL_MOVES, *named], str(name))
                raise refused(task, f"{what} moves {quote(name)}, which is not there; allowed: {known}")
            if name in moved:
                raise refused(
                    task, f"{what} moves {quote(name)}, which moves already; allowed: one motion each"
                )
            moved.add(name)
        if GOAL_MOVES in motion.moves and own_space(vehicle):
            _check_carried(vehicle, task, what, motion)
        rows = [motion.pivot_w, motion.velocity_mps]
        rows += [row for sway in motion.sways for row in (sway.amplitude_m, sway.amplitude_rad)]
        for row in rows:
            vector(task, what, row, 3)
        vector(task, what, (motion.turn_radps, motion.begun_s), 2)
        for sway in motion.sways:
            number(task, f"{what}'s period", sway.period_s, 0.0, _LONGEST_S, "seconds above 0")
            number(task, f"{what}'s phase", sway.phase_rad, -math.inf, _FAR, "radians")
        table = [vector(task, f"{what}'s table", row, 7) for row in motion.table]
        if table and (len(table) < 2 or not all(a[0] < b[0] for a, b in pairwise(table))):
            raise refused(task, f"{what}'s table does not grow in time; allowed: two or more growing moments")
        if planar(vehicle) and not motion.level:
            raise refused(
                task,
                f"{what} rises or tilts, and {vehicle.name} moves on a plane; allowed: along x and y, and headings",
            )
        until_s = longest_s(task)
        if not spline_error(motion, until_s) <= _SPLINE_OFF:
            raise refused(
                task,
                f"{what} changes too fast to be followed for the {until_s:g} s that the task may take; allowed: slower "
                "motions, or a shorter duration",
            )


def _check_carried(vehicle: Vehicle, task: Task, what: str, motion: Motion) -> None:
    """Of a goal that moves of what is about a space of its own: the main body is carried, the rest is as it says."""
    goal = task.goal
    if goal.parts is None or (goal.position == "free" and goal.rotation == "free"):
        raise refused(
            task,
            f"{what} moves the goal, which asks for no place or rotation of {vehicle.name}'s main body; allowed: a "
            "goal with parts, () for none, whose position or rotation is not free",
            GOAL,
        )
    if "velocity" in goal.parts and goal.velocity != "free":
        raise refused(
            task,
            f"{what} moves the goal, which asks for the velocity of what carries it and for its own part velocity; "
            "allowed: one of them",
            GOAL,
        )
    if not isinstance(vehicle, ArticulatedVehicle):
        return
    along, about = fixed_directions(vehicle)
    M, x = motion.poses(np.linspace(0.0, longest_s(task), _LOOKED_AT)), positions(vehicle, goal.state.node)[0]
    by_m = np.abs((M[:, :3, :3] @ x + M[:, :3, 3] - x) @ along.T).max(initial=0.0)
    turned = np.abs([rotation_log(R) @ about.T for R in M[:, :3, :3]]).max(initial=0.0)
    for asked, by, unit in ((goal.position, by_m, "m"), (goal.rotation, turned, "rad")):
        if asked not in ("free", "upright") and by > _SPLINE_OFF:
            raise refused(
                task,
                f"{what} moves the goal by {by:.3g} {unit} where no joint of {vehicle.name} moves its tool; allowed: "
                f"motions in which these move, or a {'position' if unit == 'm' else 'rotation'} that is free",
                GOAL,
            )


def _check_waypoints(_: Vehicle, task: Task) -> None:
    if len(task.waypoints) >= task.steps:
        raise refused(
            task,
            f"{len(task.waypoints)} waypoints, one node each; allowed: fewer than the {task.steps} steps",
        )
    for i, waypoint in enumerate(task.waypoints):
        what = waypoint_part(i)
        vector(task, what, waypoint.position_w, 3)
        number(task, what.of("tolerance"), waypoint.tolerance_m, 0.0, _FAR_M, "metres above 0")
        if waypoint.time_s is not None:
            time_s = number(task, what.of("time_s"), waypoint.time_s, -math.inf, math.inf, "seconds")
            if not 0.0 < time_s < task.duration_s:
                raise refused(
                    task, f"{what} at {time_s:g} s; allowed: between 0 and {task.duration_s:g} s", what
                )


_Check = Callable[[Vehicle, Task], None]
_FOUND = frozenset(("free_parameters", "start_within", "periodic", "free_duration"))
"""What is found with the motion, besides its controls."""
_LIMITED = _FOUND | {"limits", "effort_scale", "body", "bodies"}
_CHECKS: tuple[tuple[frozenset[str], _Check], ...] = (
    (
        frozenset(
            (
                "duration_s",
                "steps",
                "free_duration",
                "weights",
                "clearance_m",
                "body",
                "safety_range_m",
            )
        ),
        _check_single,
    ),
    (frozenset(("numbers", "free_parameters", "reference", "free_duration")), _check_own),
    (frozenset(("goal", "periodic")), _check_goal),
    (frozenset(("start",)), lambda vehicle, task: _check_state(vehicle, task, START, task.start)),
    (frozenset(("goal",)), lambda vehicle, task: _check_state(vehicle, task, GOAL, task.goal.state)),
    (_LIMITED, _check_limits),
    (frozenset(("obstacles",)), _check_obstacles),
    (frozenset(("motions", "obstacles", "goal", "duration_s", "free_duration")), _check_motions),
    (frozenset(("waypoints", "steps", "duration_s")), _check_waypoints),
)
"""In turn, with the names of the task's parts that each looks at."""
