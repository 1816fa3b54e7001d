"""Parts that plots share: the legend bar, the choice of channels, the playhead, and the values under the mouse."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, implot

from sim.commands import Scrub
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot, outcome
from ui.features.plots.channels import Channel, offered, shown_at_first
from ui.features.plots.curves import Curves, SaveCurves
from ui.features.plots.forms import ENDINGS, KINDS, PHASE, Form, SavePlot, beside_colour, figure_of
from ui.features.recordings import MARKS, WHOLE_S, FlightMark, PlotWindow, within
from ui.window import theme
from ui.window.context import ChangeView, PanelContext, Request
from ui.window.theme import line_colour
from ui.window.widgets import OVERLAY, button, checkbox, is_recorded, lane_text, note, shown_s


@dataclass(slots=True)
class PlotChoice:
    """The channels that the user has chosen to see."""

    by_vehicle: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Other vehicles have those of their configuration."""
    forms: dict[str, Form] = field(default_factory=dict)
    """By channel, where it is not drawn alone and over time."""
    dragged: str = ""
    """Channel that the mouse carries from a list."""

    def form(self, key: str) -> Form:
        """How a channel is drawn."""
        return self.forms.get(key, Form())


Choose = Callable[[LaneSnapshot, PanelContext], None]

SPANS_S = (5.0, 20.0, 60.0, WHOLE_S)


def draw_plot_bar(snapshot: Snapshot, context: PanelContext, choose: Choose | None = None) -> list[Request]:
    """Over the upper right corner of the window that is being built; `choose` adds what chooses the plots."""
    requests: list[Request] = []
    position, width = imgui.get_window_pos(), imgui.get_window_width()
    left, edge = position.x + _tabs_px(context), position.x + width
    imgui.set_next_window_pos((edge, position.y), imgui.Cond_.always, (1.0, 0.0))
    imgui.set_next_window_bg_alpha(0.0)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (context.px(8.0), context.px(2.0)))
    imgui.push_style_var(imgui.StyleVar_.window_border_size, 0.0)
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (context.px(6.0), context.px(1.0)))
    imgui.begin("##plot_bar", None, OVERLAY)
    if not imgui.is_popup_open("", imgui.PopupFlags_.any_popup.value):  # what opens stays before it
        imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
    imgui.push_font(None, theme.FONT_PX * 0.86)
    buttons_px = context.px(46.0) * (len(SPANS_S) + (3 if choose else 2))
    for lane in fitting(
        snapshot.lanes, [_width(lane, context) for lane in snapshot.lanes], edge - left - buttons_px
    ):
        imgui.text_colored(imgui.ImVec4(*line_colour(lane)), icons.ICON_FA_CIRCLE)
        imgui.same_line(0.0, context.px(4.0))
        imgui.text_unformatted(lane_text(lane))
        imgui.same_line(0.0, context.px(12.0))
    for span_s in SPANS_S:
        lit = span_s == context.view.plot_s
        text = "all" if span_s == WHOLE_S else f"{span_s:g} s"
        if button(context, f"plots/span/{span_s:g}", text, f"How far back the plots look.\n{HELP}", lit=lit):
            context.of(PlotWindow).follow()
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


def _tabs_px(context: PanelContext) -> float:
    """Width of the tabs that stand beside the window that is being built."""
    node = imgui.internal.get_current_window().dock_node
    tabs = 0.0 if node is None or node.tab_bar is None else float(node.tab_bar.width_all_tabs)
    return tabs + context.px(12.0)


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
    return imgui.calc_text_size(f"{icons.ICON_FA_CIRCLE}{lane_text(lane)}").x + context.px(16.0)


MOST = 10
"""Plots at once."""
_POPUP = "##choose plots"


def chosen(lane: LaneSnapshot, context: PanelContext) -> tuple[str, ...]:
    """Keys of the channels that are plotted."""
    own = context.of(PlotChoice).by_vehicle.get(lane.vehicle)
    return shown_at_first(lane) if own is None else own


def draw_plot_choice(lane: LaneSnapshot, context: PanelContext) -> None:
    """A button that opens the list of all channels."""
    plotted = context.of(PlotChoice)
    if button(context, "plots/choose", icons.ICON_FA_LIST_CHECK, "Choose what is plotted."):
        imgui.open_popup(_POPUP)
    if not imgui.begin_popup(_POPUP):
        return
    shown = chosen(lane, context)
    for channel in offered(lane).values():
        ticked = channel.key in shown
        imgui.begin_disabled(not ticked and len(shown) >= MOST)
        unit = f"  [{channel.unit}]" if channel.unit else ""
        clicked = checkbox(
            context, f"plots/choose/{channel.key}", f"{channel.title}{unit}", ticked, channel.doc
        )
        carry(channel.key, channel.title, context)
        imgui.end_disabled()
        if clicked:
            others = tuple(key for key in shown if key != channel.key)
            plotted.by_vehicle[lane.vehicle] = others if ticked else (*shown, channel.key)
    if button(context, "plots/choose/as usual", "As usual", "What suits this vehicle."):
        plotted.by_vehicle.pop(lane.vehicle, None)
    imgui.end_popup()


_CARRIED = "channel"


def carry(key: str, title: str, context: PanelContext) -> None:
    """The widget that was drawn last can be dragged onto a plot, which then draws this channel, too."""
    if imgui.begin_drag_drop_source(imgui.DragDropFlags_.source_allow_null_id.value):
        context.of(PlotChoice).dragged = key
        imgui.set_drag_drop_payload_py_id(_CARRIED, 0)
        imgui.text_unformatted(f"{icons.ICON_FA_CHART_LINE}  {title}")
        imgui.end_drag_drop_source()


def take_up(key: str, context: PanelContext) -> None:
    """A channel that is dropped onto the group that was drawn last, the plot of this channel."""
    if not imgui.begin_drag_drop_target():
        return
    if imgui.accept_drag_drop_payload_py_id(_CARRIED) is not None:
        choice = context.of(PlotChoice)
        choice.forms[key] = choice.form(key).with_channel(choice.dragged, key)
    imgui.end_drag_drop_target()


_MENU_PX = 300.0
"""How tall and wide what a title opens may become."""


def draw_plot_menu(
    plot: Channel, known: Mapping[str, Channel], lanes: list[LaneSnapshot], context: PanelContext
) -> list[Request]:
    """What a click on a plot's title opens: how it is drawn, what is in it besides, and saving it."""
    x, y, _, _ = context.rects.get(f"plots/{plot.key}/title", (0.0, 0.0, 0.0, 0.0))
    if y > context.px(_MENU_PX):  # above its plot, which stays to be seen
        edge = imgui.get_main_viewport().work_size.x - context.px(_MENU_PX)
        imgui.set_next_window_pos((min(x, max(edge, 0.0)), y), imgui.Cond_.always, (0.0, 1.0))
    if not imgui.begin_popup(f"##menu{plot.key}"):
        return []
    choice, requests = context.of(PlotChoice), list[Request]()
    form = choice.form(plot.key)
    imgui.push_font(None, theme.FONT_PX)
    for kind, title in KINDS.items():
        if button(context, f"plots/menu/{kind}", title, lit=kind == form.kind):
            form = replace(form, kind=kind, beside=form.beside[:1] if kind == PHASE else form.beside)
            if kind == PHASE and not form.beside:
                form = replace(form, beside=(next(key for key in known if key != plot.key),))
        imgui.same_line()
    imgui.new_line()
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), "To the right" if form.kind == PHASE else "Drawn besides")
    for key in (each for each in form.beside if each in known):
        if button(
            context, f"plots/menu/drop/{key}", f"{icons.ICON_FA_XMARK}  {known[key].title}", "Take out"
        ):
            form = replace(form, beside=tuple(each for each in form.beside if each != key))
    imgui.set_next_item_width(context.px(240.0))
    opened = imgui.begin_combo("##add", "Choose, or drag a name here")
    note(context, "plots/menu/add")
    if opened:
        for key, channel in known.items():
            if imgui.selectable(f"{channel.title}##{key}", key in form.beside)[0]:
                form = form.with_channel(key, plot.key)
            note(context, f"plots/menu/add/{key}")
        imgui.end_combo()
    if form.kind == PHASE and not form.beside:
        form = Form()
    if form != choice.form(plot.key):
        choice.forms[plot.key] = form
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), "Save")
    for ending in ENDINGS:
        imgui.same_line()
        if button(context, f"plots/menu/save/{ending}", ending.upper(), "This plot, as it is shown"):
            figure = figure_of(plot, form, known, lanes, context.of(Curves), span(lanes, context))
            requests.append(SavePlot(figure, ending))
            imgui.close_current_popup()
    imgui.pop_font()
    imgui.end_popup()
    return requests


HELP = "Drag: look at a moment. Wheel: zoom. Right button: move along. Double click: follow the flight."
_LEFT, _RIGHT = imgui.MouseButton_.left.value, imgui.MouseButton_.right.value
_NEAR_PX = 5.0


def span(lanes: list[LaneSnapshot], context: PanelContext) -> tuple[float, float]:
    """Simulated time [s] that the plots show."""
    curves = context.of(Curves)
    known = [curves.histories[lane.name] for lane in lanes if len(curves.histories[lane.name])]
    latest_s = max((history.latest_s for history in known), default=0.0)
    begin_s = min((history.begin_s for history in known), default=0.0)
    looks_s = context.view.plot_s
    latest_s = latest_s if looks_s == WHOLE_S else min(latest_s, curves.until_s)
    return context.of(PlotWindow).span(begin_s, latest_s, looks_s)


def draw_plot_playhead(
    name: str, snapshot: Snapshot, shown: tuple[float, float], context: PanelContext
) -> list[Request]:
    """Between begin and end of a plot; `shown`: its span of time."""
    _lines(snapshot, shown, context)
    corner, size, mouse = implot.get_plot_pos(), implot.get_plot_size(), imgui.get_mouse_pos()
    context.rects[f"plots/{name}/area"] = (corner.x, corner.y, size.x, size.y)
    inside = corner.x <= mouse.x <= corner.x + size.x and corner.y <= mouse.y <= corner.y + size.y
    hovered = inside and imgui.is_window_hovered()
    window, requests = context.of(PlotWindow), list[Request]()
    at_s = shown[0] + (mouse.x - corner.x) / max(size.x, 1.0) * (shown[1] - shown[0])
    latest_s = shown_s(snapshot)[1]
    if hovered:
        moment_s = min(at_s, _latest_s(snapshot.lanes, context))
        window.hovered = moment_s, imgui.get_frame_count()
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


def _latest_s(lanes: Sequence[LaneSnapshot], context: PanelContext) -> float:
    """The last moment that plots know: there is nothing to be told of what is yet to come."""
    histories = context.of(Curves).histories
    known = (histories[lane.name].latest_s for lane in lanes if lane.name in histories)
    return max(known, default=math.inf)


def hovered_moment(context: PanelContext) -> LaneSnapshot | None:
    """The flown lane at the moment that is looked at in a plot, as a ghost; None where none is."""
    time_s = context.of(PlotWindow).hovered_s(imgui.get_frame_count())
    return None if time_s is None else context.of(Curves).moments.at(time_s)


def mark_button(snapshot: Snapshot, context: PanelContext) -> None:
    """Marks the moment that is shown."""
    doc = f"Mark the moment that is shown, to find it again.\n{HELP}"
    if button(context, "plots/mark", icons.ICON_FA_FLAG, doc):
        window = context.of(PlotWindow)
        count = sum(mark.kind == "user" for mark in window.marks)
        window.mark(snapshot.clock_s, f"mark {count + 1}")


def _lines(snapshot: Snapshot, shown: tuple[float, float], context: PanelContext) -> None:
    for number, mark in enumerate(within(context.of(PlotWindow).marks, *shown)):
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
    for mark in context.of(PlotWindow).marks:
        if abs(mark.time_s - at_s) < near_s:
            imgui.set_tooltip(playhead_text(mark))


def playhead_text(mark: FlightMark) -> str:
    return f"{mark.time_s:.2f} s: {mark.text}"


def draw_plot_values(
    lanes: list[LaneSnapshot], channel: Channel, context: PanelContext, beside: Sequence[Channel] = ()
) -> None:
    """Within a plot over simulated time: all lanes' values under the mouse; while it is in another plot, the flown
    lane's at that moment. beside: channels that are drawn into it, too."""
    corner, size, mouse = implot.get_plot_pos(), implot.get_plot_size(), imgui.get_mouse_pos()
    inside = corner.x <= mouse.x <= corner.x + size.x and corner.y <= mouse.y <= corner.y + size.y
    if not (inside and imgui.is_window_hovered()):
        linked_s = context.of(PlotWindow).hovered_s(imgui.get_frame_count())
        if linked_s is not None and lanes:
            _draw_linked(lanes[0], channel, linked_s, context)
        return
    time_s = min(float(implot.pixels_to_plot(mouse).x), _latest_s(lanes, context))
    line = implot.Spec()
    line.line_color, line.line_weight = imgui.ImVec4(*theme.MUTED), context.px(1.0)
    implot.plot_inf_lines("##under the mouse", np.array([time_s]), line)
    if not imgui.begin_tooltip():
        return
    imgui.text_unformatted(f"t = {time_s:.2f} s")
    for lane in lanes:
        imgui.text_colored(imgui.ImVec4(*line_colour(lane)), icons.ICON_FA_CIRCLE)
        imgui.same_line()
        imgui.text_unformatted(f"{lane_text(lane)}: {value_text(lane, channel, time_s, context)}")
    for k, other in enumerate(beside if lanes else ()):
        imgui.text_colored(imgui.ImVec4(*beside_colour(k)), icons.ICON_FA_CIRCLE)
        imgui.same_line()
        imgui.text_unformatted(f"{other.title}: {value_text(lanes[0], other, time_s, context)}")
    imgui.end_tooltip()


def _draw_linked(lane: LaneSnapshot, channel: Channel, time_s: float, context: PanelContext) -> None:
    """The moment that is looked at in another plot, and the flown lane's value."""
    _line("##elsewhere", time_s, theme.MUTED, context.px(1.0))
    limits = implot.get_plot_limits()
    if not limits.x.min <= time_s <= limits.x.max:
        return
    text = value_text(lane, channel, time_s, context)
    offset = (context.px(6.0), context.px(8.0))
    implot.annotation(time_s, limits.y.max, imgui.ImVec4(*line_colour(lane)), offset, True, text)
    corner = implot.get_plot_pos()
    context.rects[f"plots/{channel.key}/linked"] = (corner.x, corner.y, 1.0, 1.0)


def value_text(lane: LaneSnapshot, channel: Channel, time_s: float, context: PanelContext) -> str:
    """A lane's value at a time, or what had become of it by then."""
    if lane.status is not LaneStatus.RUNNING and time_s > lane.time_current_s:
        return outcome(lane)
    value = channel.times * context.of(Curves).histories[lane.name].at(channel.key, time_s)
    return f"{value:.4g} {channel.unit}".rstrip() if np.isfinite(value) else "nothing known"
