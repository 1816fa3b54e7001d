"""What belongs to all plots, in the row of their tabs: which colour is which lane, and how far back they look."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.snapshot import LaneSnapshot, Snapshot
from ui import theme
from ui.colours import line_colour
from ui.panels.context import PanelContext
from ui.panels.labels import step_text
from ui.panels.notices import OVERLAY
from ui.panels.plot_playhead import HELP, mark_button
from ui.panels.widgets import button
from ui.plot_window import WHOLE_S
from ui.requests import ChangeView, Request, SaveCurves

Choose = Callable[[LaneSnapshot, PanelContext], None]

SPANS_S = (5.0, 20.0, 60.0, WHOLE_S)
TABS_PX = 150.0
"""Left to the tabs."""


def draw(snapshot: Snapshot, context: PanelContext, choose: Choose | None = None) -> list[Request]:
    """Over the upper right corner of the window that is being built; `choose` adds what chooses the plots."""
    requests: list[Request] = []
    position, width = imgui.get_window_pos(), imgui.get_window_width()
    left, edge = position.x + context.px(TABS_PX), position.x + width
    imgui.set_next_window_pos((edge, position.y), imgui.Cond_.always, (1.0, 0.0))
    imgui.set_next_window_bg_alpha(0.0)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (context.px(8.0), context.px(2.0)))
    imgui.push_style_var(imgui.StyleVar_.window_border_size, 0.0)
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (context.px(6.0), context.px(1.0)))
    imgui.begin("##plot_bar", None, OVERLAY)
    imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
    imgui.push_font(None, theme.FONT_PX * 0.86)
    buttons_px = context.px(46.0) * (len(SPANS_S) + (3 if choose else 2))
    for lane in fitting(
        snapshot.lanes, [_width(lane, context) for lane in snapshot.lanes], edge - left - buttons_px
    ):
        imgui.text_colored(imgui.ImVec4(*line_colour(lane)), icons.ICON_FA_CIRCLE)
        imgui.same_line(0.0, context.px(4.0))
        imgui.text_unformatted(_name(lane))
        imgui.same_line(0.0, context.px(12.0))
    for span_s in SPANS_S:
        lit = span_s == context.view.plot_s
        text = "all" if span_s == WHOLE_S else f"{span_s:g} s"
        if button(context, f"plots/span/{span_s:g}", text, f"How far back the plots look.\n{HELP}", lit=lit):
            context.plot_window.follow()
            requests.append(ChangeView(replace(context.view, plot_s=span_s)))
        imgui.same_line(0.0, context.px(3.0))
    doc = "Save all that the plots remember as a table (CSV)."
    if button(context, "plots/save", icons.ICON_FA_TABLE, doc):
        requests.append(SaveCurves())
    imgui.same_line(0.0, context.px(3.0))
    mark_button(snapshot, context)
    if choose is not None:
        imgui.same_line(0.0, context.px(3.0))
        choose(snapshot.lanes[0], context)
    imgui.pop_font()
    imgui.end()
    imgui.pop_style_var(3)
    return requests


def fitting(lanes: Sequence[LaneSnapshot], widths: Sequence[float], room: float) -> list[LaneSnapshot]:
    """As many of them, from the first on, as there is room for."""
    kept, left = [], room
    for lane, width in zip(lanes, widths, strict=True):
        left -= width
        if left < 0.0:
            break
        kept.append(lane)
    return kept


def _width(lane: LaneSnapshot, context: PanelContext) -> float:
    return imgui.calc_text_size(f"{icons.ICON_FA_CIRCLE}{_name(lane)}").x + context.px(16.0)


def _name(lane: LaneSnapshot) -> str:
    return f"{lane.integrator} {step_text(lane.step_s)}"
