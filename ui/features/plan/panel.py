"""Planning: plan, stop, fly; pages for task, cost, flight, comparison; how the solver got on, and what would help.

What is told of a plan comes and goes and changes its height: it stands last, so that no field moves under the mouse.
"""

from collections.abc import Callable

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from render.plan.view import KEPT, PRESENT, alternatives_shown
from sim.commands import StopPlan
from sim.control.calm_water import LEFT_OUT
from sim.planner.result.record import PlanRecord
from sim.planner.service.remedies import offered
from sim.planner.service.requests import (
    ChoosePlan,
    DeletePlan,
    EditTask,
    FlyShown,
    KeepPlan,
    LeaveMpc,
    SavePlan,
    ShowPlan,
    StartPlanning,
    StopPlanning,
    TakeAlternative,
)
from sim.planner.service.session import PlanView
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.plan import pages
from ui.features.plan.marks import compared
from ui.features.plan.pages import (
    PlanChoices,
    draw_plan_cost,
    draw_plan_flight,
    draw_plan_progress,
    draw_plan_task,
)
from ui.features.recordings import ExportPlan, TakesView
from ui.settings.view_settings import overlooking
from ui.window import theme
from ui.window.context import ChangeView, LoadScene, PanelContext, Request
from ui.window.theme import screen_colour
from ui.window.widgets import Item, button, note, prose, segmented, tooltip

_COLUMN_PX, _NAMES_PX = 70.0, 66.0
_ROWS: dict[str, tuple[str, Callable[[PlanRecord], str]]] = {
    "time": ("Final time.", lambda r: f"{r.duration_s:.2f} s"),
    "clear": ("Smallest distance to obstacles and ground, also between nodes.", lambda r: _clear(r)),
    "iterations": ("Of all solver runs together.", lambda r: f"{r.iterations}"),
    "solved in": ("Wall time of planning.", lambda r: f"{r.seconds:.2f} s"),
    "steps": ("N.", lambda r: f"{r.steps}"),
    "method": ("Integrator.", lambda r: r.integrator),
}


def draw_table(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Keep and export, then the table."""
    requests: list[Request] = []
    fresh = plan.plan is not None and all(record is not plan.plan for record in plan.kept)
    text = f"{icons.ICON_FA_BOOKMARK}  Keep this plan"
    doc = "Into the list, to compare others with it."
    gap = context.px(4.0)
    half = (imgui.get_content_region_avail().x - gap) / 2.0
    if button(context, "plan/keep", text, doc, width=half, enabled=fresh):
        requests.append(KeepPlan())
    imgui.same_line(0.0, gap)
    text = f"{icons.ICON_FA_FILM}  Export as take"
    doc = "The present plan as a file in your folder of takes: to be played, flown on from, and resimulated."
    exportable = plan.plan is not None and plan.plan.solved and not context.of(TakesView).saving
    if button(context, "plan/export", text, doc, width=half, enabled=exportable) and plan.plan is not None:
        requests.append(ExportPlan(plan.plan))
    columns = ([plan.plan] if fresh and plan.plan is not None else []) + list(plan.kept)
    if not columns:
        prose("Plans that are kept stand side by side here, with what they cost.")
        return requests
    flags = imgui.TableFlags_.scroll_x | imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg
    flags |= imgui.TableFlags_.borders_inner_v | imgui.TableFlags_.sizing_fixed_fit
    if not imgui.begin_table("plans", 1 + len(columns), flags):
        return requests
    imgui.table_setup_scroll_freeze(1, 0)
    imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed.value, context.px(_NAMES_PX))
    for _ in columns:
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed.value, context.px(_COLUMN_PX))
    requests += _heads(plan, columns, context)
    requests += _files(plan, columns, context)
    _numbers(columns)
    imgui.end_table()
    return requests


def _heads(plan: PlanView, columns: list[PlanRecord], context: PanelContext) -> list[Request]:
    """An eye in the ribbon's colour, and the name: click it to make the plan the present one."""
    requests: list[Request] = []
    imgui.table_next_row()
    imgui.table_next_column()
    for record in columns:
        imgui.table_next_column()
        index = _index(plan, record)
        present = record is plan.plan
        colour = screen_colour(PRESENT if present else KEPT[(index or 0) % len(KEPT)])
        shown = present or record.name not in plan.hidden
        imgui.text_colored(imgui.ImVec4(*colour), icons.ICON_FA_EYE if shown else icons.ICON_FA_EYE_SLASH)
        if index is not None:
            note(context, f"plan/kept/{index}/show")
            tooltip(
                "Drawn in the scene; click to leave it out." if shown else "Click to draw it in the scene."
            )
            if imgui.is_item_clicked() and not present:
                requests.append(ShowPlan(record.name, not shown))
        imgui.same_line(0.0, context.px(4.0))
        imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*colour))
        name = "now" if index is None else record.name.split()[-1]
        if imgui.selectable(f"{name}##{record.name}", False)[0] and index is not None:
            requests.append(ChoosePlan(record.name))
        imgui.pop_style_color()
        if index is not None:
            note(context, f"plan/kept/{index}")
            tooltip(f"{record.name}\n{record.message}\nClick: the plan with its task, to fly or edit.")
    return requests


def _numbers(columns: list[PlanRecord]) -> None:
    """Cost and its parts, then what else tells plans apart."""
    least = min(record.cost for record in columns)
    _row("cost", "Weighted sum; the least in green.", [_cost(record, least) for record in columns])
    parts = list(dict.fromkeys(name for record in columns for name in record.costs))
    if len(parts) > 1:
        for part in parts:
            values = [(f"{r.costs[part]:.4g}" if part in r.costs else "-", theme.MUTED) for r in columns]
            _row(f"  {part}", "Weighted part of the cost.", values)
    for name, (doc, text) in _ROWS.items():
        _row(name, doc, [(text(record), theme.INK) for record in columns])


def _row(name: str, doc: str, values: list[tuple[str, theme.Colour]]) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), name)
    tooltip(doc)
    for text, colour in values:
        imgui.table_next_column()
        imgui.text_colored(imgui.ImVec4(*colour), text)
        tooltip(text if len(text) > 9 else "")


def _files(plan: PlanView, columns: list[PlanRecord], context: PanelContext) -> list[Request]:
    """Save and delete."""
    requests: list[Request] = []
    imgui.table_next_row()
    imgui.table_next_column()
    for record in columns:
        imgui.table_next_column()
        index = _index(plan, record)
        if index is None:
            continue
        saved = record.name in plan.saved
        name, doc = f"plan/kept/{index}/save", "Saved." if saved else "Save it to your folder of plans."
        if button(context, name, icons.ICON_FA_FLOPPY_DISK, doc, enabled=not saved):
            requests.append(SavePlan(record.name))
        imgui.same_line(0.0, context.px(3.0))
        doc = "Delete it, its file too." if saved else "Out of the list."
        if button(context, f"plan/kept/{index}/delete", icons.ICON_FA_XMARK, doc):
            requests.append(DeletePlan(record.name))
    return requests


def _index(plan: PlanView, record: PlanRecord) -> int | None:
    """In the list of kept plans."""
    return next((i for i, kept in enumerate(plan.kept) if kept is record), None)


def _cost(record: PlanRecord, least: float) -> tuple[str, theme.Colour]:
    if not record.solved:
        return "failed", theme.DANGER
    return f"{record.cost:.4g}", theme.GOOD if record.cost <= least else theme.INK


def _clear(record: PlanRecord) -> str:
    return f"{record.clearance_m:.2f} m" if np.isfinite(record.clearance_m) else "-"


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
_PAGE_SHARE, _PAGE_PX, _BELOW_PX = 0.45, 118.0, 220.0
"""Of the room below the buttons, at least, and what a page that is taller leaves for what is told of a plan."""
_NOT_SAILED = ("flight", "pilot")
"""Pages for what flies its plan itself."""
_DRAWN: dict[str, Callable[[PlanView, Snapshot, PanelContext], list[Request]]] = {
    "task": draw_plan_task,
    "cost": draw_plan_cost,
    "flight": draw_plan_flight,
    "pilot": pages.draw_pilot,
    "plans": draw_table,
}


def draw_plan(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The whole tab."""
    plan = context.find(PlanView)
    if plan is None:
        return _scenes_to_plan(context)
    requests = _buttons(plan, snapshot, context)
    choices = context.of(PlanChoices)
    pages = tuple(page for page in _PAGES if not plan.sailed_by or page.name not in _NOT_SAILED)
    choices.page = segmented(context, "plan/page", pages, choices.page) or choices.page
    room = imgui.get_content_region_avail().y + imgui.get_scroll_y()
    taller = min(choices.tall.get(choices.page, 0.0), room - context.px(_BELOW_PX))
    imgui.begin_child("plan/page", (0.0, max(_PAGE_SHARE * room, context.px(_PAGE_PX), taller)))
    page = choices.page
    requests += _DRAWN[page](plan, snapshot, context)
    choices.tall[page] = imgui.get_cursor_pos_y()
    imgui.end_child()
    requests += _status(plan, context)
    _left_out(plan, snapshot)
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
    sails = bool(plan.sailed_by) and snapshot.mpc is not None
    if (snapshot.plan_flies or sails) and not plan.busy:
        text = f"{icons.ICON_FA_HAND} Leave"
        doc = "Leave the plan: you fly from here."
        return (
            [LeaveMpc() if sails else StopPlan()]
            if button(context, "plan/leave", text, doc, width=width, lit=True)
            else []
        )
    text = f"{icons.ICON_FA_STOP} Stop"
    doc = "End at this iteration; what there is of a plan is shown."
    pressed = button(context, "plan/stop", text, doc, width=width, enabled=plan.busy)
    return [StopPlanning()] if pressed else []


def _flying(plan: PlanView, context: PanelContext, width: float, gap: float) -> list[Request]:
    ready = plan.plan is not None and plan.plan.solved
    wind_mps = context.of(PlanChoices).wind_w
    requests: list[Request] = []
    if plan.sailed_by:
        text = f"{icons.ICON_FA_SHIP} Sail"
        doc = (
            f"Plan from where the {plan.sailed_by} is now, and sail into the berth in the weather that there is, by "
            f"plans made anew all the time{context.keymap.hint('fly_plan')}"
        )
        pressed = button(context, "plan/sail", text, doc, width=2.0 * width + gap, enabled=not plan.busy)
        return [FlyShown()] if pressed else []
    text = f"{icons.ICON_FA_PLANE} Fly"
    dated = "Out of date: it flies the task before.\n" if plan.dated else ""
    doc = (
        f"{dated}Open loop: the planned inputs by the same method and step. Undisturbed it lands on the plan.\n"
        "A motion so unstable that rounding leads it astray is flown with errors fed back."
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
        # + 0.0: what touches is clear by 0, not by -0.
        clear_m = round(record.clearance_m, 2) + 0.0
        clear = f", clear by {clear_m:.2f} m" if np.isfinite(clear_m) else ""
        prose(f"cost {record.cost:.4g}, {record.duration_s:.2f} s in {record.steps} steps{clear}")
        tooltip("\n".join(f"{name}: {value:.4g}" for name, value in record.costs.items()))
        _held(record, context)
        return _other_ways(plan, record, context)
    return []


def _left_out(plan: PlanView, snapshot: Snapshot) -> None:
    """What plans for what floats do not know, and what has been found out instead."""
    if not plan.sailed_by:
        return
    text = f"Planned on flat water: left out are {LEFT_OUT}."
    known = None if snapshot.mpc is None else snapshot.mpc.known
    if known is not None:
        current, push = (float(np.linalg.norm(known.values[name])) for name in ("current", "push"))
        text += f" Found out under way: a current of {current:.2f} m/s, a steady push of {push:.0f} N."
    prose(text)


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
