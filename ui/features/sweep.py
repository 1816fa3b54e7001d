"""The page Sweep: the scene flown anew at many values of a gain, a parameter or the step, beside the frames."""

from collections.abc import Mapping

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, implot

from sim.commands import SetGain, SetParameter, SetStep
from sim.controllers import gains_of
from sim.platform.values import dataclass
from sim.scene import STEP_RANGE_S
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from ui.features.vehicle import FlownParameters
from ui.window import theme
from ui.window.context import Action, PanelContext, Request
from ui.window.widgets import (
    Item,
    button,
    label,
    menu,
    note,
    panel_column,
    pressed_in_plot,
    prose,
    significant,
    tooltip,
)

STEP = "step"
_COUNT, _SECONDS = (3, 15, 101), (1.0, 10.0, 120.0)
"""Least, usual and most."""
_WIDE_PX, _GAP_PX = 520.0, 8.0
_LEAST_PLOT_PX, _BELOW_PX = 56.0, 26.0
"""Height of the curve at least, and of what stands below it."""
_FLAGS = implot.Flags_.canvas_only | implot.Flags_.no_inputs
_AXIS = implot.AxisFlags_.no_tick_marks | implot.AxisFlags_.no_highlight


@dataclass(frozen=True, slots=True)
class Number:
    """Something that may go through a range."""

    name: str
    now: float
    low: float
    high: float
    unit: str
    doc: str
    gain: bool = False

    @property
    def span(self) -> tuple[float, float]:
        """That is offered: all of a gain's range, else half to double what there is."""
        if self.gain:
            return self.low, self.high
        ends = sorted((0.5 * self.now, 2.0 * self.now)) if self.now else (0.0, 1.0)
        low, high = (significant(min(max(end, self.low), self.high)) for end in ends)
        return low, high

    def command(self, value: float, lane: LaneSnapshot) -> Request:
        """Gives it to the flown lane."""
        if self.gain:
            return SetGain(self.name, value, lane.name)
        return (
            SetStep(value, lane.name) if self.name == STEP else SetParameter(self.name, value, lane.vehicle)
        )


@dataclass(frozen=True, slots=True)
class FlySweep(Action):
    """Fly the scene at these values."""

    number: Number
    values: tuple[float, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class EndSweep(Action):
    """Give up what is under way."""


@dataclass(slots=True)
class SweepFields:
    """What the page remembers of a scene."""

    name: str = ""
    span: tuple[float, float] | None = None
    """None: what is offered."""
    count: int = _COUNT[1]
    seconds: float = _SECONDS[1]
    answer: str = ""
    """Of the columns; empty: the first."""
    value: int | None = None
    """Of the values, which is chosen."""


@dataclass(frozen=True, slots=True, eq=False)
class SweepView:
    """What has been flown so far. Immutable; replaced as a whole."""

    asked: FlySweep | None = None
    running: bool = False
    answers: tuple[Mapping[str, float], ...] = ()
    """A value after the other; empty for one that is refused."""

    @property
    def columns(self) -> list[str]:
        """Names of the answers, what the controller plots and the vehicle reports first."""
        names = next((list(row) for row in self.answers if row), [])
        return [name for name in names if name != "running"]

    def column(self, name: str) -> np.ndarray:
        """(n,) of the values that have been flown, nan where there is none."""
        return np.array([row.get(name, np.nan) for row in self.answers])


def numbers_of(lane: LaneSnapshot, context: PanelContext) -> list[Number]:
    """Of the flown lane: gains, parameters that are single numbers, and the step."""
    found, own = [], lane.controller
    if own is not None:
        found += [
            Number(n, own.gains.get(n, g.default), g.low, g.high, g.unit, g.doc, gain=True)
            for n, g in gains_of(own.kind).items()
        ]
    entry = context.catalogue.vehicles.get(lane.vehicle)
    values = context.of(FlownParameters).values
    for q in () if entry is None else entry.parameters:
        now = np.ravel(values.get(q.name, q.default))
        if now.size == 1 and not q.structural and q.name not in {number.name for number in found}:
            found.append(Number(q.name, float(now[0]), q.low, q.high, q.unit, q.doc))
    return [*found, Number(STEP, lane.step_s, *STEP_RANGE_S, "s", "Of the integrator.")]


def draw_sweep(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What goes through a range, and what came of it."""
    lane, view = snapshot.lanes[0], context.of(SweepView)
    if lane.mechanics is None:
        prose("What is shown is not simulated: there is nothing to fly again.")
        return []
    room = imgui.get_content_region_avail().x
    wide = room > context.px(_WIDE_PX) and bool(view.answers)
    width = 0.4 * room if wide else room
    with panel_column("sweep/choices", width, wide=wide):
        requests = _choices(lane, context) + _use(lane, view, context)
    if view.answers:
        if wide:
            imgui.same_line(0.0, context.px(_GAP_PX))
        with panel_column("sweep/answers", room - width - context.px(_GAP_PX), wide=wide):
            _answers(view, context)
    return requests


def _choices(lane: LaneSnapshot, context: PanelContext) -> list[Request]:
    fields, view = context.of(SweepFields), context.of(SweepView)
    known = {number.name: number for number in numbers_of(lane, context)}
    number = known.get(fields.name) or next(iter(known.values()))
    label(context, "Over", "A gain of who flies, a parameter of the vehicle, or the step.")
    items = [Item(n, n.replace("_", " "), f"{q.doc}\n{q.unit}".strip()) for n, q in known.items()]
    chosen = menu(context, "sweep/over", items, number.name, number.name.replace("_", " "))
    if chosen is not None:
        fields.name, fields.span, number = chosen, None, known[chosen]
    span = fields.span or number.span
    label(context, "From, to", f"{number.low:g} to {number.high:g} {number.unit}".rstrip())
    changed, both = imgui.input_float2("##sweep/span", [*span], "%.6g")
    note(context, "sweep/span")
    if changed and number.low <= both[0] < both[1] <= number.high:
        fields.span = span = significant(both[0]), significant(both[1])
    label(
        context,
        "Flights",
        "How many values, at even distances, and how many simulated seconds each flight takes.",
    )
    (least, _, most), (low, _, high) = _COUNT, _SECONDS
    half = 0.5 * (imgui.get_content_region_avail().x - context.px(_GAP_PX))
    imgui.set_next_item_width(half)
    changed, count = imgui.slider_int("##sweep/count", fields.count, least, most)
    note(context, "sweep/count")
    fields.count = min(max(count, least), most) if changed else fields.count
    imgui.same_line(0.0, context.px(_GAP_PX))
    imgui.set_next_item_width(half)
    changed, seconds = imgui.slider_float("##sweep/seconds", fields.seconds, low, high, "%.0f s")
    note(context, "sweep/seconds")
    fields.seconds = min(max(round(seconds), low), high) if changed else fields.seconds
    if view.running and view.asked is not None:
        text = f"{icons.ICON_FA_XMARK}  Cancel: {len(view.answers)} of {len(view.asked.values)}"
        return [EndSweep()] if button(context, "sweep/cancel", text, "Give it up", width=-1.0) else []
    doc = (
        "The scene from its start, at every value, beside what flies here: by the controller that flies, else by the "
        "autopilot, else by nobody"
    )
    if button(context, "sweep/fly", f"{icons.ICON_FA_PLAY}  Fly", doc, width=-1.0, lit=True):
        fields.value = None
        values = tuple(significant(value) for value in np.linspace(*span, fields.count).tolist())
        return [FlySweep(number, values, fields.seconds)]
    return []


def _use(lane: LaneSnapshot, view: SweepView, context: PanelContext) -> list[Request]:
    """The button that takes over the value that is chosen."""
    fields, asked = context.of(SweepFields), view.asked
    if asked is None or fields.value is None or fields.value >= len(view.answers):
        return []
    value, number = asked.values[fields.value], asked.number
    told = f"{number.name.replace('_', ' ')} = {value:.5g} {number.unit}".rstrip()
    known = {n.name for n in numbers_of(lane, context)}
    text = f"{icons.ICON_FA_CHECK}  Use {told}"
    if button(context, "sweep/use", text, "Fly on with it", width=-1.0, enabled=number.name in known):
        return [number.command(value, lane)]
    return []


def _answers(view: SweepView, context: PanelContext) -> None:
    fields, asked = context.of(SweepFields), view.asked
    assert asked is not None
    columns = view.columns
    if not columns:
        prose("None of these values can be flown.")
        return
    name = fields.answer if fields.answer in columns else usual(columns)
    label(context, "Told of it", "Of each quantity its last value (final), and its root mean square (rms).")
    chosen = menu(context, "sweep/answer", [Item(c, c) for c in columns], name, name)
    if chosen is not None:
        fields.answer = name = chosen
    values, answers = np.array(asked.values[: len(view.answers)]), view.column(name)
    stopped = view.column("running") == 0.0
    _plot(values, answers, stopped, asked, context)
    prose(said(values, answers, stopped, asked.number))
    note(context, "sweep/said")


def usual(columns: list[str]) -> str:
    """What is looked at first: the size of an error, where there is one, else the height at the end."""
    errors = [c for c in columns if "error" in c and ".rms" in c]
    heights = [c for c in columns if c.startswith("position.z.final")]
    return (errors or heights or columns)[0]


def said(values: np.ndarray, answers: np.ndarray, stopped: np.ndarray, number: Number) -> str:
    """Where it is least, and how many did not fly to the end."""
    parts, whole = [], np.where(stopped, np.nan, answers)
    if np.isfinite(whole).any():
        at = int(np.nanargmin(np.abs(whole)))
        parts.append(f"Smallest, {whole[at]:.4g}, at {values[at]:g} {number.unit}".rstrip() + ".")
    if stopped.any():
        parts.append(f"{int(stopped.sum())} of {len(values)} stopped before the end.")
    return " ".join(parts)


def _plot(
    values: np.ndarray, answers: np.ndarray, stopped: np.ndarray, asked: FlySweep, context: PanelContext
) -> None:
    fields = context.of(SweepFields)
    known = answers[np.isfinite(answers)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    room = 0.08 * max(high - low, 1e-9 * max(abs(low), abs(high), 1.0))
    imgui.push_font(None, theme.FONT_PX * 0.78)
    room_px = imgui.get_content_region_avail().y - context.px(_BELOW_PX)
    if implot.begin_plot("##sweep", (-1.0, max(room_px, context.px(_LEAST_PLOT_PX))), _FLAGS):
        implot.setup_axes("", "", _AXIS, _AXIS)
        implot.setup_axis_limits(implot.ImAxis_.x1, asked.values[0], asked.values[-1], implot.Cond_.always)
        implot.setup_axis_limits(implot.ImAxis_.y1, low - room, high + room, implot.Cond_.always)
        implot.plot_inf_lines("##now", np.array([asked.number.now]), _line(theme.FAINT, context.px(1.0)))
        if fields.value is not None:
            spot = np.array([asked.values[fields.value]])
            implot.plot_inf_lines("##chosen", spot, _line(theme.ACCENT, context.px(2.0)))
        implot.plot_line("##line", values, answers, _line(theme.SKY, context.px(1.6)))
        for name, which, colour in (("flown", ~stopped, theme.INK), ("stopped", stopped, theme.DANGER)):
            spec = implot.Spec()
            spec.marker, spec.marker_size = implot.Marker_.circle.value, context.px(3.0)
            spec.marker_fill_color = spec.marker_line_color = imgui.ImVec4(*colour)
            implot.plot_scatter(f"##{name}", values[which].copy(), answers[which].copy(), spec)
        if (x := pressed_in_plot()) is not None:
            fields.value = int(np.abs(values - x).argmin())
        implot.end_plot()
    imgui.pop_font()
    note(context, "sweep/plot")
    tooltip("Press to choose a value. The thin line is the present one; red: it stopped before the end")


def _line(colour: theme.Colour, weight: float) -> implot.Spec:
    spec = implot.Spec()
    spec.line_color, spec.line_weight = imgui.ImVec4(*colour), weight
    return spec
