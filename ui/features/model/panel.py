"""The page of a vehicle's parts: its bodies, joints and actuators, poses by name, and what is drawn over them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import HoldControl, Push, SetCoordinates
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.vehicle_config.mechanism import BodyMass, mechanism_of
from sim.vehicles.forms.coordinates import Coordinate, coordinates_of, first_coordinates, read_coordinates
from sim.vehicles.forms.parameters import Control, Parameter
from sim.vehicles.forms.robot import RobotVehicle
from ui.features.model.view import LONGEST, DropPose, KeepPose, Poses, RenamePose, SetRoot
from ui.features.plots.channels import control_key, encoder_key
from ui.features.plots.panel import engineering
from ui.features.plots.parts import carry
from ui.features.vehicle import parameter_row
from ui.window import theme
from ui.window.context import ChangeView, PanelContext, Request
from ui.window.widgets import (
    Item,
    button,
    checkbox,
    heading,
    label,
    log_slider,
    menu,
    note,
    prose,
    segmented,
    significant,
    tooltip,
)

HOLD, SPRING = "hold", "spring"
MODES = (
    Item(HOLD, "Hold", "An actuator stays where its slider is put, whoever flies, until it is let go."),
    Item(SPRING, "Spring back", "An actuator is let go with its slider: it goes back to whoever flies."),
)
NAME_PX, VALUE_PX, RESET_PX, GAP_PX = 112.0, 62.0, 26.0, 4.0
_MOST_WEIGHTS, _GRAVITY_MPS2 = 2.5, 9.81
MOST_ROWS = 12
"""Of joints, before they scroll."""
IMPULSES_NS = (0.01, 1e4)
_NO_LIMIT_RAD, _NO_LIMIT_M = math.pi, 2.0
"""How far sliders reach about where a coordinate is, where it has no limits."""
_INERTIAL = ("kg", "kg m^2", "N m s", "N m s/rad", "N s/m", "kg/m")
"""Units of the parameters that are a body's business."""
OVERLAYS = (
    ("inertia", "Inertia", "Centre of mass and ellipsoid of inertia of each body."),
    ("joints", "Joint axes", "Where hinges turn and slides move."),
    ("contacts", "Contact shapes", "What of it touches the ground."),
    ("arrows", "Forces", "Of controls, and of ground, water and air."),
)
DIRECTIONS = {
    "-x": (-1.0, 0.0, 0.0),
    "+x": (1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "+y": (0.0, 1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
    "+z": (0.0, 0.0, 1.0),
}
"""In the world, z up."""
_PUSH_MPS = 0.5
"""What a body gains by a push whose size nobody has chosen."""


@dataclass(slots=True)
class ModelFields:
    """What the page remembers of one scene."""

    pose: str = ""
    """Name that is typed."""
    renamed: str = ""
    """Pose that is to have that name; empty: a new one has."""
    takes_keys: bool = False
    """Whether the field of the name is to have the keyboard with the next picture."""
    actuators: str = HOLD
    impulse_Ns: float = 0.0
    """0: not chosen yet."""


def draw_model(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """All of it, as far as the flown vehicle has it."""
    lane, requests = snapshot.lanes[0], list[Request]()
    if lane.mechanics is None:
        prose("What is shown is not simulated: there is nothing to take hold of.")
        return requests
    requests += _body(lane, context) + _overlays(context)
    coordinates = coordinates_of(lane.mechanics)
    if coordinates:
        requests += _joints(snapshot, lane, coordinates, context)
        requests += _poses(lane, context)
    if lane.mechanics.controls:
        requests += _actuators(lane, context)
    return requests + _root(lane, context)


def _body(lane: LaneSnapshot, context: PanelContext) -> list[Request]:
    """The chosen one: by the menu or a click in the view; what it weighs, and what pushes it."""
    assert lane.mechanics is not None
    requests, view = list[Request](), context.view
    chosen = view.chosen if view.chosen in lane.bodies else ""
    label(context, "Body", "A click on a body in the view chooses it; Ctrl and a drag pull it.")
    entries = [Item("", "none"), *(Item(name, name) for name in lane.bodies)]
    picked = menu(context, "model/body", entries, chosen, chosen or "click one in the view")
    if picked is not None and picked != chosen:
        requests.append(ChangeView(replace(view, chosen=picked)))
    if not chosen:
        return requests
    main = chosen == next(iter(lane.bodies))
    mechanism = mechanism_of(lane.mechanics)
    mass = mechanism.mass_of(chosen) or (mechanism.mass_of("") if main else None)
    if mass is not None:
        _weight(mass, context)
    properties = _properties(lane.mechanics.parameters, chosen, main=main)
    if mass is not None and any(not q.body for q in properties):
        imgui.text_disabled("of the whole vehicle:")
    for parameter in properties:
        requests += parameter_row(context, parameter)
    return requests + _push(lane, chosen, mass, context)


def _weight(mass: BodyMass, context: PanelContext) -> None:
    x, y, z = (1e3 * mass.centre_b).tolist()
    imgui.text_disabled(f"{mass.mass_kg:.4g} kg, centre of mass at {x:.0f}, {y:.0f}, {z:.0f} mm")
    note(context, "model/mass")


def _properties(parameters: Iterable[Parameter], body: str, *, main: bool) -> list[Parameter]:
    """Masses and dampings of a body; where none is a body's own, those of the vehicle."""
    parameters = tuple(parameters)
    if any(q.body for q in parameters):
        return [q for q in parameters if q.body == body]
    wanted = [q for q in parameters if q.unit in _INERTIAL and not q.structural]
    return wanted if main or len(wanted) <= 4 else []


def _push(lane: LaneSnapshot, body: str, mass: BodyMass | None, context: PanelContext) -> list[Request]:
    fields, requests = context.of(ModelFields), list[Request]()
    if not fields.impulse_Ns:
        mass_kg = float(np.sum(lane.parameters.get("mass", 1.0))) if mass is None else mass.mass_kg
        fields.impulse_Ns = float(f"{_PUSH_MPS * mass_kg:.2g}")
    doc = "Size of the impulse with which a push strikes the body, at its centre of mass."
    label(context, "Push  N s", doc)
    chosen = log_slider(context, "model/impulse", fields.impulse_Ns, IMPULSES_NS, "%.5g", doc)
    if chosen is not None:
        fields.impulse_Ns = min(max(chosen, IMPULSES_NS[0]), IMPULSES_NS[1])
    items = [Item(name, name, f"Along {name} of the world; z is up.") for name in DIRECTIONS]
    pressed = segmented(context, "model/push", items, "")
    if pressed is not None:
        at_b = np.zeros(3) if mass is None else mass.centre_b
        x, y, z = (fields.impulse_Ns * np.array(DIRECTIONS[pressed])).tolist()
        requests.append(Push(lane.name, body, (float(at_b[0]), float(at_b[1]), float(at_b[2])), (x, y, z)))
    return requests


def _joints(
    snapshot: Snapshot, lane: LaneSnapshot, coordinates: tuple[Coordinate, ...], context: PanelContext
) -> list[Request]:
    assert lane.mechanics is not None
    heading(context, "Joints")
    if not snapshot.paused and snapshot.look_back is None:
        imgui.text_disabled(f"Moving: pause to pose it at leisure{context.keymap.hint('pause')}")
    values = read_coordinates(lane.mechanics, lane.node)
    start = first_coordinates(lane.mechanics)
    requests: list[Request] = []
    rows = min(len(coordinates), MOST_ROWS)
    scrolls = len(coordinates) > MOST_ROWS
    if scrolls:
        imgui.begin_child("joints", (0.0, rows * imgui.get_frame_height_with_spacing()))
    for coordinate in coordinates:
        requests += _coordinate(context, coordinate, values[coordinate.name], start[coordinate.name])
    if scrolls:
        imgui.end_child()
    if button(
        context,
        "model/joints/reset",
        f"{icons.ICON_FA_ROTATE_LEFT}  All as at first",
        "Every joint where it is at the vehicle's own start, at rest.",
    ):
        requests.append(SetCoordinates(tuple(_within(coordinates, start).items()), "as at first"))
    return requests


def _within(coordinates: Iterable[Coordinate], values: Mapping[str, float]) -> dict[str, float]:
    """Coordinates that are no place of a free root, kept within their limits."""
    return {
        c.name: min(max(values[c.name], c.low), c.high)
        for c in coordinates
        if c.name in values and (c.unit == "rad" or math.isfinite(c.low))
    }


def shown_in(coordinate: Coordinate) -> tuple[float, str]:
    """(factor, unit) in which it is read: angles in degrees."""
    if coordinate.unit == "rad":
        return 180.0 / math.pi, "\N{DEGREE SIGN}"
    return 1.0, "" if coordinate.unit == "1" else f" {coordinate.unit}"


def span_of(coordinate: Coordinate, value: float) -> tuple[float, float]:
    """Between its limits; where there is none a stretch about where it is, which keeps still while it is in it."""
    reach = _NO_LIMIT_RAD if coordinate.unit == "rad" else _NO_LIMIT_M
    turns = reach * 2.0 * round(value / (2.0 * reach))
    low = coordinate.low if math.isfinite(coordinate.low) else turns - reach
    high = coordinate.high if math.isfinite(coordinate.high) else turns + reach
    return low, high


def _coordinate(context: PanelContext, c: Coordinate, value: float, start: float) -> list[Request]:
    factor, unit = shown_in(c)
    low, high = span_of(c, value)
    limits = f"{factor * c.low:.4g} to {factor * c.high:.4g}{unit}" if c.limited else "no limits"
    doc = f"{c.name}: {limits}. Drag, or Ctrl and a click to type."
    key = f"model/joint/{c.name}"
    label(context, c.name, f"{doc}\nDrag this name onto a plot to see its encoder there.", width=NAME_PX)
    note(context, f"{key}/name")
    carry(encoder_key(c), c.name, context)
    digits = 1 if c.unit == "rad" else 3
    shown = f"{round(factor * value, digits) + 0.0:.{digits}f}{unit}"
    changed, new, _ = _slider(context, key, factor * value, (factor * low, factor * high), shown, doc)
    reset = button(
        context,
        f"{key}/reset",
        f"{icons.ICON_FA_ARROW_ROTATE_LEFT}##{key}",
        f"Back to {factor * start:.4g}{unit}",
        width=context.px(RESET_PX),
    )
    if changed:
        return [SetCoordinates(((c.name, min(max(new / factor, low), high)),))]
    return [SetCoordinates(((c.name, min(max(start, c.low), c.high)),))] if reset else []


def _slider(
    context: PanelContext, key: str, value: float, span: tuple[float, float], shown: str, doc: str
) -> tuple[bool, float, bool]:
    """(whether it is moved, to what, whether it is let go); its value stands beside it, not under its grab. The next
    widget stands behind it in the same line."""
    left, beside = imgui.get_cursor_pos_x(), context.px(RESET_PX + GAP_PX)
    width = imgui.get_content_region_avail().x - beside
    reading = min(context.px(VALUE_PX), 0.5 * width)
    imgui.set_next_item_width(width - reading)
    changed, new = imgui.slider_float(f"##{key}", value, *span, "", imgui.SliderFlags_.always_clamp.value)
    let_go = imgui.is_item_deactivated()
    note(context, key)
    tooltip(doc)
    imgui.same_line(left + width - min(imgui.calc_text_size(shown).x, reading - context.px(GAP_PX)))
    imgui.align_text_to_frame_padding()
    imgui.text_unformatted(shown)
    note(context, f"{key}/value")
    imgui.same_line(left + width + context.px(GAP_PX))
    return changed, new, let_go


def _poses(lane: LaneSnapshot, context: PanelContext) -> list[Request]:
    """A name to keep the present one under, then a row for each that is kept."""
    assert lane.mechanics is not None
    fields, requests = context.of(ModelFields), list[Request]()
    label(context, "Poses", "Joints as they are now, kept by a name.")
    width = imgui.get_content_region_avail().x - context.px(64.0)
    imgui.set_next_item_width(width)
    if fields.takes_keys:
        imgui.set_keyboard_focus_here()
        fields.takes_keys = False
    flags = imgui.InputTextFlags_.enter_returns_true.value | imgui.InputTextFlags_.auto_select_all.value
    entered, fields.pose = imgui.input_text_with_hint(
        "##pose", "name of a pose", fields.pose[:LONGEST], flags
    )
    note(context, "model/pose")
    if imgui.is_item_active():
        note(context, "model/pose/typing")
    imgui.same_line(0.0, context.px(GAP_PX))
    named, poses = bool(fields.pose.strip()), context.of(Poses).of(lane.vehicle)
    renamed = fields.renamed if fields.renamed in poses else ""
    text, doc = ("Rename", f'Call "{renamed}" so') if renamed else ("Keep", "Keep the joints as they are")
    kept = button(context, "model/pose/keep", text, doc, width=-1.0, enabled=named)
    if (kept or entered) and named:
        requests.append(RenamePose(renamed, fields.pose) if renamed else KeepPose(fields.pose))
        fields.pose = fields.renamed = ""
    coordinates = coordinates_of(lane.mechanics)
    for name, values in poses.items():
        known = _within(coordinates, values)
        if button(
            context, f"model/pose/{name}", name, f"{len(known)} joints as they were", enabled=bool(known)
        ):
            requests.append(SetCoordinates(tuple(known.items()), name))
        imgui.same_line(0.0, context.px(GAP_PX))
        pencil, doc = f"{icons.ICON_FA_PEN}##rename{name}", "Another name: type it"
        if button(context, f"model/pose/{name}/rename", pencil, doc, lit=name == renamed):
            fields.pose, fields.renamed = ("", "") if name == renamed else (name, name)
            fields.takes_keys = bool(fields.renamed)
        imgui.same_line(0.0, context.px(GAP_PX))
        if button(context, f"model/pose/{name}/drop", f"{icons.ICON_FA_XMARK}##drop{name}", "Forget it"):
            requests.append(DropPose(name))
    return requests


def _actuators(lane: LaneSnapshot, context: PanelContext) -> list[Request]:
    assert lane.mechanics is not None
    heading(context, "Actuators")
    fields, requests = context.of(ModelFields), list[Request]()
    chosen = segmented(context, "model/actuators", MODES, fields.actuators)
    fields.actuators = chosen or fields.actuators
    mass_kg = sum(mass.mass_kg for mass in mechanism_of(lane.mechanics).masses)
    for k, control in enumerate(lane.mechanics.controls):
        value = lane.held.get(control.name, float(lane.controls[k]))  # held while time stands, it acts later
        span = actuator_span(control, value, mass_kg)
        requests += _actuator(control, value, span, lane.held.get(control.name), context)
    return requests


def actuator_span(control: Control, value: float, mass_kg: float) -> tuple[float, float]:
    """Between its limits; of forces and torques that could be many times the weight (at an arm of 1 m) a stretch that
    a hand can choose from, and what is beyond it where it is beyond."""
    reach = _MOST_WEIGHTS * mass_kg * _GRAVITY_MPS2
    if not reach or control.unit not in ("N", "N m"):
        return control.low, control.high
    return max(control.low, min(-reach, value)), min(control.high, max(reach, value))


def _actuator(
    control: Control, value: float, span: tuple[float, float], held: float | None, context: PanelContext
) -> list[Request]:
    doc = f"{control.doc}\n{control.low:g} to {control.high:g} {control.unit}".strip()
    key, fields = f"model/actuator/{control.name}", context.of(ModelFields)
    label(context, control.name.replace("_", " "), f"{doc}\nDrag this name onto a plot.", width=NAME_PX)
    carry(control_key(control), control.name, context)
    if held is not None:
        imgui.push_style_color(imgui.Col_.slider_grab, imgui.ImVec4(*theme.ACCENT))
    least = 10.0 ** (math.floor(math.log10(span[1] - span[0])) - 3)
    shown = engineering(least * round(value / least) + 0.0, control.unit)
    changed, new, let_go = _slider(context, key, value, span, shown, doc)
    if held is not None:
        imgui.pop_style_color()
    released = button(
        context,
        f"{key}/free",
        f"{icons.ICON_FA_LOCK if held is not None else icons.ICON_FA_LOCK_OPEN}##{key}",
        "Let it go" if held is not None else "Nothing holds it",
        width=context.px(RESET_PX),
        enabled=held is not None,
    )
    if released or (let_go and fields.actuators == SPRING):
        return [HoldControl(control.name, None)]
    if changed:
        return [HoldControl(control.name, min(max(significant(new), control.low), control.high))]
    return []


def _overlays(context: PanelContext) -> list[Request]:
    view = context.view
    left, half = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / 2.0
    for index, (name, text, doc) in enumerate(OVERLAYS):
        if index % 2:
            imgui.same_line(left + half)
        if checkbox(context, f"model/show/{name}", text, getattr(view, name), doc):
            shown: dict[str, Any] = {name: not getattr(view, name)}
            view = replace(view, **shown)
    return [] if view == context.view else [ChangeView(view)]


def _root(lane: LaneSnapshot, context: PanelContext) -> list[Request]:
    """Of a robot out of a file, whose root that fixes to the world."""
    vehicle = lane.mechanics
    known = getattr(vehicle, "file", None)
    if not isinstance(vehicle, RobotVehicle) or known is None or (vehicle.free and not known[1]):
        return []
    heading(context, "Root")
    items = (
        Item("fixed", "Fixed", "As its file has it: the world holds its root."),
        Item("free", "Free", "Its root floats: it falls, stands and tumbles."),
    )
    chosen = segmented(context, "model/root", items, "free" if vehicle.free else "fixed")
    now = "free" if vehicle.free else "fixed"
    return [SetRoot(chosen == "free")] if chosen is not None and chosen != now else []
