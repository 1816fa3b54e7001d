"""Within a plot over time: the moment that is shown, marks, and the mouse that moves, zooms and drags them."""

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, implot

from sim.commands import Scrub
from sim.snapshot import LaneSnapshot, Snapshot
from ui import theme
from ui.panels.context import PanelContext
from ui.panels.widgets import button
from ui.plot_window import Mark, within
from ui.requests import ChangeView, Request
from ui.timeline import is_recorded, shown_s

HELP = "Drag: look at a moment. Wheel: zoom. Right button: move along. Double click: follow the flight."
MARKS = {"stop": theme.DANGER, "goal": theme.GOOD, "gate": theme.ACCENT_BRIGHT, "user": theme.INK}
_LEFT, _RIGHT = imgui.MouseButton_.left.value, imgui.MouseButton_.right.value
_NEAR_PX = 5.0


def span(lanes: list[LaneSnapshot], context: PanelContext) -> tuple[float, float]:
    """Simulated time [s] that the plots show."""
    known = [context.histories[lane.name] for lane in lanes if len(context.histories[lane.name])]
    latest_s = max((history.latest_s for history in known), default=0.0)
    begin_s = min((history.begin_s for history in known), default=0.0)
    return context.plot_window.span(begin_s, latest_s, context.view.plot_s)


def draw(name: str, snapshot: Snapshot, shown: tuple[float, float], context: PanelContext) -> list[Request]:
    """Between begin and end of a plot; `shown`: its span of time."""
    _lines(snapshot, shown, context)
    corner, size, mouse = implot.get_plot_pos(), implot.get_plot_size(), imgui.get_mouse_pos()
    context.rects[f"plots/{name}/area"] = (corner.x, corner.y, size.x, size.y)
    inside = corner.x <= mouse.x <= corner.x + size.x and corner.y <= mouse.y <= corner.y + size.y
    hovered = inside and imgui.is_window_hovered()
    window, requests = context.plot_window, list[Request]()
    at_s = shown[0] + (mouse.x - corner.x) / max(size.x, 1.0) * (shown[1] - shown[0])
    latest_s = shown_s(snapshot)[1]
    if hovered:
        _tell(at_s, shown, size.x, context)
        if imgui.is_mouse_double_clicked(_LEFT):
            window.follow()
        elif imgui.is_mouse_clicked(_LEFT):
            window.held = name
        wheel = imgui.get_io().mouse_wheel
        if wheel:
            requests.append(ChangeView(window.zoomed(context.view, shown, at_s, wheel, latest_s)))
        if imgui.is_mouse_dragging(_RIGHT):
            by_s = -imgui.get_io().mouse_delta.x / max(size.x, 1.0) * (shown[1] - shown[0])
            window.panned(shown, by_s, latest_s)
    if window.held == name:
        if not imgui.is_mouse_down(_LEFT):
            window.held = ""
        elif is_recorded(snapshot):
            begin_s, end_s, now_s = shown_s(snapshot)
            wanted_s = min(max(at_s, begin_s), end_s)
            if wanted_s != now_s or snapshot.look_back is None:
                requests.append(Scrub(wanted_s))
    return requests


def mark_button(snapshot: Snapshot, context: PanelContext) -> None:
    """Marks the moment that is shown."""
    doc = f"Mark the moment that is shown, to find it again.\n{HELP}"
    if button(context, "plots/mark", icons.ICON_FA_FLAG, doc):
        window = context.plot_window
        count = sum(mark.kind == "user" for mark in window.marks)
        window.mark(snapshot.clock_s, f"mark {count + 1}")


def _lines(snapshot: Snapshot, shown: tuple[float, float], context: PanelContext) -> None:
    for number, mark in enumerate(within(context.plot_window.marks, *shown)):
        _line(f"##mark{number}", mark.time_s, MARKS[mark.kind], context.px(1.2))
    if snapshot.look_back is not None:
        _line("##playhead", snapshot.look_back.time_s, theme.ACCENT, context.px(2.0))


def _line(name: str, time_s: float, colour: theme.Colour, weight: float) -> None:
    spec = implot.Spec()
    spec.line_color, spec.line_weight = imgui.ImVec4(*colour), weight
    implot.plot_inf_lines(name, np.array([time_s]), spec)


def _tell(at_s: float, shown: tuple[float, float], width_px: float, context: PanelContext) -> None:
    """What is marked under the mouse."""
    near_s = context.px(_NEAR_PX) / max(width_px, 1.0) * (shown[1] - shown[0])
    for mark in context.plot_window.marks:
        if abs(mark.time_s - at_s) < near_s:
            imgui.set_tooltip(told(mark))


def told(mark: Mark) -> str:
    return f"{mark.time_s:.2f} s: {mark.text}"
