"""The task's own numbers: final time, fixed or free; steps; method; waypoints; then its obstacles."""

from dataclasses import replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.planner.service.requests import ChooseMethod, EditTask
from sim.planner.service.view import PlanView
from sim.planner.task.handles import freed, stretched, with_waypoint, without
from sim.planner.task.task import Task
from sim.snapshot import Snapshot
from ui.panels import plan_obstacles
from ui.panels.context import PanelContext
from ui.panels.integrator import by_family, describe
from ui.panels.widgets import (
    Item,
    button,
    label,
    log_slider,
    menu,
    note,
    prose,
    right_edge,
    segmented,
    significant,
    tooltip,
)
from ui.requests import Request, SaveTask

STEPS = (16, 32, 64, 128, 256)
TIME_RANGE_S = (0.5, 120.0)
_FREE = (
    Item("fixed", "Fixed", "The plan takes exactly the time below."),
    Item(
        "free",
        "Free",
        "The planner finds the final time between two bounds. Give time a weight (Cost), or it takes all there is.",
    ),
)


def draw(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Rows of numbers, then waypoints and obstacles."""
    task = _time(plan.task, context)
    task = _steps(task, context)
    requests: list[Request] = [] if task is plan.task else [EditTask(task)]
    requests += _method(plan, context) + _waypoints(plan, context)
    requests += plan_obstacles.draw(plan, context)
    text = f"{icons.ICON_FA_FLOPPY_DISK}  Save as a scene"
    doc = "This task, as it is now, in the file of a scene: opened like any other, by its path or dropped."
    if button(context, "plan/save_task", text, doc, width=-1.0):
        requests.append(SaveTask())
    return requests


def _time(task: Task, context: PanelContext) -> Task:
    label(context, "Final time", "When the goal is to be reached.")
    free = task.free_duration is not None
    chosen = segmented(context, "plan/free", _FREE, "free" if free else "fixed")
    if chosen == "free" and not free:
        task = freed(task, (significant(0.5 * task.duration_s), significant(2.0 * task.duration_s)))
    elif chosen == "fixed":
        task = freed(task, None)
    doc = "First guess of the final time" if free else "Final time; the plan follows as it is moved"
    label(context, "First guess" if free else "T", doc)
    seconds = log_slider(context, "plan/time", task.duration_s, TIME_RANGE_S, "%.2f s", doc)
    if seconds is not None:
        task = stretched(task, seconds)
    return _bounds(task, context)


def _bounds(task: Task, context: PanelContext) -> Task:
    if task.free_duration is None:
        return task
    label(context, "Between", "Shortest and longest final time that are allowed.")
    gap = context.px(4.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    low, high = task.free_duration
    for index, (name, doc) in enumerate((("shortest", "Shortest"), ("longest", "Longest"))):
        if index:
            imgui.same_line(0.0, gap)
        imgui.set_next_item_width(width)
        flags = imgui.InputTextFlags_.enter_returns_true
        typed, value = imgui.input_float(
            f"##{name}", task.free_duration[index], 0.0, 0.0, f"{name} %.4g s", flags
        )
        note(context, f"plan/{name}")
        tooltip(f"{doc} final time, {TIME_RANGE_S[0]:g} to {TIME_RANGE_S[1]:g} s.")
        if typed:
            seconds = min(max(significant(value), TIME_RANGE_S[0]), TIME_RANGE_S[1])
            low, high = (seconds, high) if index == 0 else (low, seconds)
    if task.weights.time == 0.0:
        prose("Time has no weight (Cost): the plan takes as long as it may.")
    if (low, high) == task.free_duration or low >= high:
        return task
    return freed(task, (low, high))


def _steps(task: Task, context: PanelContext) -> Task:
    label(context, "Steps N", "Of the method, h = T / N. More steps: finer, slower.")
    items = [Item(str(n), str(n), f"{n} steps of {task.duration_s / n:.3g} s") for n in STEPS]
    chosen = segmented(context, "plan/steps", items, str(task.steps))
    return task if chosen is None else replace(task, steps=int(chosen))


def _method(plan: PlanView, context: PanelContext) -> list[Request]:
    label(context, "Method", "The integrator whose own steps are the plan's constraints, and which flies it.")
    vehicle = plan.vehicle.name
    items = [
        Item(
            entry.name,
            entry.name,
            entry.unplannable or describe(entry, vehicle),
            vehicle not in entry.refusals and not entry.unplannable,
            f"order {entry.order}",
            entry.family,
        )
        for entry in by_family(context.catalogue)
    ]
    chosen = menu(context, "plan/method", items, plan.method)
    return [ChooseMethod(chosen)] if chosen is not None and chosen != plan.method else []


def _waypoints(plan: PlanView, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    width = context.px(26.0)
    for index, waypoint in enumerate(plan.task.waypoints):
        when = "" if waypoint.time_s is None else f" at {waypoint.time_s:.2f} s"
        imgui.align_text_to_frame_padding()
        imgui.text_unformatted(f"waypoint {index + 1}{when}, within {waypoint.tolerance_m:.2g} m")
        tooltip("Click its dot in the view, then drag its arrows: the plan follows.")
        imgui.same_line(right_edge() - width)
        name = f"plan/waypoint/remove/{index}"
        if button(context, name, icons.ICON_FA_XMARK, "Remove it", width=width):
            requests.append(EditTask(without(plan.task, f"waypoint {index}")))
    text = f"{icons.ICON_FA_PLUS}  Waypoint"
    doc = "In the middle of the plan. Click its dot in the view, then drag its arrows: the plan follows."
    if button(context, "plan/waypoint/add", text, doc, width=-1.0, enabled=plan.plan is not None):
        requests.append(EditTask(_with_middle(plan)))
    return requests


def _with_middle(plan: PlanView) -> Task:
    """A waypoint where the plan is halfway in time, so that at first nothing has to change."""
    record = plan.plan
    assert record is not None
    middle = record.steps // 2
    reach = float(np.ptp(record.places_w, axis=0).max())
    share = plan.task.duration_s / record.duration_s
    return with_waypoint(
        plan.task,
        record.places_w[middle],
        tolerance_m=float(np.clip(0.01 * reach, 0.05, 2.0)),
        time_s=middle * record.step_s * share,
    )
