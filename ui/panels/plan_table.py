"""Plans side by side: one column each, in the colour of its ribbon; shown, chosen, saved and deleted there."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from render.plan.view import KEPT, PRESENT
from sim.planner.result.record import PlanRecord
from sim.planner.service.requests import ChoosePlan, DeletePlan, KeepPlan, SavePlan, ShowPlan
from sim.planner.service.view import PlanView
from sim.snapshot import Snapshot
from ui import theme
from ui.colours import screen_colour
from ui.panels.context import PanelContext
from ui.panels.widgets import button, note, prose, tooltip
from ui.requests import ExportPlan, Request

_COLUMN_PX, _NAMES_PX = 70.0, 66.0
_ROWS: dict[str, tuple[str, Callable[[PlanRecord], str]]] = {
    "time": ("Final time.", lambda r: f"{r.duration_s:.2f} s"),
    "clear": ("Smallest distance to obstacles and ground, also between nodes.", lambda r: _clear(r)),
    "iterations": ("Of all solver runs together.", lambda r: f"{r.iterations}"),
    "solved in": ("Wall time of planning.", lambda r: f"{r.seconds:.2f} s"),
    "steps": ("N.", lambda r: f"{r.steps}"),
    "method": ("Integrator.", lambda r: r.integrator),
}


def draw(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
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
    exportable = plan.plan is not None and plan.plan.solved and not context.takes.saving
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
