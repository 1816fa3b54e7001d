"""The recording as a line: where one is on it, back, on, and what to do with the moment that is shown."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import BackToNow, Scrub, SetPaused
from sim.snapshot import Snapshot
from ui import theme
from ui.panels.context import PanelContext
from ui.panels.plot_playhead import MARKS
from ui.panels.widgets import button, note, tooltip
from ui.plot_window import within
from ui.requests import Request, SaveTake
from ui.timeline import FLY_ON, JUMP_S, is_recorded, jumped, shown_s

LINE_DOC = (
    "Drag to look back: time stands still, and nothing that was simulated changes. "
    "The last five minutes are remembered."
)


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
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
    for mark in within(context.plot_window.marks, begin_s, end_s):
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
    free = is_recorded(snapshot) and not context.takes.saving and not (look and look.opened)
    if button(context, "timeline/save", f"{icons.ICON_FA_FLOPPY_DISK}  Save", doc, width=width, enabled=free):
        requests.append(SaveTake())
    return requests
