"""What would help a plan that failed: other tasks, each with the words for a button."""

import math
from dataclasses import replace

import numpy as np

from sim.planner.result.record import PlanRecord
from sim.planner.service.session import PlanView
from sim.planner.task.bodies import planar, positions, shifted, velocities
from sim.planner.task.handles import stretched, without
from sim.planner.task.refusal import GOAL, Refusal
from sim.planner.task.task import Task, control_limits, entered, label
from sim.planner.task.waypoints import soonest_s
from sim.platform.values import dataclass

_MOST = 4
_AWAY = "Takes the obstacle away."
_OVER_GROUND_M = 0.05
_AT_BOUND = 0.98
_MORE, _ENOUGH, _HALF = 1.5, 1.3, 0.5
_LONGEST_S, _MOST_STEPS = 600.0, 256


@dataclass(frozen=True, slots=True, eq=False)
class Remedy:
    """A change of the task that may make it possible."""

    text: str
    """As a command: "Give it 12 s"."""
    doc: str
    task: Task
    about: str = ""
    """The constraint that it goes at, as violations call it; empty: the failure as a whole."""


def offered(view: PlanView) -> tuple[Remedy, ...]:
    """What would help now: with a task that was refused, or with the plan that is shown where it failed."""
    if view.refusal is not None:
        return after_refusal(view.refusal, view.task)
    if view.plan is None or view.busy or view.stale:
        return ()
    return remedies(view.plan, view.task)


def after_refusal(refusal: Refusal, task: Task) -> tuple[Remedy, ...]:
    """Of a task that cannot be: what is in the way goes away, who is in the ground comes up."""
    found = []
    for i, obstacle in enumerate(task.obstacles):
        if f"obstacle {i}" in refusal.parts:
            found.append(Remedy(f"Without {label(obstacle, i)}", _AWAY, without(task, f"obstacle {i}")))
    if refusal.reason == "too far":
        found.append(_longer(task, _tidy(_MORE * soonest_s(task))))
    ground = task.ground
    if (
        refusal.reason == "too low"
        and GOAL.handle in refusal.parts
        and ground is not None
        and task.goal.state.group
    ):
        up_m = -float(ground.above_m(task.goal.state.pose[None])[0])
        if up_m > 0.0:
            raised = shifted(task.goal.state, np.array([0.0, 0.0, up_m + _OVER_GROUND_M]))
            goal = replace(task.goal, state=raised)
            doc = f"The goal {up_m + _OVER_GROUND_M:.2g} m higher: clear of the ground by what the task asks for."
            found.append(Remedy("Raise the goal", doc, replace(task, goal=goal)))
    return tuple(found)


def remedies(record: PlanRecord, task: Task) -> tuple[Remedy, ...]:
    """Of a plan that failed, the likeliest first; none for one that is solved or was stopped."""
    if record.status not in ("infeasible", "stuck", "time limit"):
        return ()
    named = {violation.part for violation in record.violations}
    missed = [violation for violation in record.violations if violation.missed]
    entered_ones = [violation for violation in record.violations if not violation.missed]
    late: list[Remedy] = []
    if missed or not named:
        sooner = [_more_time(record, task)] if task.duration_s < _LONGEST_S else []
        about = missed[0].constraint if missed else ""
        late = [replace(remedy, about=about) for remedy in sooner + _higher_limits(record, task)]
    stopping = _stopping(record, task) if missed else ()
    if stopping:
        # Who waits in front of an obstacle is not too slow.
        way = [replace(remedy, about=missed[0].constraint) for remedy in _clear_way(stopping, _HALF, task)]
        found = way + late
    else:
        guilty = tuple(i for i, o in enumerate(task.obstacles) if f"obstacle {i}" in named)
        deepest = max(
            (violation.amount for violation in entered_ones if violation.unit == "m"), default=np.inf
        )
        less = task.clearance_m - _ENOUGH * deepest
        found = late + _clear_way(guilty, less / max(task.clearance_m, 1e-9), task)
        found = [
            replace(r, about=r.about or entered_ones[0].constraint) if entered_ones else r for r in found
        ]
    if not record.violations and task.steps * 2 <= _MOST_STEPS:
        doc = "A finer grid has other ways."
        found.append(Remedy(f"{task.steps * 2} steps", doc, replace(task, steps=task.steps * 2)))
    return tuple(found[:_MOST])


def _stopping(record: PlanRecord, task: Task) -> tuple[int, ...]:
    """Obstacles that the best attempt still leans on when its time is up."""
    last_s = record.duration_s - 2.0 * record.step_s
    obstacles = ((c.obstacle, c.spans_s[-1][1]) for c in record.active)
    count = len(task.obstacles)
    return tuple(i for i, until_s in obstacles if i is not None and i < count and until_s >= last_s)


def _clear_way(guilty: tuple[int, ...], share: float, task: Task) -> list[Remedy]:
    """Less clearance, by that share of it, or obstacles away."""
    found = []
    if share > 0.0 and task.clearance_m > 0.0:
        nearer = replace(task, clearance_m=_tidy(share * task.clearance_m, down=True))
        doc = f"Passes may be closer than {task.clearance_m:g} m."
        found.append(Remedy(f"Keep {nearer.clearance_m:g} m clear", doc, nearer))
    for i in guilty:
        obstacle = task.obstacles[i]
        gone = without(task, f"obstacle {i}")
        found.append(Remedy(f"Without {label(obstacle, i)}", _AWAY, gone, entered(obstacle, i)))
    return found


def _more_time(record: PlanRecord, task: Task) -> Remedy:
    return _longer(task, _enough_s(record, task))


def _longer(task: Task, seconds: float) -> Remedy:
    if task.free_duration is None:
        doc = f"Instead of {task.duration_s:g} s; waypoints keep their share of it."
        return Remedy(f"Give it {seconds:g} s", doc, stretched(task, seconds))
    longer = (task.free_duration[0], max(seconds, _tidy(_MORE * task.free_duration[1])))
    doc = f"The final time may be {task.free_duration[1]:g} s at most now."
    return Remedy(f"Allow {longer[1]:g} s", doc, replace(task, free_duration=longer))


def _enough_s(record: PlanRecord, task: Task) -> float:
    """Time in which what was missed could be reached too, were the mean speed the same; at least half as much again."""
    places = record.places_w
    gone = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
    missed = max(
        (b.amount for b in record.violations if b.unit == "m" and "missed" in b.constraint), default=0.0
    )
    share = missed / max(gone, 1e-9)
    return min(_tidy(task.duration_s * max(_MORE, 1.1 * (1.0 + share))), _LONGEST_S)


def _higher_limits(record: PlanRecord, task: Task) -> list[Remedy]:
    """The bounds that the best attempt leans on, where they are the task's own and not the vehicle's."""
    found: list[Remedy] = []
    limits, vehicle = task.limits, record.vehicle
    turning, moving = (
        np.abs(record.nodes[:, [i for i, angular in velocities(vehicle) if angular == wanted]])
        for wanted in (True, False)
    )
    if moving.max(initial=0.0) > _AT_BOUND * limits.speed_mps:
        more = _tidy(_MORE * limits.speed_mps)
        doc = f"The limit of {limits.speed_mps:g} m/s is reached."
        found.append(
            Remedy(f"Allow {more:g} m/s", doc, replace(task, limits=replace(limits, speed_mps=more)))
        )
    if turning.max(initial=0.0) > _AT_BOUND * limits.turn_radps:
        more = _tidy(_MORE * limits.turn_radps)
        doc = f"The limit of {limits.turn_radps:g} rad/s is reached."
        found.append(
            Remedy(f"Turn at {more:g} rad/s", doc, replace(task, limits=replace(limits, turn_radps=more)))
        )
    ranges = control_limits(vehicle, limits)
    for i, control in enumerate(vehicle.controls):
        own = limits.controls.get(control.name)
        if own is not None and own[0] == own[1]:
            doc = f"The task holds it at {own[0]:g} {control.unit}."
            others = {name: span for name, span in limits.controls.items() if name != control.name}
            freed = replace(task, limits=replace(limits, controls=others))
            found.append(Remedy(f"Leave {control.name} free", doc, freed))
            continue
        if own is None or not _leans(record.controls[:, i], ranges[i]):
            continue
        wider = (max(_MORE * own[0], control.low), min(_MORE * own[1], control.high))
        if wider != own:
            doc = f"The task's range {own[0]:g} to {own[1]:g} {control.unit} is used up."
            controls = {**limits.controls, control.name: wider}
            found.append(
                Remedy(
                    f"{control.name} x {_MORE:g}",
                    doc,
                    replace(task, limits=replace(limits, controls=controls)),
                )
            )
    return found + _higher_ceiling(record, task)


def _higher_ceiling(record: PlanRecord, task: Task) -> list[Remedy]:
    high, flat = task.limits.high_w, planar(record.vehicle)
    if high is None or flat or positions(record.vehicle, record.nodes)[:, 2].max() < high[2] - 0.05:
        return []
    more = _tidy(_MORE * high[2]) if high[2] > 0.0 else high[2] + 10.0
    doc = f"It may not be higher than {high[2]:g} m now."
    limits = replace(task.limits, high_w=(high[0], high[1], more))
    return [Remedy(f"Up to {more:g} m high", doc, replace(task, limits=limits))]


def _leans(values: np.ndarray, span: np.ndarray) -> bool:
    width = span[1] - span[0]
    if not math.isfinite(width):
        return False
    edge = (1.0 - _AT_BOUND) * width
    return bool((values > span[1] - edge).any() or (values < span[0] + edge).any())


def _tidy(value: float, *, down: bool = False) -> float:
    """Rounded up, or down, to two digits: what one would say."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    digits = math.floor(value / unit + 1e-9) if down else math.ceil(value / unit - 1e-9)
    return float(f"{digits * unit:.6g}")
