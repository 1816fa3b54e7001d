"""What the integrators do to the invariants, what a step costs, and whatever a vehicle tells: small plots over the last
seconds, as its config has them or as the user chose."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from imgui_bundle import imgui, implot

from sim.commands import KeepAccount
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot, outcome
from ui.features.plots.channels import ACCOUNT, Channel, offered
from ui.features.plots.curves import Curves, Trace
from ui.features.plots.forms import (
    TIME,
    beside_colour,
    decades_of,
    figure_of,
    positive_range,
    round_frequencies,
)
from ui.features.plots.parts import (
    PlotChoice,
    carry,
    chosen,
    draw_plot_bar,
    draw_plot_choice,
    draw_plot_menu,
    draw_plot_playhead,
    draw_plot_values,
    span,
    take_up,
)
from ui.features.recordings import PlotWindow
from ui.window import theme
from ui.window.context import PanelContext, Request
from ui.window.theme import line_colour
from ui.window.widgets import note, tooltip

NARROWEST_PX = 116.0
POINTS = 300
PLOT_FLAGS = implot.Flags_.canvas_only | implot.Flags_.no_inputs
AXIS_FLAGS = implot.AxisFlags_.no_label | implot.AxisFlags_.no_tick_marks | implot.AxisFlags_.no_highlight


def draw_plots(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """As many plots side by side as fit."""
    flown, requests = snapshot.lanes[0], list[Request]()
    known = offered(flown)
    shown = [known[key] for key in chosen(flown, context) if key in known]
    lanes = [lane for lane in snapshot.lanes if lane.name in context.of(Curves).histories]
    for index, size_px in _side_by_side(len(shown), NARROWEST_PX, 14.0, context):
        requests += _plot(snapshot, context, lanes, shown[index], known, size_px)
        imgui.end_group()
        take_up(shown[index].key, context)
        note(context, f"plots/{shown[index].key}")
    return requests + _account(snapshot, context) + draw_plot_bar(snapshot, context, draw_plot_choice)


def _side_by_side(
    count: int, narrowest_px: float, gap_px: float, context: PanelContext
) -> Iterator[tuple[int, tuple[float, float]]]:
    """Index and size of so many plots, as many in a row as fit, each in a group that whoever draws it ends."""
    room, gap = imgui.get_content_region_avail(), context.px(gap_px)
    columns = max(min(int(room.x / context.px(narrowest_px)), count), 1)
    width, rows = (room.x - gap * (columns - 1)) / columns, max(-(-count // columns), 1)
    height = max(room.y / rows - (context.px(6.0) if rows > 1 else 0.0), context.px(90.0))
    for index in range(count):
        if index % columns:
            imgui.same_line(0.0, gap)
        imgui.begin_group()
        yield index, (width, height)


def _account(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Momentum is summed up only while it is plotted."""
    keys = chosen(snapshot.lanes[0], context)
    drawn = {*keys, *(key for one in keys for key in context.of(PlotChoice).form(one).beside)}
    wanted = any(channel.key in drawn for channel in ACCOUNT)
    idle = wanted == snapshot.accounts or snapshot.look_back is not None
    return [] if idle else [KeepAccount(wanted)]


def _plot(
    snapshot: Snapshot,
    context: PanelContext,
    lanes: list[LaneSnapshot],
    plot: Channel,
    known: Mapping[str, Channel],
    size: tuple[float, float],
) -> list[Request]:
    curves, form = context.of(Curves), context.of(PlotChoice).form(plot.key)
    start_s, end_s = span(lanes, context)
    if form.kind != TIME:
        return _drawn_otherwise(context, lanes, plot, known, size)
    before = [history.trace(plot.key, start_s, end_s, POINTS) for history in curves.flights]
    kept = [curves.histories[lane.name].trace(plot.key, start_s, end_s, POINTS) for lane in lanes]
    traces = [Trace(trace.time_s, plot.times * trace.values) for trace in kept]
    low, high = limits(traces, plot.floor)
    factor, prefix = prefixed(max(abs(low), abs(high)))
    imgui.push_font(None, theme.FONT_PX * 0.9)
    beside = [known[key] for key in form.beside if key in known]
    more = f" + {len(beside)}" if beside else ""
    requests = _title(context, plot, traces, size[0], lanes, known, more)
    height = size[1] - imgui.get_text_line_height_with_spacing()
    imgui.pop_font()
    imgui.push_font(None, theme.FONT_PX * 0.78)
    if implot.begin_plot(f"##{plot.key}", (size[0], height), PLOT_FLAGS):
        implot.setup_axes("", "", AXIS_FLAGS, AXIS_FLAGS)
        time_axis(start_s, end_s, size[0], context)
        implot.setup_axis_format(implot.ImAxis_.y1, f"%g{prefix}")
        implot.setup_axis_limits(implot.ImAxis_.x1, start_s, end_s, implot.Cond_.always)
        implot.setup_axis_limits(implot.ImAxis_.y1, low / factor, high / factor, implot.Cond_.always)
        lines = [curves.histories[lanes[0].name].trace(c.key, start_s, end_s, POINTS) for c in beside]
        for axis, channel, trace in zip(_OTHERS, beside, lines, strict=False):
            # Each at its own scale: what is compared is when things happen.
            implot.setup_axis(axis, "", AXIS_FLAGS | implot.AxisFlags_.no_decorations)
            bounds = limits([Trace(trace.time_s, channel.times * trace.values)], channel.floor)
            implot.setup_axis_limits(axis, *bounds, implot.Cond_.always)
        for number, trace in enumerate(before):
            if len(trace.values):
                implot.plot_line(
                    f"##before{number}", trace.time_s, plot.times * trace.values / factor, faint_spec(context)
                )
        for lane, trace in zip(lanes, traces, strict=True):
            if len(trace.values):
                implot.plot_line(lane.name, trace.time_s, trace.values / factor, line_spec(lane, context))
        for k, (axis, channel, trace) in enumerate(zip(_OTHERS, beside, lines, strict=False)):
            implot.set_axis(axis)
            if len(trace.values):
                spec = faint_spec(context)
                spec.line_color = imgui.ImVec4(*beside_colour(k))
                implot.plot_line(f"##{channel.key}", trace.time_s, channel.times * trace.values, spec)
        implot.set_axis(implot.ImAxis_.y1)
        draw_plot_values(lanes, plot, context, beside)
        requests += draw_plot_playhead(plot.key, snapshot, (start_s, end_s), context)
        implot.end_plot()
    imgui.pop_font()
    return requests


_NUMBER_PX = 62.0
"""Room of a number below a plot."""
_OTHERS = (implot.ImAxis_.y2, implot.ImAxis_.y3)
"""Axes of the channels that were dropped onto a plot."""


def _drawn_otherwise(
    context: PanelContext,
    lanes: list[LaneSnapshot],
    plot: Channel,
    known: Mapping[str, Channel],
    size: tuple[float, float],
) -> list[Request]:
    """A spectrum, or one channel against another, of the time that the plots show."""
    form, curves = context.of(PlotChoice).form(plot.key), context.of(Curves)
    window = span(lanes, context)
    figure = figure_of(plot, form, known, lanes, curves, window)
    imgui.push_font(None, theme.FONT_PX * 0.9)
    requests = _title(context, plot, [], size[0], lanes, known, f"  over {figure.x_label}")
    height = size[1] - imgui.get_text_line_height_with_spacing()
    imgui.pop_font()
    imgui.push_font(None, theme.FONT_PX * 0.78)
    if implot.begin_plot(f"##{plot.key}{form.kind}", (size[0], height), PLOT_FLAGS):
        implot.setup_axes("", "", AXIS_FLAGS, AXIS_FLAGS)
        for axis, name, floor in ((implot.ImAxis_.x1, "x", 1e-9), (implot.ImAxis_.y1, "y", plot.floor)):
            parts = [getattr(curve, name) for curve in figure.curves]
            if figure.log:
                implot.setup_axis_scale(axis, implot.Scale_.log10.value)
            bounds = (
                decades_of(parts, floor)
                if figure.log
                else limits([Trace(part, part) for part in parts], floor)
            )
            if name == "x":
                most = max(int(size[0] / context.px(_NUMBER_PX)), 1)
                bounds = positive_range(parts) if figure.log else bounds
                labels = round_frequencies(*bounds, most) if figure.log else round_moments(*bounds, most)
                implot.setup_axis_ticks(axis, labels, [f"{value:.7g}" for value in labels])
            implot.setup_axis_limits(axis, *bounds, implot.Cond_.always)
        for number, curve in enumerate(figure.curves):
            if not len(curve.x):
                continue
            spec = faint_spec(context)
            spec.line_color = imgui.ImVec4(*curve.colour, 1.0)
            implot.plot_line(f"##{number}", curve.x, curve.y, spec)
            if not figure.log:
                _dot(context, lanes, number, curve.x, curve.y, window)
        corner, extent = implot.get_plot_pos(), implot.get_plot_size()
        context.rects[f"plots/{plot.key}/area"] = (corner.x, corner.y, extent.x, extent.y)
        implot.end_plot()
    imgui.pop_font()
    return requests


def _dot(
    context: PanelContext,
    lanes: list[LaneSnapshot],
    number: int,
    x: np.ndarray,
    y: np.ndarray,
    window: tuple[float, float],
) -> None:
    """Where a lane is on its curve now, or at the moment under the mouse in another plot."""
    hovered_s = context.of(PlotWindow).hovered_s(imgui.get_frame_count())
    at = len(x) - 1
    if hovered_s is not None:
        time_s, _ = context.of(Curves).histories[lanes[number].name].kept(())
        time_s = time_s[(time_s >= window[0]) & (time_s <= window[1])]
        at = min(int(np.searchsorted(time_s, hovered_s)), at)
    spec = implot.Spec()
    spec.marker, spec.marker_size = implot.Marker_.circle.value, context.px(3.5)
    spec.marker_fill_color = spec.marker_line_color = imgui.ImVec4(*line_colour(lanes[number]))
    implot.plot_scatter(f"##now{number}", x[at : at + 1].copy(), y[at : at + 1].copy(), spec)


def _title(
    context: PanelContext,
    plot: Channel,
    traces: list[Trace],
    width: float,
    lanes: list[LaneSnapshot],
    known: Mapping[str, Channel],
    more: str,
) -> list[Request]:
    """Name and latest value; a click opens what can be done with the plot, a drag carries it into another."""
    left, top = imgui.get_cursor_pos_x(), imgui.get_cursor_pos_y()
    name = f"plots/{plot.key}/title"
    if imgui.invisible_button(f"##{name}", (width, imgui.get_text_line_height())):
        imgui.open_popup(f"##menu{plot.key}")
    note(context, name)
    tooltip(
        f"{plot.title}. {plot.doc}\nClick: spectrum, phase plot, saving. Drag onto another plot: both in one."
    )
    lit = imgui.is_item_hovered()
    carry(plot.key, plot.title, context)
    requests = draw_plot_menu(plot, known, lanes, context)
    imgui.set_cursor_pos((left, top))
    told = bool(traces) and len(traces[0].values) > 0
    units = (plot.unit, "") if told else ()
    values = [engineering(traces[0].values[-1], unit, plot.floor) for unit in units]
    text = leaving_room(plot.title + more, values, width - context.px(6.0))
    room = width - imgui.calc_text_size(text).x - context.px(6.0)
    colour = theme.ACCENT_BRIGHT if lit else theme.MUTED
    imgui.text_colored(imgui.ImVec4(*colour), fitting(plot.title + more, room))
    if text:
        imgui.same_line(0.0, 0.0)
        imgui.set_cursor_pos_x(left + width - imgui.calc_text_size(text).x)
        imgui.text_unformatted(text)
    return requests


def leaving_room(title: str, values: Sequence[str], width: float) -> str:
    """The first of some ways to say a value, from long to short, beside which all of a title has room; the last where
    none has that; nothing of none."""
    room = width - imgui.calc_text_size(title).x
    return next(
        (value for value in values if imgui.calc_text_size(value).x <= room), values[-1] if values else ""
    )


def fitting(text: str, room: float) -> str:
    """A text, cut short where it is wider than `room` pixels."""
    if imgui.calc_text_size(text).x <= room:
        return text
    kept = len(text)
    while kept and imgui.calc_text_size(f"{text[:kept].rstrip()}\N{HORIZONTAL ELLIPSIS}").x > room:
        kept -= 1
    return f"{text[:kept].rstrip()}\N{HORIZONTAL ELLIPSIS}" if kept else ""


def time_axis(start_s: float, end_s: float, width_px: float, context: PanelContext) -> None:
    """Within a plot: as many moments as have room for their labels."""
    moments = round_moments(start_s, end_s, intervals=int(width_px / context.px(45.0)))
    implot.setup_axis_ticks(implot.ImAxis_.x1, moments, [f"{moment:g} s" for moment in moments])


def round_moments(start_s: float, end_s: float, intervals: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within the span, which they divide into so many parts at most."""
    rough = (end_s - start_s) / max(intervals, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(part * power for part in (1.0, 2.0, 5.0, 10.0) if part * power >= rough * (1.0 - 1e-9))
    first, last = math.ceil(start_s / step - 1e-9), math.floor(end_s / step + 1e-9)
    digits = 9 - math.floor(math.log10(step))
    return [round(k * step, digits) for k in range(first, last + 1)]


def line_spec(lane: LaneSnapshot, context: PanelContext) -> implot.Spec:
    """A line in the lane's colour."""
    spec = implot.Spec()
    spec.line_color = imgui.ImVec4(*line_colour(lane))
    spec.line_weight = context.px(1.6)
    return spec


def faint_spec(context: PanelContext) -> implot.Spec:
    """A line of an earlier flight."""
    spec = implot.Spec()
    spec.line_color = imgui.ImVec4(*theme.MUTED)
    spec.line_weight = context.px(1.0)
    return spec


def limits(traces: list[Trace], floor: float) -> tuple[float, float]:
    """A vertical range that shows every finite value with some air, no smaller than `floor`."""
    values = np.concatenate([trace.values for trace in traces]) if traces else np.zeros(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    # Relative to the values, too: six digits have to tell the marks apart.
    missing = max(floor + 1e-4 * max(abs(low), abs(high)) - (high - low), 0.0)
    air = 0.08 * (high - low) + 0.5 * missing
    return low - air, high + air


def engineering(value: float, unit: str, floor: float = 0.0) -> str:
    """Three or four digits with the unit, k, M, G for large numbers and a power of ten for small ones."""
    if not np.isfinite(value):
        return "not finite"
    if abs(value) < 1e-3 * floor:
        value = 0.0
    if unit in THOUSANDS and abs(value) >= 1e3:
        return engineering(1e-3 * value, THOUSANDS[unit])
    factor, prefix = prefixed(abs(value))
    number = f"{value / factor:.4g}" if prefix else f"{value:.3g}"
    return f"{number} {prefix}{unit}" if unit else f"{number}{prefix}"


THOUSANDS = {"\N{MICRO SIGN}s": "ms"}
"""Units that have a prefix already, and what a thousand of them is."""


def prefixed(size: float) -> tuple[float, str]:
    """Factor and prefix by which a number of that size is written."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= factor:
            return factor, prefix
    return 1.0, ""


LEAST_DECADES = 3.0
AGAINST_REFERENCE = ("position_error", "rotation_error")
"""Are nothing without one."""


@dataclass(frozen=True, slots=True)
class ErrorPlot:
    """One channel of the history on a logarithmic scale."""

    title: str
    unit: str
    doc: str
    floor: float
    """Smaller values are drawn there: they are rounding."""
    since_start: str = ""
    """Title where there is no reference: then it is what has changed since the start, by controls, too."""

    def heading(self, *, reference: bool) -> str:
        """Title and unit."""
        title = self.title if reference else self.since_start or self.title
        return f"{title}  {self.unit}".rstrip()


ERROR_PLOTS = {
    "energy_error": ErrorPlot(
        "|energy error|",
        "J",
        "Against the reference; without one, against the start.",
        1e-14,
        "|energy change|",
    ),
    "momentum_error": ErrorPlot(
        "|momentum error|",
        "",
        "Spatial momentum against the reference; without one, against the start: controls and ground put some in.",
        1e-15,
        "|momentum change|",
    ),
    "position_error": ErrorPlot(
        "position error", "m", "Distance from the reference at the same time; Lanes switches one on.", 1e-12
    ),
    "rotation_error": ErrorPlot(
        "rotation error",
        "rad",
        "Angle between the lane's attitude and the reference's; Lanes switches one on.",
        1e-12,
    ),
    "orthogonality": ErrorPlot("||R'R - I||", "", "How far the attitude is from being a rotation.", 1e-17),
    "cost_per_s": ErrorPlot(
        "cost of 1 s", "\N{MICRO SIGN}s", "Wall time of the compiled steps of one simulated second.", 1e-2
    ),
}


def draw_errors(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """As many plots side by side as fit."""
    lanes = [lane for lane in snapshot.lanes if lane.name in context.of(Curves).histories]
    requests: list[Request] = []
    plots = list(ERROR_PLOTS.items())
    for index, size_px in _side_by_side(len(plots), NARROWEST_PX * 0.84, 10.0, context):
        channel, plot = plots[index]
        requests += _error_plot(snapshot, context, lanes, channel, plot, size_px)
        imgui.end_group()
        note(context, f"errors/{channel}")
    return requests + draw_plot_bar(snapshot, context)


def _error_plot(
    snapshot: Snapshot,
    context: PanelContext,
    lanes: list[LaneSnapshot],
    channel: str,
    plot: ErrorPlot,
    size: tuple[float, float],
) -> list[Request]:
    requests: list[Request] = []
    start_s, end_s = span(lanes, context)
    traces = [
        context.of(Curves).histories[lane.name].trace(channel, start_s, end_s, POINTS) for lane in lanes
    ]
    low, high = decades([trace.values for trace in traces], plot.floor)
    imgui.push_font(None, theme.FONT_PX * 0.86)
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), plot.heading(reference=snapshot.reference))
    tooltip(plot.doc)
    height = size[1] - imgui.get_text_line_height_with_spacing()
    imgui.pop_font()
    imgui.push_font(None, theme.FONT_PX * 0.74)
    if implot.begin_plot(f"##{channel}", (size[0], height), PLOT_FLAGS):
        implot.setup_axes("", "", AXIS_FLAGS, AXIS_FLAGS)
        time_axis(start_s, end_s, size[0], context)
        implot.setup_axis_scale(implot.ImAxis_.y1, implot.Scale_.log10.value)
        implot.setup_axis_format(implot.ImAxis_.y1, "%.0e")
        implot.setup_axis_limits(implot.ImAxis_.x1, start_s, end_s, implot.Cond_.always)
        implot.setup_axis_limits(implot.ImAxis_.y1, low, high, implot.Cond_.always)
        for lane, trace in zip(lanes, traces, strict=True):
            known = np.isfinite(trace.values)
            if known.any():
                values = np.clip(np.abs(trace.values[known]), plot.floor, 1e300)
                implot.plot_line(lane.name, trace.time_s[known], values, line_spec(lane, context))
        if channel in AGAINST_REFERENCE and not snapshot.reference:
            implot.plot_text("no reference", 0.5 * (start_s + end_s), float(np.sqrt(low * high)))
        mark_stops(lanes, start_s, context, told=channel == "energy_error")
        draw_plot_values(lanes, Channel(channel, plot.title, plot.unit, plot.doc, plot.floor), context)
        requests += draw_plot_playhead(channel, snapshot, (start_s, end_s), context)
        implot.end_plot()
    imgui.pop_font()
    return requests


def mark_stops(lanes: list[LaneSnapshot], start_s: float, context: PanelContext, *, told: bool) -> None:
    """Within a plot: a line in the lane's colour where it has stopped; `told`: with time and cause in words."""
    for number, lane in enumerate(stopped(lanes)):
        at_s = lane.time_current_s
        if at_s < start_s:
            continue
        implot.plot_inf_lines(f"##stop{lane.name}", np.array([at_s]), line_spec(lane, context))
        if not told:
            continue
        limits = implot.get_plot_limits()
        colour = imgui.ImVec4(*line_colour(lane))
        offset = (context.px(4.0), context.px(8.0 + 14.0 * number))
        implot.annotation(at_s, limits.y.max, colour, offset, True, f"{at_s:.2f} s: {cause(lane)}")


def cause(lane: LaneSnapshot) -> str:
    """The quantity that failed, or what happened, in a word or two."""
    text = outcome(lane).partition(", ")[2]
    for known in ("energy", "angular velocity", "velocity", "position", "no solution"):
        if known in text:
            return known
    return lane.status.value


def stopped(lanes: list[LaneSnapshot]) -> list[LaneSnapshot]:
    return [lane for lane in lanes if lane.status is not LaneStatus.RUNNING]


def decades(rows: list[np.ndarray], floor: float) -> tuple[float, float]:
    """Logarithmic limits that hold every finite positive value, no fewer than a few decades."""
    values = np.abs(np.concatenate(rows)) if rows else np.zeros(0)
    values = values[np.isfinite(values) & (values > 0.0)]
    if not len(values):
        return floor, floor * 10.0**LEAST_DECADES
    low = np.log10(max(float(values.min()), floor)) - 0.4
    high = max(np.log10(max(float(values.max()), floor)) + 0.4, low + LEAST_DECADES)
    return float(10.0**low), float(10.0 ** min(high, 300.0))
