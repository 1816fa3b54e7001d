"""Why there is no plan, in words: the same problem with everything but the physics negotiable, and what had to give."""

import itertools
import math
from dataclasses import replace

import numpy as np

from sim.groups.numeric import rotation_log, triple
from sim.planner.guess.route import path_of
from sim.planner.result.plan import Plan, Status, Violation
from sim.planner.solvers.backends import Result
from sim.planner.task.bodies import body_poses, counts_turns, own_space, planar, positions, stands
from sim.planner.task.clearance import clearance, on_plane
from sim.planner.task.inputs import Constraint, input_map_of
from sim.planner.task.meeting import goal_at
from sim.planner.task.task import WEIGHT_NAMES, Task, Weights, control_limits, entered
from sim.planner.transcription.constraints import GROUND, OWN_BODIES, WAYPOINT
from sim.planner.transcription.transcription import PlannedMotion, Transcription, motion
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.holonomic import HolonomicVehicle

_NOTICEABLE = 1e-3
_CHEAP = 1e-3
_TOLERANCES = {"position": "tolerance_m", "rotation": "tolerance_rad", "velocity": "tolerance_mps"}
_MOST_INPUTS = 10
"""Whose extremes are tried in all combinations."""
_UNLIMITED = 1e12
"""Stands for a control without a bound: what is pushed by none is not a number else."""
_SHALLOW_M = 0.05
"""A corner that is cut by less does not hold the motion up; more steps would do."""
_OUTWEIGHED = 1e-3
"""Share of the cost below which effort hardly tells one motion from another: by 300 times as much plans are found."""


def softened(task: Task) -> Task:
    """The task as it is explored: coarse enough to be quick, and so cheap that nothing is given for the cost's sake."""
    cheap = Weights(**{name: _CHEAP * getattr(task.weights, name) for name in WEIGHT_NAMES})
    followed = task.reference and replace(task.reference, weights={})
    return replace(
        task, steps=min(task.steps, 48), weights=cheap, cost=None, end_cost=None, reference=followed
    )


def settled(result: Result) -> bool:
    """Whether exploring a softened task has come to a motion that says something."""
    return result.converged or result.violation < 1e-4


def unsettled(plan: Plan, vehicle: Vehicle, task: Task, t: Transcription, p: np.ndarray) -> Plan:
    """The plan with what its last iterate still breaks, for want of a better explanation."""
    assert plan.result is not None
    w, h, places = plan.result.w, plan.step_s, positions(vehicle, plan.motion.nodes)
    message = f"{plan.message} Exploring it with all but the physics negotiable did not settle either"
    if not np.isfinite(w).all():
        return replace(plan, message=f"{message}.")
    found = _violated(vehicle, task, t, w, p, h, places, plan.motion.nodes[-1])
    worst = sorted(found.values(), key=lambda b: -b.amount)
    violations = (*_torn(t, w, p, h, places), *worst)[:3]
    advice = _outweighed(plan.costs) or overpowered(vehicle, task) or _advice(tuple(worst), vehicle, task)
    ended = f"; where the search ended, {_listed(violations)}" if violations else ""
    return replace(plan, message=f"{message}{ended}. {advice}", violations=violations)


def _listed(violations: tuple[Violation, ...]) -> str:
    return "; ".join(
        f"{b.constraint} at {b.time_s:.2f} s by {b.amount:.3g}{' ' + b.unit if b.unit else ''}"
        for b in violations
    )


def _torn(
    t: Transcription, w: np.ndarray, p: np.ndarray, h: float, places: np.ndarray
) -> tuple[Violation, ...]:
    """Where a step's end is farthest from the node after it."""
    model, g = t.model, t.program.constraints(w, p)
    gaps = g[[row is None for _, row in t.row_labels()]].reshape(t.shape.steps, -1)
    index = model.place_indices
    apart = np.linalg.norm(gaps[:, index] * model.y_scale[index], axis=1)
    k = int(apart.argmax())
    if apart[k] < _NOTICEABLE:
        return ()
    name = "a motion that holds together is missed"
    return (Violation(name, (k + 1) * h, float(apart[k]), "m", triple(places[k + 1])),)


def explained(
    plan: Plan, vehicle: Vehicle, task: Task, t: Transcription, result: Result, p: np.ndarray
) -> Plan:
    """The plan that gives least, with its violations told; the plan as it was where exploring did not settle."""
    if not settled(result):
        return plan
    move = motion(t, result.w, p)
    places = positions(vehicle, move.nodes)
    jumped = _jumped(vehicle, task, move, places)
    violated = _violated(vehicle, task, t, result.w, p, move.step_s, places, move.nodes[-1])
    worst = jumped | violated
    violations = tuple(sorted(worst.values(), key=lambda b: -b.amount))[:4]
    if not violations:
        text = "Nothing has to give: a plan exists, but the solver did not find it from its guess. "
        return replace(
            plan, message=f"{plan.message} {text}{_outweighed(plan.costs) or _advice((), vehicle, task)}"
        )
    lines = _listed(violations)
    if jumped and not violated and path_of(vehicle, task) is not None:
        # There is a way around; that the solver leaps over it between two nodes says nothing about the task.
        status: Status = "stuck"
        message = f"Found at the nodes only, not between them: {lines}. What may help: more steps."
    else:
        status = "infeasible"
        advice = overpowered(vehicle, task) or _advice(violations, vehicle, task)
        kept = _kept_to(t, result.w, p)
        advice += f" It keeps to {', '.join(kept)} most of the way." if kept else ""
        message = f"No motion was found that does it all; the nearest: {lines}. {advice}"
    return replace(
        plan,
        status=status,
        message=message,
        motion=move,
        violations=violations,
    )


def _outweighed(costs: dict[str, float]) -> str:
    """What to do about a cost beside which the inputs' is next to nothing, so that they may be nearly anything."""
    name, most = max(costs.items(), key=lambda term: term[1])
    inputs = costs["effort"] + costs.get("smoothness", 0.0)
    if not inputs < _OUTWEIGHED * most:
        return ""
    heavy = {"own": "the task's own", "own end": "the task's own at the end"}.get(name, name)
    times = float(f"{max(_OUTWEIGHED * most / max(inputs, 1e-9), 10.0):.1g}")
    return (
        f"Of what it costs {most:.3g} is {heavy} and {inputs:.3g} effort, by which inputs then are hardly told apart. "
        f"What may help: {heavy} weighed some {times:.0f} times less."
    )


def _kept_to(t: Transcription, w: np.ndarray, p: np.ndarray) -> list[str]:
    """Names of the user's own relations that hold the motion at half of its nodes or more."""
    own = {row.name for row in t.shape.own.rows if row.low < 0.0} if t.shape.own else set()
    g, counts = t.program.constraints(w, p), dict.fromkeys(sorted(own), 0)
    for (_, row), value in zip(t.row_labels(), g, strict=True):
        if row is not None and row.name in own:
            counts[row.name] += value > -_NOTICEABLE
    return [name for name, count in counts.items() if 2 * count >= t.shape.steps]


def _jumped(vehicle: Vehicle, task: Task, move: PlannedMotion, places: np.ndarray) -> dict[str, Violation]:
    """Obstacles that are passed through between two nodes, which looks like a way but is none."""
    clear = clearance(vehicle, move.nodes, task, move.step_s * (len(move.nodes) - 1))
    found, k = {}, int(clear.by_arc_m.argmin())
    for i, distance in enumerate(clear.by_obstacle):
        if distance < -min(_SHALLOW_M, 0.5 * task.obstacles[i].half_thickness_m):
            name = entered(task.obstacles[i], i)
            by = float(task.clearance_m - distance)
            found[name] = Violation(
                name, k * move.step_s, by, "m", triple(places[k]), f"obstacle {i}", missed=False
            )
    return found


def _violated(
    vehicle: Vehicle,
    task: Task,
    t: Transcription,
    w: np.ndarray,
    p: np.ndarray,
    h: float,
    places: np.ndarray,
    end: np.ndarray,
) -> dict[str, Violation]:
    """Per constraint the node where it is violated most, slack removed. end: the last node."""
    bare, goal_then = _without_slack(t, w), goal_at(vehicle, task, h * t.shape.steps)
    there = replace(task, goal=replace(task.goal, state=goal_then))
    g = t.program.constraints(bare, p)
    over = np.maximum(t.row_low - g, g - t.row_high)
    worst: dict[str, Violation] = {}
    for (k, row), amount in zip(t.row_labels(), over, strict=True):
        if row is None or not row.soft or amount < _NOTICEABLE:
            continue
        by = float(amount * row.scale)
        part, name, missed = _named(row, vehicle, task)
        if row.name == WAYPOINT:
            part, by = _missed_waypoint(task, k, t.shape.steps, places[k])
        elif row.goal:
            angle_rad = turn_missed_rad(vehicle, there, end, row.goal)
            within = row.low == -row.high != 0.0
            tolerance = getattr(task.goal, _TOLERANCES.get(row.goal, ""), 0.0) if within else 0.0
            by = by * tolerance if within else by
            by = by if angle_rad is None else max(angle_rad - tolerance, 0.0)
        if name not in worst or by > worst[name].amount:
            worst[name] = Violation(name, k * h, by, row.unit, triple(places[k]), part, missed)
    return worst


def turn_missed_rad(vehicle: Vehicle, task: Task, node: np.ndarray, part: str) -> float | None:
    """The whole angle by which a node misses a part of the goal that turns, 0 to pi; None for other parts.

    The equations of the solver know it by its chord, which is shorter, and by its cosine.
    """
    wanted = task.goal.state.node
    if own_space(vehicle) and part in vehicle.space.directions:
        where = vehicle.space.slices[part]
        return _between_rad(wanted[where], node[where])
    if part != "rotation":
        return None
    if planar(vehicle):
        heading = vehicle.node_layout.pose.start
        missed = float(node[heading] - wanted[heading])
        return abs(missed if counts_turns(vehicle, task) else math.remainder(missed, 2.0 * math.pi))
    R_wanted, R_here = (_rotation(vehicle, x) for x in (wanted, node))
    if task.goal.rotation == "upright":
        return _between_rad(np.array([0.0, 0.0, 1.0]), R_here[:, 2])
    return float(np.linalg.norm(rotation_log(R_wanted.T @ R_here)))


def _rotation(vehicle: Vehicle, node: np.ndarray) -> np.ndarray:
    """(3, 3) of the main body, to the world."""
    if own_space(vehicle):
        return body_poses(vehicle, node[None])[0][:3, :3]
    return vehicle.group.to_matrix(node[vehicle.node_layout.pose][None])[0][:3, :3]


def _between_rad(a: np.ndarray, b: np.ndarray) -> float:
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


def _missed_waypoint(task: Task, k: int, steps: int, place: np.ndarray) -> tuple[str, float]:
    """(the handle of the one that node k has to meet, by how much it is missed [m])."""
    nodes = [(w.time_s or 0.0) / task.duration_s * steps for w in task.waypoints]
    i = int(np.abs(np.array(nodes) - k).argmin())
    waypoint = task.waypoints[i]
    away_m = float(np.linalg.norm(place - np.array(waypoint.position_w)))
    return f"waypoint {i}", away_m - waypoint.tolerance_m


def _without_slack(t: Transcription, w: np.ndarray) -> np.ndarray:
    running, last = t.split(w.copy())
    nx = t.state_size
    controls = t.model.controls
    running[:, nx + controls.slice("slack").start : nx + controls.slice("slack").stop] = 0.0
    for name in ("slack", "missed"):
        last[nx + t.last_controls.slice(name).start : nx + t.last_controls.slice(name).stop] = 0.0
    return t.join(running, last)


def _named(row: Constraint, vehicle: Vehicle, task: Task) -> tuple[str, str, bool]:
    """(handle, words, whether it is missed rather than entered) of a constraint."""
    if row.obstacle is not None:
        kind, number = row.obstacle
        i, obstacle = [(i, o) for i, o in enumerate(task.obstacles) if on_plane(vehicle, o).kind == kind][
            number
        ]
        return f"obstacle {i}", entered(obstacle, i), False
    if row.name == GROUND:
        return "ground", "the ground's clearance is broken", False
    if row.name == OWN_BODIES:
        return "", "bodies of its own come too close to each other", False
    if row.name == WAYPOINT:
        return "", "a waypoint is missed", True
    if row.goal:
        return "goal", f"the goal's {row.goal} is missed", True
    return "", f"{row.name} is missed", True


def overpowered(vehicle: Vehicle, task: Task) -> str:
    """That gravity or wind at the goal push harder than all controls together, in a sentence; empty where not so.

    However the vehicle is turned: lift and thrust are compared by their magnitudes alone, and so are moments about a
    fixed point.
    """
    if own_space(vehicle) or not isinstance(vehicle, HolonomicVehicle):
        return ""
    fixed = stands(vehicle)
    if fixed and "free" in (task.goal.rotation, task.goal.velocity):
        return ""
    inputs, turns = input_map_of(vehicle), 0 if fixed else vehicle.group.turns
    load = inputs.load(task.goal.state.node[vehicle.node_layout.pose])[turns:]
    box = np.clip(control_limits(vehicle, task.limits), -_UNLIMITED, _UNLIMITED)
    corners = np.array(list(itertools.product(*box))) if len(box) <= _MOST_INPUTS else np.zeros((0, len(box)))
    pushes = inputs.planned(corners) @ inputs.columns()[turns:].T
    most, pushed = float(np.linalg.norm(pushes, axis=1).max(initial=0.0)), float(np.linalg.norm(load))
    if not len(corners) or not most or pushed <= most:
        return ""
    if fixed:
        return (
            f"It cannot be held at the goal: gravity turns it by {pushed:.3g} N m there, and all controls together by "
            f"{most:.3g} N m at most. What may help: less mass, a shorter arm or stronger controls."
        )
    return (
        f"The one cause: gravity and wind push with {pushed:.3g} N at the goal, and all controls together with "
        f"{most:.3g} N at most. What may help: less mass, less wind or stronger controls."
    )


def _advice(violations: tuple[Violation, ...], vehicle: Vehicle, task: Task) -> str:
    what = []
    if not violations or any(v.missed and v.part for v in violations):
        step_s, half_s = task.step_s(), math.pi / task.limits.turn_radps
        if step_s > half_s:
            what.append(
                f"more steps or less time, for steps of {step_s:.3g} s are longer than half a turn takes at "
                f"{task.limits.turn_radps:g} rad/s ({half_s:.3g} s)"
            )
        else:
            what.append("more time" if task.free_duration is None else "a longer allowed time")
        what.append("higher limits of inputs or speed")
        for control, (low, high) in zip(vehicle.controls, control_limits(vehicle, task.limits), strict=True):
            if low == high:
                what.append(f"{control.name} left free, which is held at {low:g} {control.unit}".rstrip())
    if any(not v.missed for v in violations):
        what.append("less clearance or another place for the obstacle")
    return f"What may help: {', '.join(what)}."
