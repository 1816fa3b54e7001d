"""Planning: plan, stop, fly; pages for task, cost, flight, comparison; how the solver got on, and what would help.

What is told of a plan comes and goes and changes its height: it stands last, so that no field moves under the mouse.
"""

from collections.abc import Callable

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from render.plan.view import alternatives_shown
from sim.commands import StopPlan
from sim.planner.result.record import PlanRecord
from sim.planner.service.remedies import offered
from sim.planner.service.requests import EditTask, FlyShown, StartPlanning, StopPlanning, TakeAlternative
from sim.planner.service.view import PlanView
from sim.snapshot import Snapshot
from ui import theme
from ui.panels import plan_pilot, plan_table
from ui.panels.context import PanelContext
from ui.panels.plan_pages import draw_plan_cost, draw_plan_flight, draw_plan_progress, draw_plan_task
from ui.panels.widgets import Item, button, note, prose, segmented, tooltip
from ui.plan_marks import compared
from ui.requests import ChangeView, LoadScene, Request
from ui.view_settings import overlooking

_PHASES = {
    "building": "Building the problem ...",
    "solving": "Solving ...",
    "comparing": "Solved. Trying other ways ...",
    "following": "Following ...",
    "stopping": "Stopping ...",
}
_HELD_TOLD = 1
"""Of what holds a plan; all of it is in the tooltip."""
_PAGES = (
    Item("task", "Task", "Final time, steps, method, waypoints"),
    Item("cost", "Cost", "What the plan is to cost"),
    Item("flight", "Flight", "Wind that the plan does not know"),
    Item("pilot", "Pilot", "Plans that are made anew while one flies"),
    Item("plans", "Compare", "Plans side by side; keep and save them"),
)
_PAGE_SHARE, _PAGE_PX = 0.45, 118.0
"""Of the room below the buttons, and at least."""
_NOT_SAILED = ("flight", "pilot")
"""Pages for what flies its plan itself."""
_DRAWN: dict[str, Callable[[PlanView, Snapshot, PanelContext], list[Request]]] = {
    "task": draw_plan_task,
    "cost": draw_plan_cost,
    "flight": draw_plan_flight,
    "pilot": plan_pilot.draw,
    "plans": plan_table.draw,
}


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The whole tab."""
    plan = context.plan
    if plan is None:
        return _scenes_to_plan(context)
    requests = _buttons(plan, snapshot, context)
    choices = context.planning
    pages = tuple(page for page in _PAGES if not plan.sailed_by or page.name not in _NOT_SAILED)
    choices.page = segmented(context, "plan/page", pages, choices.page) or choices.page
    room = imgui.get_content_region_avail().y + imgui.get_scroll_y()
    imgui.begin_child("plan/page", (0.0, max(_PAGE_SHARE * room, context.px(_PAGE_PX))))
    requests += _DRAWN[choices.page](plan, snapshot, context)
    imgui.end_child()
    requests += _status(plan, context)
    requests += _remedies(plan, context)
    draw_plan_progress(plan, context)
    return requests


def _scenes_to_plan(context: PanelContext) -> list[Request]:
    prose("This scene has no task to plan. These have:")
    requests: list[Request] = []
    for name, entry in context.catalogue.scenes.items():
        if name.startswith(("plan-", "chase-")) and button(
            context, f"plan/scene/{name}", entry.title, entry.text, width=-1.0
        ):
            requests.append(LoadScene(name))
    return requests


def _buttons(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    gap, icon = context.px(4.0), context.px(30.0)
    width = (imgui.get_content_region_avail().x - icon - 4.0 * gap) / 4.0
    text = f"{icons.ICON_FA_ROUTE} Plan"
    doc = "Find the cheapest of several ways to do the task. Watched iterates fade in the view."
    if button(context, "plan/start", text, doc, width=width, lit=not plan.busy):
        requests.append(StartPlanning())
    imgui.same_line(0.0, gap)
    requests += _stopping(plan, snapshot, context, width)
    imgui.same_line(0.0, gap)
    requests += _flying(plan, context, width, gap)
    imgui.same_line(0.0, gap)
    doc = "Frame the whole plan" + context.keymap.hint("overview")
    if button(context, "plan/overview", icons.ICON_FA_EXPAND, doc, width=icon):
        requests.append(ChangeView(overlooking(context.view)))
    return requests


def _stopping(plan: PlanView, snapshot: Snapshot, context: PanelContext, width: float) -> list[Request]:
    """Of the planner while it is at work, else of a flight."""
    if (snapshot.plan_flies or snapshot.course is not None) and not plan.busy:
        text = f"{icons.ICON_FA_HAND} Leave"
        doc = "Leave the plan: you fly from here."
        return [StopPlan()] if button(context, "plan/leave", text, doc, width=width, lit=True) else []
    text = f"{icons.ICON_FA_STOP} Stop"
    doc = "End at this iteration; what there is of a plan is shown."
    pressed = button(context, "plan/stop", text, doc, width=width, enabled=plan.busy)
    return [StopPlanning()] if pressed else []


def _flying(plan: PlanView, context: PanelContext, width: float, gap: float) -> list[Request]:
    ready = plan.plan is not None and plan.plan.solved
    wind_mps = context.planning.wind_w
    requests: list[Request] = []
    if plan.sailed_by:
        text = f"{icons.ICON_FA_SHIP} Sail"
        doc = (
            f"Plan from where the {plan.sailed_by} is now, and sail that course into the berth in the weather that "
            f"there is{context.keymap.hint('fly_plan')}"
        )
        pressed = button(context, "plan/sail", text, doc, width=2.0 * width + gap, enabled=not plan.busy)
        return [FlyShown()] if pressed else []
    text = f"{icons.ICON_FA_PLANE} Fly"
    dated = "Out of date: it flies the task before.\n" if plan.dated else ""
    doc = (
        f"{dated}Open loop: the planned inputs by the same method and step. Undisturbed it lands on the plan."
    )
    if button(context, "plan/fly", text, doc, width=width, enabled=ready):
        requests.append(FlyShown(wind_mps=wind_mps))
    imgui.same_line(0.0, gap)
    text = f"{icons.ICON_FA_CROSSHAIRS} Track"
    doc = (
        f"{dated}The same with errors fed back (LQR along the plan, on the group); wind is learnt on the way."
    )
    if button(context, "plan/track", text, doc, width=width, enabled=ready):
        requests.append(FlyShown(tracked=True, wind_mps=wind_mps))
    return requests


def _status(plan: PlanView, context: PanelContext) -> list[Request]:
    solved = plan.plan is not None and plan.plan.solved
    if plan.busy:
        text, colour = _PHASES[plan.phase], theme.WARNING
    elif plan.refused:
        text, colour = plan.message, theme.DANGER
    elif plan.stale:
        text, colour = f"Out of date. {plan.message}", theme.WARNING
    else:
        text = plan.message or "Nothing is planned yet: press Plan."
        colour = theme.GOOD if solved else (theme.DANGER if plan.message else theme.MUTED)
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*colour))
    imgui.text_wrapped(text)
    imgui.pop_style_color()
    note(context, "plan/status")
    record = plan.plan
    if record is not None and record.solved and not plan.refused:
        clear = f", clear by {record.clearance_m:.2f} m" if np.isfinite(record.clearance_m) else ""
        prose(f"cost {record.cost:.4g}, {record.duration_s:.2f} s in {record.steps} steps{clear}")
        tooltip("\n".join(f"{name}: {value:.4g}" for name, value in record.costs.items()))
        _held(record, context)
        return _other_ways(plan, record, context)
    return []


def _other_ways(plan: PlanView, record: PlanRecord, context: PanelContext) -> list[Request]:
    """What else was found, as buttons with what it costs."""
    requests: list[Request] = []
    others = alternatives_shown(plan)
    for index, other in enumerate(others):
        if index:
            imgui.same_line(0.0, context.px(4.0))
        doc = f"{compared(other.cost, record.cost)}: another way that was found from {record.tried} first guesses."
        width = (imgui.get_content_region_avail().x - context.px(4.0) * (len(others) - 1 - index)) / (
            len(others) - index
        )
        if button(context, f"plan/way/{index}", f"{other.cost:.3g}", doc, width=width):
            requests.append(TakeAlternative(index))
    return requests


def _held(record: PlanRecord, context: PanelContext) -> None:
    """What keeps it from being cheaper."""
    if not record.active:
        return
    more = len(record.active) - _HELD_TOLD
    text = "; ".join(constraint.words for constraint in record.active[:_HELD_TOLD])
    prose(f"Held by {text}{f'; {more} more' if more > 0 else ''}.")
    note(context, "plan/held")
    tooltip(
        "Without these it could be cheaper:\n" + "\n".join(constraint.words for constraint in record.active)
    )


def _remedies(plan: PlanView, context: PanelContext) -> list[Request]:
    """Buttons with what would help, where a plan failed."""
    requests: list[Request] = []
    gap = context.px(4.0)
    half = (imgui.get_content_region_avail().x - gap) / 2.0
    for index, remedy in enumerate(offered(plan)):
        if index % 2:
            imgui.same_line(0.0, gap)
        text = f"{icons.ICON_FA_WRENCH} {remedy.text}"
        if button(context, f"plan/remedy/{index}", text, remedy.doc, width=half):
            requests.append(EditTask(remedy.task))
    return requests
