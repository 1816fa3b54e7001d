"""Planning: plan, stop, fly; what a plan is to cost; how the solver got on; the plans that are kept."""

from dataclasses import replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, implot

from sim.commands import StopPlan
from sim.planner.handles import with_waypoint, without
from sim.planner.record import PlanRecord
from sim.planner.requests import (
    ChoosePlan,
    DeletePlan,
    EditTask,
    FlyShown,
    KeepPlan,
    SavePlan,
    StartPlanning,
    StopPlanning,
)
from sim.planner.session import PlanView
from sim.planner.task import Task
from sim.snapshot import Snapshot
from ui import theme
from ui.panels.context import PanelContext
from ui.panels.widgets import button, heading, label, log_slider, note, prose, right_edge, tooltip
from ui.requests import LoadScene, Request

WEIGHTS = {
    "effort": "Squares of the inputs.",
    "smoothness": "Squares of the inputs' rates.",
    "time": "The duration itself; counts where the final time is free.",
    "distance": "Length of the way.",
    "safety": "Nearness to obstacles and ground.",
    "comfort": "Squares of the angular velocity.",
}
STEPS = (16, 32, 64, 128, 256)
COLOURS = (0xF0B040, 0xA8E85C, 0xDE60E6, 0xF8E63A, 0x40DCC0)
"""Of kept plans, as the scene shows them."""
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-3, 1e2
_PHASES = {
    "building": "Building the problem ...",
    "solving": "Solving ...",
    "following": "Following ...",
    "stopping": "Stopping ...",
}


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The whole tab."""
    plan = context.plan
    if plan is None:
        return _scenes_to_plan(context)
    requests = _buttons(plan, snapshot, context)
    requests += _additions(plan, context)
    _status(plan, context)
    _progress(plan, context)
    return requests + _kept(plan, context) + _waypoints(plan, context) + _task(plan, context)


def _scenes_to_plan(context: PanelContext) -> list[Request]:
    prose("This scene has no task to plan. These have:")
    requests: list[Request] = []
    for name, entry in context.catalogue.scenes.items():
        if name.startswith("plan-") and button(
            context, f"plan/scene/{name}", entry.title, entry.text, width=-1.0
        ):
            requests.append(LoadScene(name))
    return requests


def _buttons(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    gap = context.px(4.0)
    half = (imgui.get_content_region_avail().x - gap) / 2.0
    text = f"{icons.ICON_FA_ROUTE}  Plan"
    if button(context, "plan/start", text, "Find the cheapest motion", width=half, lit=not plan.busy):
        requests.append(StartPlanning())
    imgui.same_line(0.0, gap)
    text = f"{icons.ICON_FA_STOP}  Stop"
    if button(context, "plan/stop", text, "At this iteration", width=half, enabled=plan.busy):
        requests.append(StopPlanning())
    ready = plan.plan is not None and plan.plan.solved
    if snapshot.plan_flies:
        text = f"{icons.ICON_FA_HAND}  Take over"
        if button(context, "plan/leave", text, "You fly from here", width=-1.0, lit=True):
            requests.append(StopPlan())
        return requests
    text = f"{icons.ICON_FA_PLANE}  Fly it"
    doc = "Replays the planned inputs through the same integrator: it lands on the plan"
    if button(context, "plan/fly", text, doc, width=half, enabled=ready):
        requests.append(FlyShown())
    imgui.same_line(0.0, gap)
    doc = "The same, with errors fed back (LQR along the plan, on the group)"
    text = f"{icons.ICON_FA_CROSSHAIRS}  Fly, tracked"
    if button(context, "plan/track", text, doc, width=half, enabled=ready):
        requests.append(FlyShown(tracked=True))
    return requests


def _status(plan: PlanView, context: PanelContext) -> None:
    solved = plan.plan is not None and plan.plan.solved
    if plan.busy:
        text, colour = _PHASES[plan.phase], theme.WARNING
    elif plan.stale:
        text, colour = f"Out of date. {plan.message}", theme.WARNING
    else:
        text = plan.message or "Nothing is planned yet."
        colour = theme.GOOD if solved else (theme.DANGER if plan.message else theme.MUTED)
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*colour))
    imgui.text_wrapped(text)
    imgui.pop_style_color()
    note(context, "plan/status")
    if plan.plan is not None:
        record = plan.plan
        clear = f", clear by {record.clearance_m:.2f} m" if np.isfinite(record.clearance_m) else ""
        prose(f"cost {record.cost:.4g}, {record.duration_s:.2f} s in {record.steps} steps{clear}")
        tooltip("\n".join(f"{name}: {value:.4g}" for name, value in record.costs.items()))


def _progress(plan: PlanView, context: PanelContext) -> None:
    """Cost and violation by iteration, side by side."""
    history = np.array(plan.history, float).reshape(-1, 2)
    if len(history) < 2:
        return
    gap = context.px(6.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    imgui.push_font(None, theme.FONT_PX * 0.8)
    for column, (title, least) in enumerate((("cost", 1e-6), ("violation", 1e-10))):
        if column:
            imgui.same_line(0.0, gap)
        values = np.ascontiguousarray(np.log10(np.maximum(np.abs(history[:, column]), least)))
        _curve(context, title, values, (width, context.px(92.0)))
        note(context, f"plan/{title}")
    imgui.pop_font()


def _curve(context: PanelContext, title: str, logs: np.ndarray, size: tuple[float, float]) -> None:
    flags = implot.Flags_.canvas_only | implot.Flags_.no_inputs
    axes = implot.AxisFlags_.no_label | implot.AxisFlags_.no_tick_marks | implot.AxisFlags_.no_highlight
    if not implot.begin_plot(f"##{title}", size, flags):
        return
    implot.setup_axes("", "", axes, axes)
    implot.setup_axis_format(implot.ImAxis_.y1, "1e%.2g")
    low, high = float(logs.min()), float(logs.max())
    air = 0.08 * (high - low) + 0.1
    implot.setup_axis_limits(implot.ImAxis_.x1, 0.0, max(len(logs) - 1.0, 1.0), implot.Cond_.always)
    implot.setup_axis_limits(implot.ImAxis_.y1, low - air, high + air, implot.Cond_.always)
    spec = implot.Spec()
    spec.line_color = imgui.ImVec4(*(theme.ACCENT_BRIGHT if title == "cost" else theme.SKY))
    spec.line_weight = context.px(1.6)
    implot.plot_line(title, np.arange(len(logs), dtype=float), logs, spec)
    implot.end_plot()
    tooltip(f"{title.capitalize()} by iteration, logarithmic")


def _task(plan: PlanView, context: PanelContext) -> list[Request]:
    heading(context, "What it is to cost")
    task = plan.task
    new = task
    for name, doc in WEIGHTS.items():
        value = getattr(task.weights, name)
        label(context, name, doc)
        span = (_LEAST_WEIGHT, _MOST_WEIGHT)
        text = "%.3g" if value > 0.0 else "off"
        chosen = log_slider(context, f"plan/weight/{name}", max(value, span[0]), span, text, doc)
        if chosen is not None:
            weight = 0.0 if chosen <= _LEAST_WEIGHT else chosen
            new = replace(new, weights=replace(new.weights, **{name: weight}))
    heading(context, "In what time")
    label(context, "T", "Final time [s]")
    free = task.free_duration
    shown = task.duration_s
    seconds = log_slider(
        context, "plan/time", shown, (0.5, 120.0), "%.2f s", "Final time, or its first guess"
    )
    if seconds is not None:
        new = replace(_stretched(new, seconds), free_duration=free)
    label(context, "Steps N", "Of the integrator, h = T / N")
    steps = _steps(context, task.steps)
    if steps is not None:
        new = replace(new, steps=steps)
    return [EditTask(new)] if new is not task else []


def _stretched(task: Task, seconds: float) -> Task:
    """Another final time; waypoints keep their share of it."""
    share = seconds / task.duration_s
    waypoints = tuple(w if w.time_s is None else replace(w, time_s=w.time_s * share) for w in task.waypoints)
    return replace(task, duration_s=seconds, waypoints=waypoints)


def _steps(context: PanelContext, current: int) -> int | None:
    chosen = None
    gap = context.px(3.0)
    width = (imgui.get_content_region_avail().x - gap * (len(STEPS) - 1)) / len(STEPS)
    for index, steps in enumerate(STEPS):
        if index:
            imgui.same_line(0.0, gap)
        lit = steps == current
        if button(context, f"plan/steps/{steps}", str(steps), f"{steps} steps", width=width, lit=lit):
            chosen = steps
    return chosen


def _additions(plan: PlanView, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    gap = context.px(4.0)
    half = (imgui.get_content_region_avail().x - gap) / 2.0
    text = f"{icons.ICON_FA_PLUS}  Waypoint"
    doc = "In the middle of the plan. Click its dot in the view, then drag its arrows: the plan follows."
    if button(context, "plan/waypoint/add", text, doc, width=half, enabled=plan.plan is not None):
        requests.append(EditTask(_with_middle(plan)))
    imgui.same_line(0.0, gap)
    text = f"{icons.ICON_FA_BOOKMARK}  Keep"
    fresh = plan.plan is not None and all(record is not plan.plan for record in plan.kept)
    if button(
        context, "plan/keep", text, "Into the list, to compare others with it", width=half, enabled=fresh
    ):
        requests.append(KeepPlan())
    return requests


def _waypoints(plan: PlanView, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    if plan.task.waypoints:
        heading(context, "On the way")
    for index in range(len(plan.task.waypoints)):
        imgui.align_text_to_frame_padding()
        imgui.text_unformatted(f"waypoint {index + 1}")
        imgui.same_line(right_edge() - context.px(26.0))
        name = f"plan/waypoint/remove/{index}"
        if button(context, name, icons.ICON_FA_XMARK, "Remove it", width=context.px(26.0)):
            requests.append(EditTask(without(plan.task, f"waypoint {index}")))
    return requests


def _with_middle(plan: PlanView) -> Task:
    """A waypoint where the plan is halfway in time, so that at first nothing has to change."""
    record = plan.plan
    assert record is not None
    middle = record.steps // 2
    reach = float(np.ptp(record.places_w, axis=0).max())
    return with_waypoint(
        plan.task,
        record.places_w[middle],
        tolerance_m=float(np.clip(0.01 * reach, 0.05, 2.0)),
        time_s=middle * record.step_s,
    )


def _kept(plan: PlanView, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    if plan.kept:
        heading(context, "Kept plans")
    for index, record in enumerate(plan.kept):
        requests += _row(plan, index, record, context)
    return requests


def _row(plan: PlanView, index: int, record: PlanRecord, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    width = context.px(26.0)
    edge = right_edge()
    colour = theme.SKY if record is plan.plan else theme.rgb(COLOURS[index % len(COLOURS)])
    imgui.align_text_to_frame_padding()
    imgui.text_colored(imgui.ImVec4(*colour), icons.ICON_FA_CIRCLE)
    imgui.same_line(0.0, context.px(6.0))
    if imgui.selectable(f"{record.name}##{index}", record is plan.plan, 0, (edge - context.px(158.0), 0.0))[
        0
    ]:
        requests.append(ChoosePlan(record.name))
    note(context, f"plan/kept/{index}")
    tooltip(f"{record.message}\ncost {record.cost:.5g}, {record.duration_s:.2f} s, N = {record.steps}")
    imgui.same_line(edge - 2.0 * width - context.px(62.0))
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), f"{record.cost:.4g}")
    imgui.same_line(edge - 2.0 * width - context.px(4.0))
    saved = record.name in plan.saved
    name, doc = f"plan/kept/{index}/save", "Saved" if saved else "Save to your folder of plans"
    if button(context, name, icons.ICON_FA_FLOPPY_DISK, doc, width=width, enabled=not saved):
        requests.append(SavePlan(record.name))
    imgui.same_line(edge - width)
    doc = "Delete it, its file too" if saved else "Out of the list"
    if button(context, f"plan/kept/{index}/delete", icons.ICON_FA_XMARK, doc, width=width):
        requests.append(DeletePlan(record.name))
    return requests
