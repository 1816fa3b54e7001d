"""The page Modes: what is linearised and over what, the root locus, and the modes at one of its values."""

import math
from functools import lru_cache

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, implot

from sim.linear.root_locus import SPEED, speed_of, variable
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.vehicles import Vehicle
from ui.features.modes.locus import (
    ZERO,
    Asked,
    Locus,
    ModeShown,
    ModesView,
    MotionShown,
    Watched,
    linearised,
    seen_of,
)
from ui.window import theme
from ui.window.context import Action, PanelContext, Request
from ui.window.theme import DANGER, FAINT, GOOD, SKY, Colour
from ui.window.widgets import (
    Item,
    button,
    label,
    menu,
    note,
    panel_column,
    pressed_in_plot,
    prose,
    segmented,
    significant,
    tooltip,
)

NOW, START = "now", "start"
OVER, PLANE = "over", "plane"
COUNT = 41
"""Values of a locus."""
_LEAST_SPEED_MPS = 5.0
_STANDS_MPS = 0.05
_PLOT_PX = 90.0
_WIDE_PX, _GAP_PX = 620.0, 12.0
"""From which on the page has three columns."""
_FLAGS = implot.Flags_.canvas_only | implot.Flags_.no_inputs
_AXIS = implot.AxisFlags_.no_tick_marks | implot.AxisFlags_.no_highlight


@dataclass(frozen=True, slots=True)
class FindModes(Action):
    """Work out a locus."""

    asked: Asked


@dataclass(frozen=True, slots=True)
class CancelModes(Action):
    """Give up what is under way."""


@dataclass(slots=True)
class ModesFields:
    """What the page remembers of a scene."""

    about: str = NOW
    over: str = ""
    """Empty: the first that there is."""
    span: tuple[float, float] | None = None
    """Of the values; None: about the present one."""
    shown: str = OVER
    serial: int = -1
    """Of the locus that is looked at."""
    value: int = 0
    """Of its values."""


def draw_modes(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What to linearise, and what came of it."""
    lane, view, fields = linearised(snapshot.lanes[0]), context.of(ModesView), context.of(ModesFields)
    if lane.mechanics is None or not lane.node.size:
        prose("What is shown is not simulated: it has no equations to linearise.")
        return []
    room = imgui.get_content_region_avail()
    wide = room.x > context.px(_WIDE_PX) and view.locus is not None
    width = (room.x - 2.0 * context.px(_GAP_PX)) / 3.0 if wide else room.x
    requests: list[Request] = []
    with panel_column("modes/choices", width, wide=wide):
        _choices(lane, lane.mechanics, context)
        requests += _begin(lane, lane.mechanics, context)
    if view.locus is None:
        return requests
    if fields.serial != view.serial:
        now = _value(lane.mechanics, _node(lane, lane.mechanics, fields), view.locus.over)
        fields.serial, fields.value = view.serial, _first(view.locus, now)
    if wide:
        imgui.same_line(0.0, context.px(_GAP_PX))
    with panel_column("modes/eigenvalues", width, wide=wide):
        _eigenvalues(view.locus, context, wide=wide)
    if wide:
        imgui.same_line(0.0, context.px(_GAP_PX))
    with panel_column("modes/modes", width, wide=wide):
        _chosen(view.locus, context)
    return requests


def _begin(lane: LaneSnapshot, vehicle: Vehicle, context: PanelContext) -> list[Request]:
    """The button, or how far the search is."""
    view, fields = context.of(ModesView), context.of(ModesFields)
    if view.running:
        text = f"{icons.ICON_FA_XMARK}  Cancel: {view.done} of {view.count}"
        return [CancelModes()] if button(context, "modes/cancel", text, "Give it up", width=-1.0) else []
    doc = (
        "The vehicle's own equations about the nearest steady motion, exact, and how their eigenvalues move. Ground, "
        "water and wind, which act beside them, are not in it; of what floats, its mechanics on flat water are taken."
    )
    text = f"{icons.ICON_FA_WAVE_SQUARE}  Linearise"
    if button(context, "modes/find", text, doc, width=-1.0, lit=True):
        return [FindModes(_asked(lane, vehicle, fields))]
    return []


def mode_seen(context: PanelContext, lane: LaneSnapshot) -> LaneSnapshot | None:
    """The flown lane as the mode that is watched moves it, for the picture; None where none is."""
    watched, view = context.of(Watched), context.of(ModesView)
    found = _watched(watched, view)
    mechanics = linearised(lane).mechanics if found is not None else None
    if found is None or mechanics is None or found[0].vehicle.name != mechanics.name:
        return None
    watched.seconds += imgui.get_io().delta_time
    return seen_of(lane, *found, watched.seconds)


def _watched(watched: Watched, view: ModesView) -> tuple[MotionShown, ModeShown] | None:
    if view.locus is None or watched.serial != view.serial or watched.mode < 0:
        return None
    motion = view.locus.motions[watched.value]
    if motion is None or not motion.modes:
        return None
    return motion, motion.modes[min(watched.mode, len(motion.modes) - 1)]


def _choices(lane: LaneSnapshot, vehicle: Vehicle, context: PanelContext) -> None:
    fields, known = context.of(ModesFields), variable(vehicle)
    runs = lane.status is LaneStatus.RUNNING
    if not runs:
        fields.about = START
    label(context, "About", "The motion is the steady one that is nearest to this.")
    items = (
        Item(NOW, "As it moves", "How it moves now, under the controls that it has", enabled=runs),
        Item(START, "As it starts", "How this vehicle is by itself, under neutral controls"),
    )
    fields.about = segmented(context, "modes/about", items, fields.about) or fields.about
    if fields.over not in known:
        fields.over, fields.span = known[0] if known else "", None
    docs = {q.name: f"{q.doc}\n{q.unit}" for q in vehicle.parameters}
    entries = [
        Item(name, name.replace("_", " "), docs.get(name, "Of the main body along its motion [m/s]"))
        for name in known
    ]
    label(context, "Over", "What goes through a range while eigenvalues are followed.")
    chosen = menu(context, "modes/over", entries, fields.over, fields.over.replace("_", " "))
    if chosen is not None:
        fields.over, fields.span = chosen, None
    label(context, "From, to", "The range.")
    low, high = fields.span or _span(vehicle, _node(lane, vehicle, fields), fields.over)
    changed, both = imgui.input_float2("##modes/span", [low, high], "%.6g")
    note(context, "modes/span")
    if changed and both[1] > both[0]:
        fields.span = significant(both[0]), significant(both[1])


def _node(lane: LaneSnapshot, vehicle: Vehicle, fields: ModesFields) -> np.ndarray:
    """What is linearised about the steady motion that is nearest to it."""
    return lane.node if fields.about == NOW else _start(vehicle)


@lru_cache(maxsize=4)
def _start(vehicle: Vehicle) -> np.ndarray:
    return vehicle.default_state().node


def _span(vehicle: Vehicle, node: np.ndarray, over: str) -> tuple[float, float]:
    """About the value there."""
    now = _value(vehicle, node, over)
    if over == SPEED:
        top = float(math.ceil(2.0 * max(abs(now), _LEAST_SPEED_MPS)))
        return (-top, 0.0) if now < -_STANDS_MPS else (0.0, top)
    parameter = next(q for q in vehicle.parameters if q.name == over)
    ends = sorted((0.5 * now, 2.0 * now)) if now else (0.0, 1.0)
    low, high = (min(max(end, parameter.low), parameter.high) for end in ends)
    return significant(low), significant(high)


def _value(vehicle: Vehicle, node: np.ndarray, over: str) -> float:
    if over == SPEED:
        return speed_of(vehicle, vehicle.state_at_node(node))
    return float(np.ravel(vehicle.values[over])[0])


def _asked(lane: LaneSnapshot, vehicle: Vehicle, fields: ModesFields) -> Asked:
    node = _node(lane, vehicle, fields)
    values = np.linspace(*(fields.span or _span(vehicle, node, fields.over)), COUNT)
    held = lane.controls[: len(vehicle.controls)]
    controls = held if fields.about == NOW else vehicle.neutral_controls
    return Asked(vehicle, node.copy(), controls.copy(), fields.over, tuple(values.tolist()))


def _first(locus: Locus, now: float) -> int:
    """The value nearest to the one that there is, of those that have a motion."""
    known = np.array([motion is not None for motion in locus.motions])
    apart = np.abs(locus.values - now)
    return int(np.where(known, apart, np.inf).argmin())


def _eigenvalues(locus: Locus, context: PanelContext, *, wide: bool) -> None:
    """Of all values, as curves."""
    fields = context.of(ModesFields)
    items = (
        Item(OVER, f"Over {locus.over.replace('_', ' ')}", "Bold: growth. Faint: angular frequency"),
        Item(PLANE, "In the plane", "Growth to the right, angular frequency upwards"),
    )
    fields.shown = segmented(context, "modes/shown", items, fields.shown) or fields.shown
    _plot(locus, context, wide=wide)


def _chosen(locus: Locus, context: PanelContext) -> None:
    """The value that is chosen, and the modes there."""
    fields = context.of(ModesFields)
    prose(stability(locus))
    note(context, "modes/stability")
    label(context, locus.over.replace("_", " "), "The steady motion whose modes stand below.")
    text = f"{locus.values[fields.value]:.4g} {locus.unit}".replace("%", "%%")
    moved, at = imgui.slider_int("##modes/value", fields.value, 0, len(locus.values) - 1, text)
    note(context, "modes/value")
    if moved:
        fields.value = at
    motion = locus.motions[fields.value]
    if motion is None:
        prose(f"No steady motion here: {locus.refused}")
    else:
        _modes(motion, context)


def stability(locus: Locus) -> str:
    """In a sentence, where nothing grows."""
    ends = [f"from {low:.4g} to {high:.4g} {locus.unit}".rstrip() for low, high in locus.stable_spans]
    said = f"Nothing grows {' and '.join(ends)}." if ends else "Something grows at every value."
    missing = sum(motion is None for motion in locus.motions)
    return f"{said} {missing} values have no steady motion." if missing else said


def _plot(locus: Locus, context: PanelContext, *, wide: bool) -> None:
    fields, room = context.of(ModesFields), imgui.get_content_region_avail()
    low = context.px(_PLOT_PX)
    size = room.x, max(room.y - context.px(6.0), low) if wide else 2.0 * low
    values, roots = locus.values, locus.eigenvalues
    imgui.push_font(None, theme.FONT_PX * 0.78)
    if implot.begin_plot(f"##modes/{fields.shown}", size, _FLAGS):
        implot.setup_axes("", "", _AXIS, _AXIS)
        if fields.shown == OVER:
            _over(values, roots, locus, context)
            spot = float(values[fields.value])
            implot.plot_inf_lines("##chosen", np.array([spot]), _line(theme.ACCENT, context.px(2.0)))
            if (x := pressed_in_plot()) is not None:
                fields.value = int(np.abs(values - x).argmin())
        else:
            _plane(roots, fields.value, context)
        implot.end_plot()
    imgui.pop_font()
    note(context, "modes/plot")
    tooltip(
        "Press to choose a value. Bold: real parts [1/s]; faint: imaginary parts [rad/s]. Green: nothing grows"
    )


def _over(values: np.ndarray, roots: np.ndarray, locus: Locus, context: PanelContext) -> None:
    """Real and imaginary parts over the value."""
    low, high = _limits(np.concatenate([roots.real.ravel(), np.abs(roots.imag).ravel()]))
    implot.setup_axis_limits(implot.ImAxis_.x1, values[0], values[-1], implot.Cond_.always)
    implot.setup_axis_limits(implot.ImAxis_.y1, low, high, implot.Cond_.always)
    for number, (begin, end) in enumerate(locus.stable_spans):
        spec = implot.Spec()
        spec.fill_color = imgui.ImVec4(*GOOD[:3], 0.16)
        x, top = np.array([begin, end]), np.array([high, high])
        implot.plot_shaded(f"##stable{number}", x, top, low, spec)
    implot.plot_inf_lines(
        "##zero", np.zeros(1), _line(FAINT, context.px(1.0), implot.InfLinesFlags_.horizontal)
    )
    for k, column in enumerate(roots.T):
        implot.plot_line(f"##i{k}", values, np.abs(column.imag), _line((*SKY[:3], 0.45), context.px(1.2)))
    for k, column in enumerate(roots.T):
        implot.plot_line(f"##r{k}", values, column.real.copy(), _line(theme.INK, context.px(1.8)))


def _plane(roots: np.ndarray, at: int, context: PanelContext) -> None:
    """Branches, and where they are at the value."""
    implot.setup_axis_limits(implot.ImAxis_.x1, *_limits(roots.real), implot.Cond_.always)
    implot.setup_axis_limits(implot.ImAxis_.y1, *_limits(roots.imag), implot.Cond_.always)
    implot.plot_inf_lines("##axis", np.zeros(1), _line(FAINT, context.px(1.0)))
    for k, column in enumerate(roots.T):
        real, imaginary = column.real.copy(), column.imag.copy()
        implot.plot_line(f"##b{k}", real, imaginary, _line((*SKY[:3], 0.7), context.px(1.4)))
        spec = implot.Spec()
        spec.marker, spec.marker_size = implot.Marker_.circle.value, context.px(4.0)
        colour = _tone(column[at].real)
        spec.marker_fill_color = spec.marker_line_color = imgui.ImVec4(*colour)
        implot.plot_scatter(f"##p{k}", real[at : at + 1].copy(), imaginary[at : at + 1].copy(), spec)


def _limits(numbers: np.ndarray) -> tuple[float, float]:
    """With room about what is finite; far outliers, as those of quickly decaying modes, are cut."""
    known = numbers[np.isfinite(numbers)]
    if not known.size:
        return -1.0, 1.0
    low, high = (float(end) for end in np.quantile(known, (0.02, 0.98)))
    room = 0.1 * max(high - low, 1e-3)
    return min(low, 0.0) - room, max(high, 0.0) + room


def _modes(motion: MotionShown, context: PanelContext) -> None:
    """A row each; a press sets it in motion, another one ends that."""
    fields, watched = context.of(ModesFields), context.of(Watched)
    watches = watched.serial == fields.serial
    for k, mode in enumerate(motion.modes):
        on = watches and watched.mode == k
        icon = icons.ICON_FA_STOP if on else icons.ICON_FA_PLAY
        doc = "See it in the view, alone and enlarged: how it grows or decays, again and again"
        if button(context, f"modes/watch/{k}", icon, doc, lit=on):
            watched.serial, watched.mode, watched.seconds = fields.serial, -1 if on else k, 0.0
        imgui.same_line()
        imgui.text_colored(imgui.ImVec4(*_tone(mode.eigenvalue.real)), said(mode.eigenvalue))
        note(context, f"modes/mode/{k}")
        tooltip(f"{numbers_of(mode.eigenvalue)}\nMoves most: {', '.join(mode.moves).replace('_', ' ')}")
    if motion.staying:
        prose(f"{motion.staying} more have the eigenvalue 0, as of where it is, and stay.")
    if watches:
        watched.value = fields.value


def said(root: complex) -> str:
    """An eigenvalue, and what becomes of its mode, in a few words."""
    if abs(root) < ZERO:
        return "0: stays"
    becomes = "stays" if abs(root.real) < ZERO else f"{'doubles' if root.real > 0.0 else 'halves'} in "
    if abs(root.real) >= ZERO:
        becomes += f"{math.log(2.0) / abs(root.real):.3g} s"
    if root.imag < ZERO:
        return f"{root.real:.4g}: {becomes}"
    return f"{root.real:.4g} \N{PLUS-MINUS SIGN} {root.imag:.4g}i: {root.imag / (2.0 * math.pi):.3g} Hz, {becomes}"


def numbers_of(root: complex) -> str:
    """The eigenvalue with its digits and its damping."""
    size = abs(root)
    damping = f", damping ratio {-root.real / size:.3g}" if size > ZERO else ""
    return f"{root.real:.8g} {'+' if root.imag >= 0.0 else '-'} {abs(root.imag):.8g}i 1/s{damping}"


def _tone(growth: float) -> Colour:
    return DANGER if growth > ZERO else GOOD if growth < -ZERO else theme.MUTED


def _line(colour: Colour, weight: float, flags: implot.InfLinesFlags_ | None = None) -> implot.Spec:
    spec = implot.Spec()
    spec.line_color, spec.line_weight = imgui.ImVec4(*colour), weight
    if flags is not None:
        spec.flags = flags
    return spec
