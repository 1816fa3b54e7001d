"""Comparison lanes: the same vehicle and inputs under other methods or steps, as ghosts or in views of their own."""

from dataclasses import replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import AddLane, RemoveLane, Reset, SetLanePilot, SetLaneTint, SetReference
from sim.platform.values import dataclass
from sim.scene import MOST_LANES, Scene
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot, off_text, outcome
from ui.features.flight import step_field
from ui.features.goals import GoalsView
from ui.features.methods import method_menu
from ui.hud.pen import draw_marker
from ui.settings.view_settings import distance
from ui.window import theme
from ui.window.context import ChangeView, PanelContext, Request, SceneCamera
from ui.window.theme import line_colour, linear
from ui.window.widgets import (
    LABEL_WIDTH,
    OVERLAY,
    Box,
    Item,
    button,
    checkbox,
    has_caption,
    heading,
    label,
    note,
    overlap,
    placed,
    prose,
    right_edge,
    segmented,
    step_text,
    tooltip,
    who_text,
)

SPREAD_RANGE_M = (0.0, 30.0)
STATUS_COLOURS = {
    LaneStatus.RUNNING: theme.GOOD,
    LaneStatus.DIVERGED: theme.DANGER,
    LaneStatus.CRASHED: theme.WARNING,
    LaneStatus.OFF_MAP: theme.WARNING,
    LaneStatus.GIVEN_UP: theme.DANGER,
}
VIEWS = (
    Item("1", "One", "All lanes in one picture."),
    Item("2", "Two", "The first two lanes side by side, under one camera."),
    Item("3", "Three", "The first three lanes side by side, under one camera."),
    Item("4", "Four", "The first four lanes in four pictures, under one camera."),
)
PICKER = imgui.ColorEditFlags_.no_inputs | imgui.ColorEditFlags_.no_label | imgui.ColorEditFlags_.no_tooltip


def draw_lanes(snapshot: Snapshot, context: PanelContext) -> list[Request]:
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
    imgui.text_unformatted(f"{who_text(lane)}  {step_text(lane.step_s)}")
    tooltip(f"{lane.name}: {lane.vehicle} by {lane.integrator}\n{lane.status_text}".rstrip())
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
    view, requests = context.view, list[Request]()
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
    new, flown = context.of(NewLane), snapshot.lanes[0]
    entry = context.catalogue.integrators.get(new.integrator)
    if entry is None or flown.vehicle in entry.refusals:
        new.integrator = flown.integrator  # which serves the vehicle
    heading(context, "Add a ghost")
    label(context, "Method")
    chosen = method_menu(context, "lanes/integrator", flown.vehicle, new.integrator)
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


Places = dict[str, tuple[float, float, float]]
"""By lane name: x and y of the place of its name, y of the lane's foot, logical units, origin top left."""
WAIST = 0.5
"""Of a lane's height: the width about its middle that no name covers."""

OVER_THE_SCENE = (
    "caption",
    "key_hint",
    "hud/heading",
    "hud/numbers",
    "hud/badges",
    "hud/minimap",
    "hud/pursuit",
    "race",
    "past",
    "goals",
    "flourish",
)


def draw_labels(places: Places, snapshot: Snapshot, context: PanelContext, *, split: bool) -> None:
    """Each lane's name beside its colour, what has become of it where it has a picture of its own, or why it stopped.

    Within the scene, clear of its caption, of the instruments and of one another, as far as there is room.
    """
    pen = imgui.get_background_draw_list()
    row, pad = imgui.get_text_line_height(), context.px(5.0)
    chip = context.px(5.0)
    taken = [context.rects[name] for name in OVER_THE_SCENE if name in context.rects]
    figures = [] if split else [_figure(*place) for place in places.values()]
    for lane in snapshot.lanes:
        if lane.name not in places:
            continue
        lines = _lines(lane, split=split)
        width = max(imgui.calc_text_size(text).x for text, _ in lines) + chip + 3.0 * pad
        height = row * len(lines) + 1.2 * pad
        x, y, _ = places[lane.name]
        corner = (x + context.px(8.0), y + context.px(8.0)) if split else (x - width / 2.0, y - height)
        wanted = (*corner, width, height)
        box = placed(wanted, _room(context), taken + figures, step=0.5 * row)
        if any(overlap(box, other) for other in taken):  # rather on a vehicle than on what is read
            box = placed(wanted, _room(context), taken, step=0.5 * row)
        taken.append(box)
        context.rects[f"label/{lane.name}"] = box
        left, top = box[:2]
        low, high = (left, top), (left + width, top + height)
        pen.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.72), context.px(4.0))
        pen.add_rect_filled(low, (left + chip, high[1]), theme.packed(line_colour(lane)), context.px(2.0))
        for number, (text, colour) in enumerate(lines):
            pen.add_text((left + chip + pad, top + 0.6 * pad + number * row), theme.packed(colour), text)


def _figure(x: float, y: float, foot: float) -> Box:
    """About what is seen of a lane."""
    tall = max(foot - y, 0.0)
    return x - 0.5 * WAIST * tall, y, WAIST * tall, tall


def _room(context: PanelContext) -> Box:
    x, y, width, height = context.scene_rect
    edge = context.px(4.0)
    return x + edge, y + edge, width - 2.0 * edge, height - 2.0 * edge


def _lines(lane: LaneSnapshot, *, split: bool) -> list[tuple[str, theme.Colour]]:
    title = lane.name if lane.measured else f"{who_text(lane)}, h = {step_text(lane.step_s)}"
    lines = [(title, line_colour(lane))]
    if lane.status is not LaneStatus.RUNNING:
        lines.append((f"{lane.status.value} at t = {lane.time_current_s:.2f} s", theme.DANGER))
    elif split and lane.deviation is not None:
        lines.append((off_text(lane), theme.INK))
    return lines


WIDTH_PX, SMALL_PX = 430.0, 540.0
"""Over a scene that is lower than that nothing is told but what to look at, and what became of each lane."""
ASTRAY_M, ASTRAY_RAD = 0.1, 0.1
"""Off the reference by more than the eye takes for the same motion."""


def draw_caption(scene: Scene, snapshot: Snapshot, context: PanelContext) -> None:
    """Over a part of the scene where nothing happens; nothing for scenes without a caption."""
    told = scene.comparison
    if not has_caption(scene, snapshot):
        return
    x, y, width, height = context.scene_rect
    split, gap = context.view.views > 1, context.px(12.0)
    # Linked pictures have their vehicles in their middles: the words keep to the lower edge there.
    place, pivot = ((x + gap, y + height - gap), (0.0, 1.0)) if split else ((x + gap, y + gap), (0.0, 0.0))
    imgui.set_next_window_pos(place, imgui.Cond_.always, pivot)
    imgui.set_next_window_bg_alpha(0.72)
    imgui.begin("##caption", None, OVERLAY | imgui.WindowFlags_.no_inputs)
    room = width - 4.0 * gap
    imgui.push_text_wrap_pos(room if split else min(context.px(WIDTH_PX), room))
    imgui.push_font(context.fonts.bold, theme.FONT_PX * 1.1)
    imgui.text_unformatted(scene.title)
    imgui.pop_font()
    imgui.push_font(None, theme.FONT_PX * 0.93)
    _due(context)
    whole = height >= context.px(SMALL_PX)
    if whole:
        imgui.text_unformatted(told.caption)
    if not split:
        imgui.spacing()
        for lane in snapshot.lanes:
            _lane(lane)
    if whole and told.note:
        imgui.spacing()
        imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.WARNING))
        imgui.text_unformatted(told.note)
        imgui.pop_style_color()
    imgui.pop_font()
    imgui.pop_text_wrap_pos()
    corner, size = imgui.get_window_pos(), imgui.get_window_size()
    context.rects["caption"] = (corner.x, corner.y, size.x, size.y)
    imgui.end()


def _due(context: PanelContext) -> None:
    """What to look at."""
    goals = context.of(GoalsView)
    progress = goals.progress
    if progress is None or not context.view.goals:
        return
    skip, onward = (
        context.keymap.first("skip_goal"),
        context.catalogue.scenes.get(goals.onward),
    )
    if progress.due is not None:
        keys = context.keymap.keys_of(progress.due.keys)
        text = f"{progress.due.title}: {progress.due.words}{f' Keys: {keys}.' if keys else ''}"
    elif onward is not None:
        text = f"All seen. {skip}: on to \N{LEFT DOUBLE QUOTATION MARK}{onward.title}\N{RIGHT DOUBLE QUOTATION MARK}"
    else:
        return
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.ACCENT_BRIGHT))
    imgui.text_unformatted(f"{icons.ICON_FA_CHEVRON_RIGHT} {text}")
    imgui.pop_style_color()


def _lane(lane: LaneSnapshot) -> None:
    imgui.text_colored(imgui.ImVec4(*line_colour(lane)), icons.ICON_FA_CIRCLE)
    imgui.same_line()
    imgui.text_unformatted(f"{who_text(lane)}, h = {step_text(lane.step_s)}:")
    imgui.same_line()
    colour = outcome_colour(lane)
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*colour))
    imgui.text_unformatted(outcome(lane))
    imgui.pop_style_color()


def outcome_colour(lane: LaneSnapshot) -> theme.Colour:
    """Good is only what also stays where the reference is, as far as there is one."""
    if lane.status is not LaneStatus.RUNNING:
        return theme.DANGER
    off = lane.deviation
    astray = off is not None and (off.position_m > ASTRAY_M or off.rotation_rad > ASTRAY_RAD)
    return theme.WARNING if astray else theme.GOOD


@dataclass(slots=True)
class NewLane:
    """The comparison lane that the lanes panel is about to add."""

    integrator: str = "rk4"
    step_s: float = 0.005


def draw_caption_over(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Where the user wants it."""
    scene = context.find(Scene)
    if context.view.caption and scene is not None:
        draw_caption(scene, snapshot, context)
    return []


def draw_lanes_out_of_view(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """An arrow at the edge of the picture to each other lane that is not in it, with how far off that is."""
    camera, view, flown = context.find(SceneCamera), context.view, snapshot.lanes[0]
    if camera is None or view.views > 1 or view.solo:
        return []
    for lane, drawn in zip(snapshot.lanes[1:], camera.as_drawn(snapshot).lanes[1:], strict=True):
        if not np.isfinite(drawn.T_wb).all():
            continue
        off_m = lane.distance_m(flown)
        place_w = drawn.T_wb[:3, 3] + camera.shifts_w.get(lane.name, np.zeros(3))
        text = f"{lane.name}, {distance(off_m, view.units)}"
        draw_marker(f"marker/{lane.name}", place_w, text, line_colour(lane), camera, context, in_view=False)
    return []
