"""The recording as a line: where one is on it, back, on, and what to do with the moment that is shown."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import SPEED_RANGE, BackToNow, Reset, Scrub, SetPaused, SetSpeed, SingleStep
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.recordings import MARKS, PlotWindow, SaveTake, TakesView, within
from ui.window import theme
from ui.window.context import PanelContext, Request
from ui.window.widgets import (
    FLY_ON,
    JUMP_S,
    button,
    doubled,
    halved,
    in_past,
    is_recorded,
    jumped,
    note,
    played_or_paused,
    real_time,
    right_edge,
    shown_s,
    speed_label,
    tooltip,
)

LINE_DOC = (
    "Drag to look back: time stands still, and nothing that was simulated changes. "
    "The last five minutes are remembered."
)


def draw_timeline(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Two rows."""
    return _line(snapshot, context) + _buttons(snapshot, context)


def _line(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    begin_s, end_s, at_s = shown_s(snapshot)
    looking, there = snapshot.look_back is not None, is_recorded(snapshot)
    small, gap, keys = context.px(26.0), context.px(3.0), context.keymap
    doc = "A second back" + keys.hint("back")
    back = button(context, "timeline/back", icons.ICON_FA_ANGLE_LEFT, doc, width=small, enabled=there)
    imgui.same_line(0.0, gap)
    imgui.set_next_item_width(imgui.get_content_region_avail().x - small - gap)
    imgui.begin_disabled(not there)
    imgui.push_style_color(imgui.Col_.slider_grab, imgui.ImVec4(*(theme.ACCENT if looking else theme.MUTED)))
    flags = imgui.SliderFlags_.always_clamp | imgui.SliderFlags_.no_input
    # Counted from its begin, so that single precision is enough.
    length_s = max(end_s - begin_s, 1e-3)
    text = f"{at_s:.2f} s" if looking else f"{end_s - begin_s:.0f} s recorded"
    moved, value = imgui.slider_float("##timeline", at_s - begin_s, 0.0, length_s, text, flags)
    imgui.pop_style_color()
    imgui.end_disabled()
    note(context, "timeline/line")
    _marks(begin_s, end_s, context)
    tooltip(LINE_DOC)
    if moved:
        requests.append(Scrub(begin_s + value))
    imgui.same_line(0.0, gap)
    doc = "A second on" + keys.hint("on")
    on = button(context, "timeline/on", icons.ICON_FA_ANGLE_RIGHT, doc, width=small, enabled=looking)
    if back or on:
        request = jumped(snapshot, JUMP_S if on else -JUMP_S)
        requests += [] if request is None else [request]
    return requests


def _marks(begin_s: float, end_s: float, context: PanelContext) -> None:
    """Over the line, where something is marked."""
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    grab = imgui.get_style().grab_min_size
    room, pen = high.x - low.x - grab, imgui.get_window_draw_list()
    for mark in within(context.of(PlotWindow).marks, begin_s, end_s):
        x = low.x + 0.5 * grab + room * (mark.time_s - begin_s) / max(end_s - begin_s, 1e-3)
        pen.add_line((x, low.y), (x, low.y + 0.4 * (high.y - low.y)), theme.packed(MARKS[mark.kind]), 2.0)


def _buttons(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    look, gap, keys = snapshot.look_back, context.px(4.0), context.keymap
    small = context.px(30.0)
    width = (imgui.get_content_region_avail().x - small - 3.0 * gap) / 3.0
    doc = "Time goes on from the moment that is shown; what came after it is kept as an earlier flight"
    doc += keys.hint("retake")
    looking = look is not None
    if button(context, "timeline/retake", "Fly from here", doc, width=width, lit=looking, enabled=looking):
        requests.append(FLY_ON)
    imgui.same_line(0.0, gap)
    playing = looking and not snapshot.paused
    icon = icons.ICON_FA_PAUSE if playing else icons.ICON_FA_FILM
    doc = "Watch the recording from the moment that is shown, or hold it"
    if button(context, "timeline/play", icon, doc, width=small, lit=playing, enabled=looking):
        requests.append(SetPaused(playing))
    imgui.same_line(0.0, gap)
    doc = "Back to the present" + keys.hint("now")
    if button(context, "timeline/now", "Now", doc, width=width, enabled=looking):
        requests.append(BackToNow())
    imgui.same_line(0.0, gap)
    doc = "Write what is recorded to your folder of takes" + keys.hint("save_take")
    free = is_recorded(snapshot) and not context.of(TakesView).saving and not (look and look.opened)
    if button(context, "timeline/save", f"{icons.ICON_FA_FLOPPY_DISK}  Save", doc, width=width, enabled=free):
        requests.append(SaveTake())
    return requests


def draw_transport(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Buttons in one row, the clock in the next, then the recording."""
    requests: list[Request] = []
    wide, small = context.px(46.0), context.px(32.0)
    icon = icons.ICON_FA_PLAY if snapshot.paused else icons.ICON_FA_PAUSE
    keys = context.keymap
    going_on = "Fly on from here" if in_past(snapshot) else "Continue"
    doc = (going_on if snapshot.paused else "Pause") + keys.hint("pause")
    if button(context, "transport/play", icon, doc, width=wide, lit=snapshot.paused):
        requests.append(played_or_paused(snapshot))
    imgui.same_line(0.0, context.px(4.0))
    doc = "One step, then stay paused" + keys.hint("step")
    if button(context, "transport/step", icons.ICON_FA_FORWARD_STEP, doc, width=small):
        requests.append(SingleStep())
    imgui.same_line(0.0, context.px(4.0))
    doc = "Back to the start" + keys.hint("reset")
    if button(context, "transport/reset", icons.ICON_FA_ROTATE_LEFT, doc, width=small):
        requests.append(Reset())
    requests += _speed(snapshot, context)
    _clock(snapshot, context)
    return requests + draw_timeline(snapshot, context)


def _speed(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    small, field = context.px(30.0), context.px(52.0)
    imgui.same_line(right_edge() - 2.0 * small - field - context.px(6.0))
    doc = "Half the speed" + context.keymap.hint("slower")
    slower = button(
        context, "transport/speed_down", icons.ICON_FA_BACKWARD, doc, width=small,
        enabled=snapshot.speed > SPEED_RANGE[0],
    )  # fmt: skip
    if slower:
        requests.append(SetSpeed(halved(snapshot.speed)))
    imgui.same_line(0.0, context.px(3.0))
    if imgui.button(f"{speed_label(snapshot.speed)}##speed", (field, 0.0)):
        requests.append(SetSpeed(1.0))
    note(context, "transport/speed")
    tooltip(
        "Simulated seconds per second, 1/32 to 8. Slow motion takes fewer steps, never shorter ones. Click for 1."
    )
    imgui.same_line(0.0, context.px(3.0))
    doc = "Twice the speed" + context.keymap.hint("faster")
    faster = button(
        context, "transport/speed_up", icons.ICON_FA_FORWARD, doc, width=small,
        enabled=snapshot.speed < SPEED_RANGE[1],
    )  # fmt: skip
    if faster:
        requests.append(SetSpeed(doubled(snapshot.speed)))
    return requests


def _clock(snapshot: Snapshot, context: PanelContext) -> None:
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), "t")
    imgui.same_line(0.0, context.px(6.0))
    imgui.push_font(context.fonts.bold, 0.0)
    imgui.text_unformatted(f"{snapshot.clock_s:.2f} s")
    imgui.pop_font()
    text, colour = real_time(snapshot)
    width = imgui.calc_text_size(text).x
    imgui.same_line(right_edge() - width)
    imgui.text_colored(imgui.ImVec4(*colour), text)
    note(context, "transport/rtf")
    tooltip(
        "Simulated seconds per second, as achieved. Below what is asked for the machine cannot keep up and time is "
        "given up."
    )
