"""Widgets that panels share: labelled rows, segmented choices, menus with tooltips, each of which notes its place by
name; and how numbers, times and moments of a recording are worded."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from imgui_bundle import imgui, implot

from sim.commands import (
    SPEED_RANGE,
    BackToNow,
    Retake,
    Scrub,
    SetIntegrator,
    SetPaused,
    SetVehicle,
)
from sim.platform.values import dataclass
from sim.scene import FLOWN_LANE, Scene
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from ui.window import theme
from ui.window.context import PanelContext

JUMP_S = 1.0
"""Of the keys and of the buttons beside the line."""
FLY_ON = Retake(paused=False)


def shown_s(snapshot: Snapshot) -> tuple[float, float, float]:
    """(begin, end, moment that is shown) of the line [s]."""
    look = snapshot.look_back
    if look is not None:
        return look.begin_s, look.end_s, look.time_s
    begin_s, end_s = snapshot.recorded_s
    return begin_s, end_s, end_s


def is_recorded(snapshot: Snapshot) -> bool:
    """Whether there is anything to look back at."""
    begin_s, end_s, _ = shown_s(snapshot)
    return end_s > begin_s


def in_past(snapshot: Snapshot) -> bool:
    """Whether an earlier moment of the present flight is shown, from which whatever is steered flies on."""
    return snapshot.look_back is not None and not snapshot.look_back.opened


def played_or_paused(snapshot: Snapshot) -> SetPaused | Retake:
    """Time stands still, or goes on: in the past of the present flight by flying on from there."""
    return FLY_ON if snapshot.paused and in_past(snapshot) else SetPaused(not snapshot.paused)


def jumped(snapshot: Snapshot, seconds: float) -> Scrub | BackToNow | None:
    """So far back or on along the line; on from its end is the present."""
    begin_s, end_s, at_s = shown_s(snapshot)
    look = snapshot.look_back
    if seconds > 0.0 and (look is None or at_s >= end_s):
        return BackToNow() if look is not None and not look.opened else None
    return Scrub(min(max(at_s + seconds, begin_s), end_s)) if is_recorded(snapshot) else None


def step_text(step_s: float) -> str:
    """As one writes it: 1/15 s where that is what it is, else milliseconds."""
    rate = 1.0 / step_s
    if step_s > 0.015 and abs(2.0 * rate - round(2.0 * rate)) < 1e-6:
        return f"1/{rate:g} s"
    return f"{step_s * 1e3:.4g} ms"


def who_text(lane: LaneSnapshot) -> str:
    """What tells a lane from others: what flies it where a controller does, else its method."""
    if lane.controller is None or lane.measured:
        return lane.integrator
    return lane.controller.kind.__name__ if lane.name == FLOWN_LANE else lane.name


def lane_text(lane: LaneSnapshot) -> str:
    """A lane in a legend: who it is, and its step."""
    return f"{who_text(lane)} {step_text(lane.step_s)}"


def real_time(snapshot: Snapshot) -> tuple[str, theme.Colour]:
    """Simulated seconds a second in words, and how worried to be about it."""
    if snapshot.paused:
        return "paused", theme.WARNING
    if math.isnan(snapshot.real_time_factor):
        return "", theme.MUTED
    colour = theme.MUTED if snapshot.real_time_factor > 0.95 else theme.WARNING
    achieved = snapshot.real_time_factor * snapshot.speed
    return f"real time \N{MULTIPLICATION SIGN} {achieved:.2f}", colour


def speed_label(speed: float) -> str:
    """'1/4x', '1x', '8x'."""
    if speed < 1.0:
        return f"1/{round(1.0 / speed)}\N{MULTIPLICATION SIGN}"
    return f"{speed:g}\N{MULTIPLICATION SIGN}"


def halved(speed: float) -> float:
    """The next lower speed, a power of two."""
    return max(speed / 2.0, SPEED_RANGE[0])


def doubled(speed: float) -> float:
    """The next higher speed, a power of two."""
    return min(speed * 2.0, SPEED_RANGE[1])


def swaps(snapshot: Snapshot) -> tuple[str, str]:
    """(method, vehicle) that the flown lane waits for; empty: none."""
    flown, method, vehicle = snapshot.lanes[0].name, "", ""
    for each in snapshot.waiting:
        match each.command:
            case SetIntegrator(name, lane) if lane in ("", flown):
                method = name
            case SetVehicle(name):
                vehicle = name
    return method, vehicle


def menu_text(present: str, coming: str) -> str:
    """Of a menu: what there is, and what takes its place once it is compiled."""
    return f"{present} \N{RIGHTWARDS ARROW} {coming} ..." if coming else present


def has_caption(scene: Scene, snapshot: Snapshot) -> bool:
    """Whether there is a caption."""
    return bool(scene.comparison.caption) and snapshot.scene == scene.name


LABEL_WIDTH = 84.0


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a menu or of a segmented choice."""

    name: str
    label: str
    doc: str = ""
    enabled: bool = True
    beside: str = ""
    """At the other end of its line in a menu."""
    group: str = ""
    """Heading over those of a menu that follow each other with the same one."""


def note(context: PanelContext, name: str) -> None:
    """Remember where the last widget was drawn."""
    if not imgui.is_item_visible():
        return  # scrolled out of its list
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    context.rects[name] = (low.x, low.y, high.x - low.x, high.y - low.y)


UNTOLD_S = 10.0
"""What has just been clicked is known; its tooltip would cover what comes of it."""
TOOLTIP_PX = 320.0
"""Logical, at which its lines end."""


def tooltip(text: str) -> None:
    """Of the last widget, wrapped; not of what has just been clicked."""
    known = _just_clicked()
    hovered = imgui.is_item_hovered(imgui.HoveredFlags_.for_tooltip.value)
    if text and hovered and not known and imgui.begin_tooltip():
        imgui.push_text_wrap_pos(TOOLTIP_PX * imgui.get_style().font_scale_main)
        imgui.text_unformatted(text)
        imgui.pop_text_wrap_pos()
        imgui.end_tooltip()


def _just_clicked() -> bool:
    """Whether the last widget has been clicked a moment ago."""
    storage, key, now_s = imgui.get_state_storage(), imgui.get_item_id(), imgui.get_time()
    if imgui.is_item_clicked():
        storage.set_float(key, now_s)
    return now_s - storage.get_float(key, -UNTOLD_S) < UNTOLD_S


def label(context: PanelContext, text: str, doc: str = "", *, width: float = LABEL_WIDTH) -> None:
    """The left column of a row; what follows fills the right one."""
    left = imgui.get_cursor_pos_x()
    imgui.align_text_to_frame_padding()
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), text)
    tooltip(doc)
    imgui.same_line(left + context.px(width))
    imgui.set_next_item_width(-1.0)


def heading(context: PanelContext, text: str) -> None:
    """Of a group of rows within a panel."""
    imgui.push_font(context.fonts.bold, theme.FONT_PX * 0.87)
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.ACCENT_BRIGHT))
    imgui.separator_text(text.upper())
    imgui.pop_style_color()
    imgui.pop_font()


def prose(text: str) -> None:
    """Quiet, wrapped text."""
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.MUTED))
    imgui.text_wrapped(text)
    imgui.pop_style_color()


def button(
    context: PanelContext,
    name: str,
    text: str,
    doc: str = "",
    *,
    width: float = 0.0,
    lit: bool = False,
    enabled: bool = True,
) -> bool:
    """A button; `lit` shows that what it stands for is on."""
    if lit:
        imgui.push_style_color(imgui.Col_.button, imgui.ImVec4(*theme.ACCENT))
        imgui.push_style_color(imgui.Col_.button_hovered, imgui.ImVec4(*theme.ACCENT_BRIGHT))
        imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.GROUND))
    imgui.begin_disabled(not enabled)
    pressed = imgui.button(f"{text}##{name}", (width, 0.0))
    imgui.end_disabled()
    if lit:
        imgui.pop_style_color(3)
    note(context, name)
    tooltip(doc)
    return pressed


def segmented(context: PanelContext, name: str, items: Iterable[Item], current: str) -> str | None:
    """Equal buttons over the width that is left, the current one lit; returns what was pressed."""
    items = tuple(items)
    gap = context.px(3.0)
    width = (imgui.get_content_region_avail().x - gap * (len(items) - 1)) / max(len(items), 1)
    pressed = None
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (context.px(2.0), imgui.get_style().frame_padding.y))
    for index, item in enumerate(items):
        if index:
            imgui.same_line(0.0, gap)
        where = f"{name}/{item.name}"
        lit = item.name == current
        if button(context, where, item.label, item.doc, width=width, lit=lit, enabled=item.enabled):
            pressed = item.name
    imgui.pop_style_var()
    return pressed


def _text_after(text: str) -> None:
    """At the right end of the last item."""
    if text:
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        at = (high.x - imgui.calc_text_size(text).x - imgui.get_style().item_inner_spacing.x, low.y)
        imgui.get_window_draw_list().add_text(at, imgui.get_color_u32(imgui.Col_.text_disabled), text)


def menu(
    context: PanelContext, name: str, items: Iterable[Item], current: str, shown: str | None = None
) -> str | None:
    """A drop-down with a tooltip for each entry; returns what was chosen."""
    chosen = None
    opened = imgui.begin_combo(
        f"##{name}", current if shown is None else shown, imgui.ComboFlags_.height_large
    )
    note(context, f"{name}/combo")
    if not opened:
        return None
    group = ""
    for item in items:
        if item.group != group:
            group = item.group
            imgui.separator_text(group)
        imgui.begin_disabled(not item.enabled)
        picked, _ = imgui.selectable(f"{item.label}##{item.name}", item.name == current)
        _text_after(item.beside)
        imgui.end_disabled()
        note(context, f"{name}/item/{item.name}")
        tooltip(item.doc)
        if picked and item.enabled:
            chosen = item.name
    imgui.end_combo()
    return chosen


@contextmanager
def panel_column(name: str, width: float, *, wide: bool) -> Iterator[None]:
    """Beside others where there is room, else below the one before."""
    if not wide:
        yield
        return
    imgui.begin_child(name, (width, 0.0))
    yield
    imgui.end_child()


def pressed_in_plot() -> float | None:
    """Within a plot that takes no input of its own: the abscissa where the mouse is held down in it."""
    corner, size, mouse = implot.get_plot_pos(), implot.get_plot_size(), imgui.get_mouse_pos()
    inside = corner.x <= mouse.x <= corner.x + size.x and corner.y <= mouse.y <= corner.y + size.y
    if inside and imgui.is_window_hovered() and imgui.is_mouse_down(imgui.MouseButton_.left):
        return float(implot.get_plot_mouse_pos().x)
    return None


def log_slider(
    context: PanelContext, name: str, value: float, span: tuple[float, float], text: str, doc: str
) -> float | None:
    """A logarithmic slider with a field to type in beside it; the new value where it was changed."""
    field = context.px(72.0)
    flags = (
        imgui.SliderFlags_.logarithmic
        | imgui.SliderFlags_.always_clamp
        | imgui.SliderFlags_.no_round_to_format
    )
    imgui.set_next_item_width(imgui.get_content_region_avail().x - field - context.px(4.0))
    slid, from_slider = imgui.slider_float(f"##{name}", value, *span, "", flags)
    note(context, name)
    tooltip(doc)
    imgui.same_line(0.0, context.px(4.0))
    imgui.set_next_item_width(field)
    typed, from_field = imgui.input_float(
        f"##{name}_field", value, 0.0, 0.0, text, imgui.InputTextFlags_.enter_returns_true
    )
    note(context, f"{name}_field")
    tooltip(doc)
    if slid:
        return float(f"{from_slider:.3g}")
    return significant(from_field) if typed else None


def checkbox(context: PanelContext, name: str, text: str, value: bool, doc: str = "") -> bool:
    """Returns whether it was clicked."""
    clicked, _ = imgui.checkbox(f"{text}##{name}", value)
    note(context, name)
    tooltip(doc)
    return clicked


def significant(value: float) -> float:
    """A number that went through a single-precision widget, without the digits that made up."""
    return float(f"{value:.6g}")


def right_edge() -> float:
    """Where a row ends, for `same_line`; to be asked at the start of a row."""
    return imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x


Box = tuple[float, float, float, float]
"""x, y, width, height; y down."""


def placed(wanted: Box, within: Box, taken: Sequence[Box], *, step: float) -> Box:
    """The box, moved into `within` and then up or down, as little as needed, until it is clear of those taken.

    Where there is no room it stays: rather on another one than outside.
    """
    x, y, width, height = wanted
    left, top, room, depth = within
    x = min(max(x, left), max(left + room - width, left))
    lowest = max(top + depth - height, top)
    y = min(max(y, top), lowest)
    steps = int(depth / step) + 1
    for k in range(2 * steps):
        # Upwards first, then downwards, ever farther.
        moved = y + (k + 1) // 2 * step * (1.0 if k % 2 == 0 else -1.0)
        box = (x, moved, width, height)
        if top <= moved <= lowest and not any(overlap(box, other) for other in taken):
            return box
    return x, y, width, height


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have more than an edge in common."""
    return all(one[k] < other[k] + other[k + 2] and other[k] < one[k] + one[k + 2] for k in (0, 1))


OVERLAY = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_docking
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.always_auto_resize
)
