"""Comparison lanes: the same vehicle and inputs under other methods or steps, as ghosts or in views of their own."""

from dataclasses import replace

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import AddLane, RemoveLane, Reset, SetLanePilot, SetLaneTint, SetReference
from sim.scene import MOST_LANES
from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from ui import theme
from ui.colours import line_colour, linear
from ui.panels.context import PanelContext
from ui.panels.integrator import items, step_field
from ui.panels.labels import step_text
from ui.panels.widgets import (
    LABEL_WIDTH,
    Item,
    button,
    checkbox,
    heading,
    label,
    menu,
    note,
    prose,
    right_edge,
    segmented,
    tooltip,
)
from ui.requests import ChangeView, Request

SPREAD_RANGE_M = (0.0, 30.0)
STATUS_COLOURS = {
    LaneStatus.RUNNING: theme.GOOD,
    LaneStatus.DIVERGED: theme.DANGER,
    LaneStatus.CRASHED: theme.WARNING,
}
VIEWS = (
    Item("1", "One", "All lanes in one picture."),
    Item("2", "Two", "The first two lanes side by side, under one camera."),
    Item("3", "Three", "The first three lanes side by side, under one camera."),
    Item("4", "Four", "The first four lanes in four pictures, under one camera."),
)
PICKER = imgui.ColorEditFlags_.no_inputs | imgui.ColorEditFlags_.no_label | imgui.ColorEditFlags_.no_tooltip


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """One row a lane, how they are seen, then what the next one would be."""
    requests: list[Request] = []
    for index, lane in enumerate(snapshot.lanes):
        requests += _row(context, lane, flown=index == 0)
    requests += _arrangement(snapshot, context)
    if len(snapshot.lanes) < MOST_LANES:
        return requests + _new_lane(snapshot, context)
    prose(f"{MOST_LANES} lanes are the most.")
    return requests


def _row(context: PanelContext, lane: LaneSnapshot, *, flown: bool) -> list[Request]:
    requests: list[Request] = []
    edge, width, gap = right_edge(), context.px(26.0), context.px(3.0)
    imgui.align_text_to_frame_padding()
    if not lane.measured:
        requests += _swatch(context, lane)
        imgui.same_line()
    imgui.text_colored(imgui.ImVec4(*STATUS_COLOURS[lane.status]), icons.ICON_FA_CIRCLE)
    note(context, f"lanes/status/{lane.name}")
    tooltip(lane.status_text or lane.status.value)
    imgui.same_line()
    imgui.text_unformatted(f"{lane.integrator}  {step_text(lane.step_s)}")
    tooltip(f"{lane.name}: {lane.vehicle}\n{lane.status_text}")
    solo = context.view.solo == lane.name
    imgui.same_line(edge - (width if flown else 3.0 * width + 2.0 * gap))
    doc = "Show this lane alone"
    if button(context, f"lanes/solo/{lane.name}", icons.ICON_FA_EYE, doc, width=width, lit=solo):
        requests.append(ChangeView(replace(context.view, solo="" if solo else lane.name)))
    if flown:
        return requests
    imgui.same_line(0.0, gap)
    if not lane.measured:
        requests += _pilot(context, lane, width)
        imgui.same_line(0.0, gap)
    if button(context, f"lanes/remove/{lane.name}", icons.ICON_FA_XMARK, "Remove this lane", width=width):
        requests.append(RemoveLane(lane.name))
    return requests


def _pilot(context: PanelContext, lane: LaneSnapshot, width: float) -> list[Request]:
    doc = "Gets the flown lane's controls, bit for bit; press for a pilot of its own, who sees this lane."
    doc = "Flown by a pilot of its own; press for the flown lane's controls." if lane.own_pilot else doc
    icon = icons.ICON_FA_USER if lane.own_pilot else icons.ICON_FA_LINK
    if button(context, f"lanes/pilot/{lane.name}", icon, doc, width=width):
        return [SetLanePilot(lane.name, not lane.own_pilot)]
    return []


def _swatch(context: PanelContext, lane: LaneSnapshot) -> list[Request]:
    red, green, blue, _ = line_colour(lane)
    changed, picked = imgui.color_edit3(f"##tint{lane.name}", [red, green, blue], PICKER)
    note(context, f"lanes/tint/{lane.name}")
    tooltip("Recolour")
    if not changed:
        return []
    r, g, b = (linear(float(part)) for part in picked)
    return [SetLaneTint(lane.name, (r, g, b))]


def _arrangement(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    view, requests = context.view, []
    heading(context, "Side by side")
    label(context, "Pictures", "One for all lanes, or linked ones with one camera.")
    chosen = segmented(context, "lanes/views", VIEWS, str(view.views))
    if chosen is not None:
        requests.append(ChangeView(replace(view, views=int(chosen))))
    label(context, "Apart", "Lanes are drawn this far apart in the one picture; their motion is not changed.")
    changed, spread_m = imgui.slider_float("##lanes/spread", view.spread_m, *SPREAD_RANGE_M, "%.0f m")
    note(context, "lanes/spread")
    if changed:
        low, high = SPREAD_RANGE_M
        requests.append(ChangeView(replace(view, spread_m=float(round(min(max(spread_m, low), high))))))
    doc = "A tight integration runs alongside, from where you are now; errors are measured against it."
    if checkbox(context, "lanes/reference", "Reference", snapshot.reference, doc):
        requests.append(SetReference(not snapshot.reference))
    imgui.same_line(imgui.get_cursor_pos_x() + context.px(LABEL_WIDTH + 60.0))
    if checkbox(context, "lanes/caption", "Names and caption", view.caption, "Over the scene."):
        requests.append(ChangeView(replace(view, caption=not view.caption)))
    return requests


def _new_lane(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    new, flown = context.new_lane, snapshot.lanes[0]
    methods = items(context.catalogue, flown.vehicle)
    if not any(item.enabled and item.name == new.integrator for item in methods):
        new.integrator = flown.integrator  # which serves the vehicle
    heading(context, "Add a ghost")
    label(context, "Method")
    chosen = menu(context, "lanes/integrator", methods, new.integrator)
    if chosen is not None:
        new.integrator = chosen
    label(context, "Step h")
    step_s = step_field(context, "lanes/step", new.step_s)
    if step_s is not None:
        new.step_s = step_s
    label(context, "")
    added = AddLane(new.integrator, new.step_s)
    doc = "Starts from your present state and gets your controls, bit for bit."
    width = (imgui.get_content_region_avail().x - context.px(4.0)) / 2.0
    if button(context, "lanes/add", f"{icons.ICON_FA_PLUS}  Add", doc, width=width):
        return [added]
    imgui.same_line(0.0, context.px(4.0))
    doc = "Adds it and starts all lanes over, side by side."
    text = f"{icons.ICON_FA_PLUS}  Start over"
    if button(context, "lanes/add_and_reset", text, doc, width=width):
        return [added, Reset()]
    return []
