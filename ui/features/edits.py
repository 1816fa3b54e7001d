"""Undo and redo over immutable setups: each point is a whole setup, a step leads from one to another."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import (
    AddLane,
    Command,
    RemoveLane,
    SetGain,
    SetIntegrator,
    SetLanePilot,
    SetLaneTint,
    SetLayout,
    SetParameter,
    SetProps,
    SetStep,
    SetVehicle,
)
from sim.contact.obstacles import PropsPicture
from sim.planner.service.requests import ChooseMethod, EditTask, PlanRequest
from sim.planner.service.session import PlanView
from sim.planner.task.handles import difference
from sim.planner.task.task import Task
from sim.platform.values import dataclass
from sim.scene import LaneSpec
from sim.scene.layout import Layout
from sim.scene.layout import difference as layout_difference
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.vehicles.forms.parameters import Value
from ui.window import theme
from ui.window.context import Indirect, PanelContext, Request
from ui.window.widgets import button, note

if TYPE_CHECKING:
    from sim.contact.obstacles.prop_kinds import Placed


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
    gains: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """By lane and name, of controllers."""
    props: "tuple[Placed, ...]" = ()
    layout: Layout | None = None
    """Of start, gates and goals."""

    def same(self, other: "Setup") -> bool:
        """Whether nothing differs; a task is the same only where it is the very object."""
        ours, theirs = (
            (s.vehicle, dict(s.parameters), dict(s.lanes), s.method, id(s.task), s.props, s.layout)
            for s in (self, other)
        )
        both = self.gains.keys() & other.gains.keys()  # who flies is no edit
        return ours == theirs and all(self.gains[key] == other.gains[key] for key in both)

    @property
    def flown(self) -> str:
        """Name of the flown lane."""
        return next(iter(self.lanes))


def setup_of(snapshot: Snapshot, plan: PlanView | None) -> Setup:
    """Of the present; `plan` is None where there is nothing to plan."""
    flown = snapshot.lanes[0]
    lanes = {lane.name: _spec(lane) for lane in snapshot.lanes if not lane.measured}
    task, method = (plan.task, plan.method) if plan is not None else (None, "")
    around = snapshot.environment
    props = around.placed if isinstance(around, PropsPicture) else ()
    gains = gains_in(snapshot)
    return Setup(flown.vehicle, flown.parameters, lanes, task, method, gains, props, snapshot.layout)


def gains_in(snapshot: Snapshot) -> dict[tuple[str, str], float]:
    """Of the controllers that fly, by lane and name."""
    return {
        (lane.name, name): value
        for lane in snapshot.lanes
        if lane.controller is not None
        for name, value in lane.controller.gains.items()
    }


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
    asked += [
        SetGain(name, value, lane)
        for (lane, name), value in after.gains.items()
        if before.gains.get((lane, name), value) != value
    ]
    if after.method != before.method:
        asked.append(ChooseMethod(after.method))
    if after.task is not None and after.task is not before.task:
        asked.append(EditTask(after.task))
    if after.props != before.props:
        asked.append(SetProps(after.props))
    if after.layout is not None and after.layout != before.layout:
        asked.append(SetLayout(after.layout))
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
    told += [
        f"{name} {_text(before.gains.get((lane, name)))} \N{RIGHTWARDS ARROW} {_text(value)}"
        for (lane, name), value in after.gains.items()
        if before.gains.get((lane, name), value) != value
    ]
    if after.method != before.method:
        told.append(f"planned with {after.method}")
    if after.task is not before.task and before.task is not None and after.task is not None:
        told.append(difference(before.task, after.task))
    if after.props != before.props:
        told.append(_props_words(before.props, after.props))
    if before.layout is not None and after.layout is not None and after.layout != before.layout:
        told.append(layout_difference(before.layout, after.layout))
    return told[0] + (f", and {len(told) - 1} more" if len(told) > 1 else "") if told else "nothing"


def _props_words(before: "tuple[Placed, ...]", after: "tuple[Placed, ...]") -> str:
    more = len(after) - len(before)
    if more:
        return f"{abs(more)} {'body' if abs(more) == 1 else 'bodies'} {'put up' if more > 0 else 'removed'}"
    changed = [k for k, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    if not changed:
        return "bodies"
    old, new = (props[changed[0]].prop.shape.sizes_m for props in (before, after))
    return f"body {changed[0] + 1} {'moved' if np.allclose(old, new) else 'resized'}"


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


REST_S = 0.3
"""A setup that has stood still for so long, with no button down, is a point."""
PATIENCE_S = 8.0
"""So long what a step asked for may take to come about, where something is compiled for it."""
MOST = 100


@dataclass(frozen=True, slots=True)
class UndoPoint:
    """A setup, and what led to it."""

    setup: Setup
    name: str = "start"


class Edits:
    """Is shown the present once a frame; times are wall seconds."""

    def __init__(self) -> None:
        self._points: list[UndoPoint] = []
        self._at = 0
        self._last: Setup | None = None
        self._since_s = 0.0
        self._flew = False
        """A plan was flown when it was shown the present last."""
        self._awaited_until_s: float | None = None
        """While what was gone back to has still to come about."""

    @property
    def names(self) -> Sequence[str]:
        """Of all points, the oldest first; the first is where it began."""
        return [point.name for point in self._points]

    @property
    def at(self) -> int:
        """Index of the present point."""
        return self._at

    def observe(self, snapshot: Snapshot, plan: PlanView | None, now_s: float, *, busy: bool) -> None:
        """Take note of the present; `busy`: a button is down or a text is typed, so that nothing is over yet.

        What a recording shows and what a plan in flight brings along is no edit.
        """
        now = setup_of(snapshot, plan)
        if not self._points:
            self._points, self._last = [UndoPoint(now)], now
            return
        new = {key: value for key, value in now.gains.items() if key not in self._present.gains}
        if new:  # of a controller that has begun to fly
            point = self._points[self._at]
            known_gains = {**point.setup.gains, **new}
            self._points[self._at] = replace(point, setup=replace(point.setup, gains=known_gains))
        if snapshot.waiting and self._awaited_until_s is not None:
            self._awaited_until_s = now_s + PATIENCE_S
        if snapshot.look_back is not None or snapshot.plan_flies:
            known = self._last or self._present
            now = replace(known, task=now.task, method=now.method)
        elif self._flew:
            self._points[self._at] = replace(
                self._points[self._at],
                setup=replace(now, task=self._present.task, method=self._present.method),
            )
        self._flew = snapshot.plan_flies
        if self._last is None or not now.same(self._last):
            self._last, self._since_s = now, now_s
        self._settle(now, now_s, busy=busy)

    def stepped(self, by: int, now_s: float) -> tuple[list[Command | PlanRequest], str]:
        """As `step`, and what to tell of it."""
        at = self.at
        asked = self.step(by, now_s)
        low, high = sorted((at, self.at))
        if low == high:
            return asked, f"Nothing to {'undo' if by < 0 else 'do again'}"
        return asked, f"{'Undone' if by < 0 else 'Done again'}: {'; '.join(self.names[low + 1 : high + 1])}"

    def step(self, by: int, now_s: float) -> list[Command | PlanRequest]:
        """What has to be asked for to go so many points on (or back); nothing where there are none."""
        if not self._points:
            return []
        if self._awaited_until_s is None and self._last is not None and not self._last.same(self._present):
            self._add(self._last)
        to = min(max(self._at + by, 0), len(self._points) - 1)
        asked = leading(self._present, self._points[to].setup)
        if to != self._at:
            self._at, self._awaited_until_s = to, now_s + PATIENCE_S
        return asked

    def step_name(self, by: int) -> str:
        """What a step of one on or back would redo or undo; empty where there is none."""
        index = self._at if by < 0 else self._at + 1
        return self._points[index].name if 0 < index < len(self._points) else ""

    @property
    def _present(self) -> Setup:
        return self._points[self._at].setup

    def _settle(self, now: Setup, now_s: float, *, busy: bool) -> None:
        if now.same(self._present):
            self._awaited_until_s = None
            return
        if self._awaited_until_s is not None and now_s < self._awaited_until_s:
            return
        self._awaited_until_s = None
        if not busy and now_s - self._since_s >= REST_S:
            self._add(now)

    def _add(self, setup: Setup) -> None:
        point = UndoPoint(setup, named(self._present, setup))
        self._points = [*self._points[: self._at + 1], point][-MOST:]
        self._at = len(self._points) - 1


SHOWN = 8
"""Of the latest; the rest is a scroll away."""


def draw_edit_history(context: PanelContext) -> list[Request]:
    """Two buttons, and the list once it is opened; nothing before the first edit."""
    edits, requests = context.of(Edits), list[Request]()
    if len(edits.names) < 2:
        return []
    gap = context.px(4.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    for by, name, word, icon in (
        (-1, "undo", "Undo", icons.ICON_FA_ROTATE_LEFT),
        (1, "redo", "Redo", icons.ICON_FA_ROTATE_RIGHT),
    ):
        what = edits.step_name(by)
        doc = f"{word} {what}{context.keymap.hint(name)}"
        if button(context, f"edits/{name}", f"{icon}  {word}", doc, width=width, enabled=bool(what)):
            requests.append(StepEdits(by))
        if by < 0:
            imgui.same_line(0.0, gap)
    opened = imgui.tree_node(f"Edits ({len(edits.names) - 1})##edits")
    note(context, "edits/list")
    if opened:
        requests += _list(context)
        imgui.tree_pop()
    return requests


def _list(context: PanelContext) -> list[Request]:
    edits, requests = context.of(Edits), list[Request]()
    rows = min(len(edits.names), SHOWN)
    imgui.begin_child("edits", (0.0, rows * imgui.get_text_line_height_with_spacing()))
    for index in reversed(range(len(edits.names))):
        undone = index > edits.at
        if undone:
            imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.MUTED))
        picked, _ = imgui.selectable(f"{edits.names[index]}##{index}", index == edits.at)
        if undone:
            imgui.pop_style_color()
        note(context, f"edits/{index}")
        if picked:
            requests.append(StepEdits(index - edits.at))
    imgui.end_child()
    return requests


@dataclass(frozen=True, slots=True)
class StepEdits(Indirect):
    """Undo (negative) or redo so many edits of parameters, lanes and the planner's task."""

    by: int
