"""Pages of the planning panel: the task's numbers and obstacles, the cost's weights, wind, the solver's progress.

What the pages of the planning panel remember, and ask for beside what the planner itself is asked."""

import math
from dataclasses import field, replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, implot

from sim.commands import SetParameter
from sim.planner.service.requests import ChooseMethod, EditTask, MpcView, SetMpc
from sim.planner.service.session import PlanView
from sim.planner.task.bodies import hangs
from sim.planner.task.handles import (
    called,
    copied,
    freed,
    renamed,
    stretched,
    with_gait,
    with_obstacle,
    with_waypoint,
    without,
)
from sim.planner.task.mpc import HORIZON_S, WEIGHT
from sim.planner.task.task import Task
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.flight import pilot_switch
from ui.features.methods import by_family, describe
from ui.features.vehicle import FlownParameters
from ui.hud.instruments import mpc_text
from ui.window import theme
from ui.window.context import Action, PanelContext, Request
from ui.window.widgets import (
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


@dataclass(frozen=True, slots=True)
class SaveTask(Action):
    """Write the task as it is now as a scene of its own."""


@dataclass(slots=True)
class PlanChoices:
    """What is open in the planning panel, and the wind that the next flight of a plan meets."""

    page: str = "task"
    wind_mps: float = 0.0
    wind_deg: float = 90.0
    """Where it blows to, counter-clockwise from the world's x."""
    tall: dict[str, float] = field(default_factory=dict)
    """Of each page that has been drawn, all it has in it, in pixels."""

    @property
    def wind_w(self) -> tuple[float, float]:
        """World x and y [m/s]."""
        bearing = math.radians(self.wind_deg)
        return self.wind_mps * math.cos(bearing), self.wind_mps * math.sin(bearing)


WEIGHTS = {
    "effort": "Squares of the inputs.",
    "smoothness": "Squares of the inputs' rates.",
    "time": "The duration itself; counts where the final time is free.",
    "distance": "Length of the way.",
    "safety": "Nearness to obstacles and ground.",
    "comfort": "Squares of the angular velocity.",
    "swing": "Squares of the angles of what hangs, against how it hangs at the goal.",
}
_LEAST_PLAN_COST, _MOST = 1e-3, 1e2


def draw_plan_cost(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """A slider a term; all the way left it is off."""
    task = plan.task
    weights = task.weights
    for name, doc in WEIGHTS.items():
        if name == "swing" and not hangs(plan.vehicle):
            continue
        value = getattr(task.weights, name)
        doc = f"{doc}{_part(plan, name)}\nAll the way left: off."
        label(context, name, doc)
        text = "%.3g" if value > 0.0 else "off"
        chosen = log_slider(
            context, f"plan/weight/{name}", max(value, _LEAST_PLAN_COST), (_LEAST_PLAN_COST, _MOST), text, doc
        )
        if chosen is not None:
            weights = replace(weights, **{name: 0.0 if chosen <= _LEAST_PLAN_COST else chosen})
    return [EditTask(replace(task, weights=weights))] if weights is not task.weights else []


def _part(plan: PlanView, name: str) -> str:
    """How much of the present plan's cost it is."""
    if plan.plan is None or name not in plan.plan.costs:
        return ""
    return f" {plan.plan.costs[name]:.4g} of the plan's {plan.plan.cost:.4g}."


MOST_MPS = 20.0


def draw_plan_flight(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Strength and direction, and how the last flight ended."""
    if not _feels_wind(plan):
        prose(f"The {plan.vehicle.name} feels no wind: it flies as it was planned.")
        return []
    choices = context.of(PlanChoices)
    doc = "Steady wind from the start of the flight on, besides what the plan reckons with."
    label(context, "Wind", doc)
    changed, speed = imgui.slider_float(
        "##wind", choices.wind_mps, 0.0, MOST_MPS, "%.1f m/s", imgui.SliderFlags_.always_clamp.value
    )
    note(context, "plan/wind")
    tooltip(doc)
    if changed:
        choices.wind_mps = significant(speed)
    doc = "Where it blows to, counter-clockwise from the world's x."
    label(context, "Towards", doc)
    changed, bearing = imgui.slider_float("##towards", choices.wind_deg, -180.0, 180.0, "%.0f deg")
    note(context, "plan/wind/towards")
    tooltip(doc)
    if changed:
        choices.wind_deg = float(round(bearing))
    if choices.wind_mps > 0.0:
        x, y = choices.wind_w
        prose(f"The next flight meets a wind of ({x:.1f}, {y:.1f}) m/s. Fly drifts off; Track holds on.")
    else:
        prose("Without wind, Fly lands on the plan.")
    if snapshot.plan_outcome:
        prose(snapshot.plan_outcome)
    return []


def _feels_wind(plan: PlanView) -> bool:
    """Through its drag, which may be zero."""
    values = plan.vehicle.values
    return "wind" in values and not math.isclose(float(values.get("wind_drag", values.get("drag", 1.0))), 0.0)  # type: ignore[arg-type]


def draw_plan_obstacles(plan: PlanView, context: PanelContext) -> list[Request]:
    """One row an obstacle, then a button for one more."""
    requests: list[Request] = []
    width, gap = context.px(26.0), context.px(3.0)
    keys = context.keymap
    for index, obstacle in enumerate(plan.task.obstacles):
        handle = f"obstacle {index}"
        edge = right_edge()
        imgui.set_next_item_width(edge - imgui.get_cursor_pos_x() - 2.0 * (width + gap))
        flags = imgui.InputTextFlags_.enter_returns_true
        entered, name = imgui.input_text(f"##{handle}", called(obstacle), flags)
        note(context, f"plan/obstacle/name/{index}")
        tooltip("Type another name. Click its dot in the view, then drag its arrows: the plan follows.")
        if entered and name.strip():
            requests.append(EditTask(renamed(plan.task, index, name.strip())))
        imgui.same_line(0.0, gap)
        doc = "One more like it, beside it" + keys.hint("duplicate")
        if button(context, f"plan/obstacle/copy/{index}", icons.ICON_FA_COPY, doc, width=width):
            requests.append(EditTask(copied(plan.task, handle)))
        imgui.same_line(0.0, gap)
        doc = "Delete it" + keys.hint("delete")
        if button(context, f"plan/obstacle/remove/{index}", icons.ICON_FA_XMARK, doc, width=width):
            requests.append(EditTask(without(plan.task, handle)))
    text = f"{icons.ICON_FA_PLUS}  Obstacle"
    doc = "A pillar halfway to the goal. Click its dot in the view, then drag its arrows: the plan follows."
    if button(context, "plan/obstacle/add", text, doc, width=-1.0):
        requests.append(EditTask(with_obstacle(plan.vehicle, plan.task)))
    return requests


_HEIGHT_PX = 78.0
_DOCS = {
    "cost": "Cost by iteration, then by every plan that followed a change, logarithmic.",
    "violation": "Largest violation of an equation or a bound, likewise, in scaled units.",
}
_LEAST_PLAN_PROGRESS = {"cost": 1e-6, "violation": 1e-12}


def draw_plan_progress(plan: PlanView, context: PanelContext) -> None:
    """Two curves; nothing before there are two iterations."""
    history = np.array(plan.history, float).reshape(-1, 2)
    if len(history) < 2:
        return
    gap = context.px(6.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    imgui.push_font(None, theme.FONT_PX * 0.8)
    for column, title in enumerate(_DOCS):
        if column:
            imgui.same_line(0.0, gap)
        values = np.maximum(np.abs(history[:, column]), _LEAST_PLAN_PROGRESS[title])
        _curve(context, title, values, (width, context.px(_HEIGHT_PX)))
        note(context, f"plan/{title}")
    imgui.pop_font()


def _curve(context: PanelContext, title: str, values: np.ndarray, size: tuple[float, float]) -> None:
    flags = implot.Flags_.canvas_only | implot.Flags_.no_inputs
    axes = implot.AxisFlags_.no_label | implot.AxisFlags_.no_tick_marks | implot.AxisFlags_.no_highlight
    if not implot.begin_plot(f"##{title}", size, flags):
        return
    logs = np.log10(values)
    low, high = float(logs.min()), float(logs.max())
    air = 0.10 * (high - low) + 0.02
    implot.setup_axes("", "", axes, axes)
    implot.setup_axis_limits(implot.ImAxis_.x1, 0.0, max(len(logs) - 1.0, 1.0), implot.Cond_.always)
    # Air above for the title.
    implot.setup_axis_limits(
        implot.ImAxis_.y1, low - air, high + air + 0.35 * (high - low), implot.Cond_.always
    )
    ends = [low, high] if high - low > 1e-3 else [high]
    implot.setup_axis_ticks(implot.ImAxis_.y1, ends, [f"{10.0**end:.2g}" for end in ends])
    colour = theme.ACCENT_BRIGHT if title == "cost" else theme.SKY
    spec = implot.Spec()
    spec.line_color = imgui.ImVec4(*colour)
    spec.line_weight = context.px(1.6)
    implot.plot_line(title, np.arange(len(logs), dtype=float), logs, spec)
    corner = implot.get_plot_pos()
    text = f"{title} {values[-1]:.3g}"
    place = (corner.x + context.px(5.0), corner.y + context.px(2.0))
    implot.get_plot_draw_list().add_text(place, theme.packed(colour), text)
    implot.end_plot()
    tooltip(_DOCS[title])


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


def draw_plan_task(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Rows of numbers, then waypoints and obstacles."""
    task = _time(plan.task, context)
    task = _gait(plan, task, context)
    task = _steps(task, context)
    requests: list[Request] = [] if task is plan.task else [EditTask(task)]
    requests += _method(plan, context) + _waypoints(plan, context)
    requests += draw_plan_obstacles(plan, context)
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


_GAIT = (
    Item("once", "From rest to rest", "It begins as the start says, and ends at the goal."),
    Item(
        "gait",
        "A gait",
        "Shape and velocities end as they begin, and are found: the same can be made again and again.",
    ),
)


def _gait(plan: PlanView, task: Task, context: PanelContext) -> Task:
    """Of what goes by its shape."""
    if not plan.vehicle.shape_coordinates or plan.vehicle.group.turns > 1:
        return task
    label(context, "Motion", "The goal is by how much it moves: once, or by each period of a gait.")
    chosen = segmented(context, "plan/gait", _GAIT, "gait" if task.periodic else "once")
    return task if chosen is None else with_gait(plan.vehicle, task, chosen == "gait")


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


RATE_HZ = (1.0, 60.0)
WIND_MPS = 20.0


def draw_pilot(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The switch, the numbers, and how it goes."""
    requests = pilot_switch("plan/pilot", "Pilot: Plan", plan, context, width=-1.0)
    view = plan.mpc
    if view is None:
        return requests
    requests += _numbers(view, context)
    requests += _wind(snapshot, context)
    if snapshot.mpc is None:
        prose("Off: you fly. The goal is where such plans lead; obstacles are those of the task.")
    else:
        for text, _ in mpc_text(snapshot.mpc):
            prose(text)
        prose(f"A plan takes over {1e3 * snapshot.mpc.lag_s:.0f} ms after it was asked for.")
    return requests


def _numbers(view: MpcView, context: PanelContext) -> list[Request]:
    how, rate_hz = view.how, view.rate_hz
    doc = "How far ahead each plan looks; it ends at rest."
    label(context, "Horizon", doc)
    horizon_s = log_slider(context, "pilot/horizon", how.horizon_s, HORIZON_S, "%.2f s", doc)
    doc = "What the square of a metre that is missed at a plan's end costs: more makes it hurry."
    label(context, "Goal", doc)
    weight = log_slider(context, "pilot/weight", how.goal_weight, WEIGHT, "%.3g", doc)
    doc = "Plans a second at most; they follow one another no faster than they are found."
    label(context, "Rate", doc)
    rate = log_slider(context, "pilot/rate", rate_hz, RATE_HZ, "%.0f /s", doc)
    if horizon_s is None and weight is None and rate is None:
        return []
    how = replace(how, horizon_s=horizon_s or how.horizon_s, goal_weight=weight or how.goal_weight)
    return [SetMpc(how, rate or rate_hz)]


def _wind(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Which plans know as soon as they are made anew."""
    wind = snapshot.lanes[0].parameters.get("wind")
    if not isinstance(wind, tuple):
        return []
    requests: list[Request] = []
    for axis, name in enumerate(("x", "y")):
        doc = f"Along the world's {name}; plans reckon with it as soon as they are made anew."
        label(context, f"Wind {name}", doc)
        flags = imgui.SliderFlags_.always_clamp.value
        moved, value = imgui.slider_float(
            f"##wind_{name}", wind[axis], -WIND_MPS, WIND_MPS, "%.1f m/s", flags
        )
        note(context, f"pilot/wind/{name}")
        tooltip(doc)
        if moved:
            blown = (*wind[:axis], significant(value), *wind[axis + 1 :])
            context.of(FlownParameters).values["wind"] = blown
            requests.append(SetParameter("wind", blown))
    return requests
