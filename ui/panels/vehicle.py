"""The vehicle, and its parameters as it declares them."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import SetParameter, SetVehicle
from sim.snapshot import Snapshot
from sim.vehicles.forms.parameters import Parameter, Value
from ui import theme
from ui.panels.coming import menu_text, swaps
from ui.panels.context import PanelContext
from ui.panels.widgets import Item, heading, label, menu, note, prose, significant, tooltip
from ui.requests import Request

NAME_WIDTH = 112.0
_FIELDS = 4
"""Most numbers that stand side by side."""


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Menu of vehicles and one row a parameter."""
    lane = snapshot.lanes[0]
    requests: list[Request] = []
    label(context, "Vehicle", "The new one starts where the old one is.")
    entries = [Item(entry.name, entry.name, entry.doc) for entry in context.catalogue.vehicles.values()]
    _, coming = swaps(snapshot)
    chosen = menu(context, "vehicle", entries, lane.vehicle, menu_text(lane.vehicle, coming))
    if chosen is not None and chosen != lane.vehicle:
        requests.append(SetVehicle(chosen))
    entry = context.catalogue.vehicles.get(lane.vehicle)
    if entry is None:
        return requests
    prose(entry.doc)
    heading(context, "Parameters")
    for parameter in entry.parameters:
        requests += _row(context, parameter)
    return requests


def _row(context: PanelContext, parameter: Parameter) -> list[Request]:
    value = context.parameters.get(parameter.name, parameter.default)
    label(context, parameter.name.replace("_", " "), describe(parameter), width=NAME_WIDTH)
    left, gap = imgui.get_cursor_pos_x(), context.px(4.0)
    width = imgui.get_content_region_avail().x - context.px(26.0) - gap
    imgui.set_next_item_width(width)
    changed, new = _field(parameter, value)
    done = imgui.is_item_deactivated_after_edit()
    note(context, f"vehicle/param/{parameter.name}")
    tooltip(describe(parameter))
    if changed:
        context.parameters[parameter.name] = new
    # Other equations need another kernel: not at every pixel of a drag.
    sends = done if (parameter.optional or parameter.structural) and not is_switch(parameter) else changed
    requests: list[Request] = []
    if sends:
        requests.append(SetParameter(parameter.name, context.parameters.get(parameter.name, new)))
    imgui.same_line(left + width + gap)
    if _default_button(context, parameter, value):
        context.parameters[parameter.name] = parameter.default
        requests.append(SetParameter(parameter.name, parameter.default))
    return requests


def _field(parameter: Parameter, value: Value) -> tuple[bool, Value]:
    name = f"##{parameter.name}"
    flags = imgui.SliderFlags_.always_clamp.value | imgui.SliderFlags_.no_round_to_format.value
    speed = drag_speed(parameter, value)
    if isinstance(value, tuple) and len(value) > _FIELDS:
        # One for each of many: all are set alike.
        value = value[0]
    if is_switch(parameter):
        switched, on = imgui.checkbox(name, bool(value))
        return switched, float(on)
    if parameter.structural and not isinstance(value, tuple):
        low, high = round(parameter.low), round(parameter.high)
        slid, whole = imgui.slider_int(
            name, round(value), low, high, "%d", imgui.SliderFlags_.always_clamp.value
        )
        return slid, float(whole)
    if isinstance(value, tuple):
        return _components(parameter, value, speed, flags)
    unit = parameter.unit.replace("%", "%%").replace("^2", "\N{SUPERSCRIPT TWO}")
    text = f"%.4g {unit}".rstrip()
    changed, new = imgui.drag_float(name, value, speed, parameter.low, parameter.high, text, flags)
    return changed, significant(new)


def _components(
    parameter: Parameter, value: tuple[float, ...], speed: float, flags: int
) -> tuple[bool, Value]:
    """A field each, with its name; there is no room for units."""
    names = "xyz" if len(value) < 4 else "1234"
    gap = imgui.get_style().item_inner_spacing.x
    width = (imgui.calc_item_width() - gap * (len(value) - 1)) / len(value)
    changed, new = False, list(value)
    imgui.begin_group()
    for k, (axis, number) in enumerate(zip(names, value, strict=False)):
        if k:
            imgui.same_line(0.0, gap)
        imgui.set_next_item_width(width)
        field, text = f"##{parameter.name}.{k}", f"{axis} %.4g"
        moved, to = imgui.drag_float(field, number, speed, parameter.low, parameter.high, text, flags)
        if moved:
            changed, new[k] = True, significant(to)
    imgui.end_group()
    return changed, tuple(new)


def _default_button(context: PanelContext, parameter: Parameter, value: Value) -> bool:
    imgui.begin_disabled(value == parameter.default)
    imgui.push_style_color(imgui.Col_.button, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.MUTED))
    pressed = imgui.button(
        f"{icons.ICON_FA_ARROW_ROTATE_LEFT}##{parameter.name}_reset", (context.px(26.0), 0.0)
    )
    imgui.pop_style_color(2)
    imgui.end_disabled()
    note(context, f"vehicle/param/{parameter.name}/reset")
    tooltip(f"Default: {shown(parameter.default)} {parameter.unit}".rstrip())
    return pressed


def is_switch(parameter: Parameter) -> bool:
    """Whether it is on or off, 1 or 0."""
    return parameter.structural and parameter.size == 1 and (parameter.low, parameter.high) == (0.0, 1.0)


def drag_speed(parameter: Parameter, value: Value) -> float:
    """Change per pixel: half a per cent of the value, or of the default, or of a small part of the range."""
    size = max(abs(x) for x in (*flat(value), *flat(parameter.default)))
    return 0.005 * size if size > 0.0 else 1e-4 * min(parameter.high - parameter.low, 100.0)


def describe(parameter: Parameter) -> str:
    """Tooltip: meaning, unit and range, default."""
    optional = " Off while zero." if parameter.optional else ""
    return (
        f"{parameter.doc}{optional}\n"
        f"{parameter.allowed}; default {shown(parameter.default)}\n"
        f"{'Click.' if is_switch(parameter) else 'Drag, or double-click to type.'}"
    )


def flat(value: Value) -> tuple[float, ...]:
    """The numbers of a parameter."""
    return value if isinstance(value, tuple) else (value,)


def shown(value: Value) -> str:
    """As text: '1.6' or '560, 2300, 2000'."""
    return ", ".join(f"{x:g}" for x in flat(value))
