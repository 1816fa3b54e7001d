"""Lanes against the exact motion: errors on a logarithmic scale, and what a simulated second costs."""

from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui, implot

from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from ui import theme
from ui.colours import line_colour
from ui.panels.caption import outcome
from ui.panels.context import PanelContext
from ui.panels.plot_parts import draw_plot_bar, draw_plot_playhead, draw_plot_values, span
from ui.panels.plots import AXIS_FLAGS, NARROWEST_PX, PLOT_FLAGS, POINTS, line_spec, time_axis
from ui.panels.widgets import note, tooltip
from ui.requests import Request

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


ERRORS = {
    "energy_error": ErrorPlot(
        "|energy error|", "J", "Against the reference; without one, against the start.", 1e-14
    ),
    "momentum_error": ErrorPlot(
        "|momentum error|",
        "",
        "Spatial momentum against the reference; without one, against the start.",
        1e-15,
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


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """As many plots side by side as fit."""
    lanes = [lane for lane in snapshot.lanes if lane.name in context.histories]
    requests: list[Request] = []
    room = imgui.get_content_region_avail()
    columns = max(min(int(room.x / context.px(NARROWEST_PX * 0.84)), len(ERRORS)), 1)
    gap = context.px(10.0)
    width = (room.x - gap * (columns - 1)) / columns
    rows = -(-len(ERRORS) // columns)
    height = max(room.y / rows - (context.px(6.0) if rows > 1 else 0.0), context.px(90.0))
    for index, (channel, plot) in enumerate(ERRORS.items()):
        if index % columns:
            imgui.same_line(0.0, gap)
        imgui.begin_group()
        requests += _plot(snapshot, context, lanes, channel, plot, (width, height))
        imgui.end_group()
        note(context, f"errors/{channel}")
    return requests + draw_plot_bar(snapshot, context)


def _plot(
    snapshot: Snapshot,
    context: PanelContext,
    lanes: list[LaneSnapshot],
    channel: str,
    plot: ErrorPlot,
    size: tuple[float, float],
) -> list[Request]:
    requests: list[Request] = []
    start_s, end_s = span(lanes, context)
    traces = [context.histories[lane.name].trace(channel, start_s, end_s, POINTS) for lane in lanes]
    low, high = decades([trace.values for trace in traces], plot.floor)
    imgui.push_font(None, theme.FONT_PX * 0.86)
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), f"{plot.title}  {plot.unit}".rstrip())
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
        draw_plot_values(lanes, channel, plot.unit, context)
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
