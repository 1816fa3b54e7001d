"""What can be undone, as one immutable value: parameters, lanes with their methods, the planner's task."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sim.commands import (
    AddLane,
    Command,
    RemoveLane,
    SetIntegrator,
    SetLanePilot,
    SetLaneTint,
    SetParameter,
    SetStep,
    SetVehicle,
)
from sim.planner.service.requests import ChooseMethod, EditTask, PlanRequest
from sim.planner.service.view import PlanView
from sim.planner.task.difference import difference
from sim.planner.task.task import Task
from sim.scene import LaneSpec
from sim.snapshot import LaneSnapshot, Snapshot
from sim.vehicles.forms.parameters import Value


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """States and recordings are no part of it: what was flown stays flown."""

    vehicle: str
    parameters: Mapping[str, Value]
    lanes: Mapping[str, LaneSpec]
    """By name; the first is flown."""
    task: Task | None = None
    method: str = ""
    """That the planner plans with."""

    def same(self, other: "Setup") -> bool:
        """Whether nothing differs; a task is the same only where it is the very object."""
        ours, theirs = (
            (s.vehicle, dict(s.parameters), dict(s.lanes), s.method, id(s.task)) for s in (self, other)
        )
        return ours == theirs

    @property
    def flown(self) -> str:
        """Name of the flown lane."""
        return next(iter(self.lanes))


def setup_of(snapshot: Snapshot, plan: PlanView | None) -> Setup:
    """Of the present; `plan` is None where there is nothing to plan."""
    flown = snapshot.lanes[0]
    lanes = {lane.name: _spec(lane) for lane in snapshot.lanes if not lane.measured}
    task, method = (plan.task, plan.method) if plan is not None else (None, "")
    return Setup(flown.vehicle, flown.parameters, lanes, task, method)


def _spec(lane: LaneSnapshot) -> LaneSpec:
    return LaneSpec(lane.integrator, lane.step_s, lane.name, lane.tint, lane.own_pilot)


def leading(before: Setup, after: Setup) -> list[Command | PlanRequest]:
    """What has to be asked for to get from one setup to another."""
    asked: list[Command | PlanRequest]
    if after.vehicle != before.vehicle:
        methods = {name: lane.integrator for name, lane in after.lanes.items() if name in before.lanes}
        asked = [SetVehicle(after.vehicle, tuple(after.parameters.items()), tuple(methods.items()))]
        taken_up = {
            name: replace(lane, integrator=methods.get(name, lane.integrator))
            for name, lane in before.lanes.items()
        }
        before = replace(before, lanes=taken_up)
    else:
        asked = [
            SetParameter(name, value)
            for name, value in after.parameters.items()
            if before.parameters.get(name) != value
        ]
    asked += [RemoveLane(name) for name in before.lanes if name not in after.lanes]
    for name, lane in after.lanes.items():
        old = before.lanes.get(name)
        asked += [_added(lane)] if old is None else _changed(old, lane, flown=name == after.flown)
    if after.method != before.method:
        asked.append(ChooseMethod(after.method))
    if after.task is not None and after.task is not before.task:
        asked.append(EditTask(after.task))
    return asked


def _added(lane: LaneSpec) -> AddLane:
    return AddLane(lane.integrator, lane.step_s, lane.tint, lane.name, lane.own_pilot)


def _changed(old: LaneSpec, new: LaneSpec, *, flown: bool) -> list[Command | PlanRequest]:
    asked: list[Command | PlanRequest] = []
    if new.integrator != old.integrator:
        asked.append(SetIntegrator(new.integrator, new.name))
    if new.step_s != old.step_s:
        asked.append(SetStep(new.step_s, new.name))
    if new.tint is not None and new.tint != old.tint:
        asked.append(SetLaneTint(new.name, new.tint))
    if new.own_pilot != old.own_pilot and not flown:
        asked.append(SetLanePilot(new.name, new.own_pilot))
    return asked


def named(before: Setup, after: Setup) -> str:
    """What was done, in a few words: the first difference, and how many there are beside it."""
    if after.vehicle != before.vehicle:
        return f"{before.vehicle} \N{RIGHTWARDS ARROW} {after.vehicle}"
    told = [
        f"{name} {_text(before.parameters.get(name))} \N{RIGHTWARDS ARROW} {_text(value)}"
        for name, value in after.parameters.items()
        if before.parameters.get(name) != value
    ]
    told += [f"lane {name} removed" for name in before.lanes if name not in after.lanes]
    for name, lane in after.lanes.items():
        old = before.lanes.get(name)
        told += [f"lane {name} added"] if old is None else _lane_words(old, lane)
    if after.method != before.method:
        told.append(f"planned with {after.method}")
    if after.task is not before.task and before.task is not None and after.task is not None:
        told.append(difference(before.task, after.task))
    return told[0] + (f", and {len(told) - 1} more" if len(told) > 1 else "") if told else "nothing"


def _lane_words(old: LaneSpec, new: LaneSpec) -> list[str]:
    told = []
    if new.integrator != old.integrator:
        told.append(f"{new.name}: {new.integrator}")
    if new.step_s != old.step_s:
        told.append(f"{new.name}: h = {new.step_s:g} s")
    if not told and new != old:
        told.append(f"look or pilot of {new.name}")
    return told


def _text(value: Value | None) -> str:
    if value is None:
        return "?"
    return f"{value:.4g}" if isinstance(value, int | float) else f"({', '.join(f'{x:.4g}' for x in value)})"
