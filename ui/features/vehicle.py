"""The vehicle, and its parameters as it declares them."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from time import perf_counter

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import RenewVehicle, SetParameter, SetVehicle
from sim.control.autopilots import autopilot_in
from sim.models.asset import check_model
from sim.platform.errors import InputError
from sim.platform.user_files import SavedFile
from sim.platform.values import dataclass
from sim.scene import Scene
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config.registry import Renewal, own_program, renewal, saved_file
from sim.vehicles import VEHICLES
from sim.vehicles.forms.parameters import Parameter, Value
from ui.features.feature import Actions, App
from ui.features.notices import Toasts
from ui.settings.catalogue import load_catalogue
from ui.window import theme
from ui.window.context import Action, PanelContext, Request
from ui.window.widgets import Item, heading, label, menu, menu_text, note, prose, significant, swaps, tooltip


@dataclass(slots=True)
class FlownParameters:
    """Of the flown vehicle, as the panels know them: what the user edits is here before the simulation has it."""

    values: dict[str, Value] = field(default_factory=dict)
    flying: str = ""
    """Name of the vehicle that is flown in the present, whatever is shown; empty until it is known."""
    vehicle: str = ""
    """Whose values they are."""
    by_vehicle: dict[str, dict[str, Value]] = field(default_factory=dict)
    """The scene's values over the defaults, then what the user edits, as the simulation has it."""


def observe_parameters(snapshot: Snapshot, context: PanelContext) -> None:
    """Another vehicle has other parameters; those of one that comes back are as they were left."""
    parameters, flown = context.of(FlownParameters), snapshot.lanes[0].vehicle
    if snapshot.look_back is None:
        parameters.flying = flown
    if flown == parameters.vehicle:
        return
    parameters.vehicle = flown
    if flown not in parameters.by_vehicle:
        entry, scene = context.catalogue.vehicles.get(flown), context.find(Scene)
        defaults = entry.defaults() if entry else {}
        own: Mapping[str, Value] = {} if scene is None else scene.parameters.get(flown, {})
        own = scene.vehicle.values if scene is not None and scene.vehicle.name == flown else own
        parameters.by_vehicle[flown] = {**defaults, **own}
    parameters.values = parameters.by_vehicle[flown]


NAME_WIDTH = 112.0
_FIELDS = 4
"""Most numbers that stand side by side."""


def draw_vehicle(snapshot: Snapshot, context: PanelContext) -> list[Request]:
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
        if parameter.body:
            continue  # those of a body are on the page Model
        requests += parameter_row(context, parameter)
    return requests


def parameter_row(context: PanelContext, parameter: Parameter) -> list[Request]:
    """Its name, a field of the value, and a button back to its default."""
    parameters = context.of(FlownParameters)
    value = parameters.values.get(parameter.name, parameter.default)
    label(context, parameter.name.replace("_", " "), describe(parameter), width=NAME_WIDTH)
    left, gap = imgui.get_cursor_pos_x(), context.px(4.0)
    width = imgui.get_content_region_avail().x - context.px(26.0) - gap
    imgui.set_next_item_width(width)
    changed, new = _field(parameter, value)
    done = imgui.is_item_deactivated_after_edit()
    note(context, f"vehicle/param/{parameter.name}")
    tooltip(describe(parameter))
    if changed:
        parameters.values[parameter.name] = new
    # Other equations need another kernel: not at every pixel of a drag.
    sends = done if (parameter.optional or parameter.structural) and not is_switch(parameter) else changed
    requests: list[Request] = []
    if sends:
        requests.append(SetParameter(parameter.name, parameters.values.get(parameter.name, new)))
    imgui.same_line(left + width + gap)
    if _default_button(context, parameter, value):
        parameters.values[parameter.name] = parameter.default
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


EVERY_S = 0.25
"""Wall time between two looks; a file is read once it has stayed the same for one of them."""


class OwnVehicle:
    """Remembers what the files were like when they were last taken up, or refused."""

    def __init__(self) -> None:
        self._name = ""
        self._program: Path | None = None
        self._files: SavedFile | None = None
        self._next_s = 0.0
        self._latest: Renewal | None = None
        self.mistake = ""
        """Why the files as they were last saved are not taken up; empty: they are."""

    def poll(self, name: str, now_s: float) -> RenewVehicle | None:
        """Once a frame, for the vehicle that is flown: what takes up its changed files, where there are any.

        Raises InputError, once, for files that do not hold together; what flies is left as it is.
        """
        if name != self._name:
            self._name, self._program = name, own_program(name)
            self._files = None if self._program is None else saved_file(VEHICLES[name], self._program)
            self._latest, self.mistake = None, ""
        if self._program is None or self._files is None or now_s < self._next_s:
            return None
        self._next_s = now_s + EVERY_S
        if not self._files.saved():
            return None
        self._files.take()
        try:
            self._latest = self._read(self._program)
        except InputError as error:
            self.mistake = str(error)
            raise
        self.mistake = ""
        return RenewVehicle(self._latest)

    def _read(self, program: Path) -> Renewal:
        try:
            found = renewal(self._name, self._latest)
            check_model(found.config)
            autopilot_in(found.config, found.kind)  # refuses one that does not suit it
        except InputError:
            raise
        except Exception as error:  # the file is a program, and may raise anything
            raise InputError(f"{program}: cannot be taken up: {type(error).__name__}: {error}") from error
        return found


@dataclass(frozen=True, slots=True)
class VehicleRenewed(Action):
    """The scene's vehicle is of another class now: what was built of the old one has to be built anew."""


class VehicleActions(Actions):
    """Takes up what is saved of a vehicle of one's own; with a mistake, it is told until it is mended, and flies on."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._own = OwnVehicle()

    def begin(self) -> None:
        self._kind = VEHICLES.get(self.app.scene.vehicle.name)

    def poll(self, snapshot: Snapshot) -> None:
        before = self._own.mistake
        try:
            self._take_up(snapshot.lanes[0].vehicle)
        finally:
            toasts = self.app.context.of(Toasts)
            toasts.stand(self._own.mistake, perf_counter(), instead_of=before)

    def _take_up(self, flown: str) -> None:
        renewed = self._own.poll(flown, perf_counter())
        if renewed is not None:
            self.app.submit(renewed)
        kind = VEHICLES.get(self.app.scene.vehicle.name)
        if kind is not self._kind:
            self._kind = kind
            self.app.context.catalogue = load_catalogue()
            self.app.do(VehicleRenewed())
