"""All keys while one vehicle is flown; each can be another."""

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import pairwise
from typing import Any

from imgui_bundle import imgui

from sim.commands import PilotInput
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot
from ui.input.control_setup import Conflict, ControlSetup
from ui.input.controllers import profile_of
from ui.input.keymap import VIEWER, VIEWER_KEYS, KeyBinding, groups, key_label
from ui.input.profile import (
    EXTRA,
    AxisUse,
    Calibration,
    DeviceNow,
    ForAxis,
    ForButton,
    ForKey,
    ForRange,
    Listening,
    Profile,
    Response,
    deflection,
    shaped,
)
from ui.settings.view_settings import exports_folder
from ui.window import theme
from ui.window.context import Indirect, PanelContext, Request, RescanControllers
from ui.window.widgets import Item, button, checkbox, heading, label, menu, note, prose, segmented, tooltip


@dataclass(frozen=True, slots=True)
class AssignNext(Indirect):
    """What is moved or pressed next is assigned to this; None: to nothing."""

    what: Listening | None


@dataclass(frozen=True, slots=True)
class SetProfile(Indirect):
    """What the axes and buttons of a kind of controller do."""

    profile: Profile


@dataclass(frozen=True, slots=True)
class ForgetProfile(Indirect):
    """A kind of controller does the usual again."""

    guid: str


@dataclass(frozen=True, slots=True)
class SettleKey(Indirect):
    """Whether a key that another action has is taken from it."""

    take: bool


@dataclass(frozen=True, slots=True)
class UsualKeys(Indirect):
    """An action has its usual keys again."""

    scope: str
    action: str


@dataclass(frozen=True, slots=True)
class ExportControls(Indirect):
    """Write profiles and keys to a file that others can open."""


ControlRequest = AssignNext | SetProfile | ForgetProfile | SettleKey | UsualKeys | ExportControls


@dataclass(frozen=True, slots=True)
class ControlView:
    """The controls in one frame."""

    devices: tuple[DeviceNow, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """By guid, where they are not the usual."""
    listening: Listening | None = None
    conflict: Conflict | None = None
    chosen_keys: frozenset[tuple[str, str]] = frozenset()
    """(scope, action) whose keys are the user's."""
    pilot: PilotInput = field(default_factory=PilotInput)
    """Where the sticks are."""


def control_view(setup: ControlSetup, devices: tuple[DeviceNow, ...]) -> ControlView:
    """For this frame."""
    chosen = frozenset((own.scope, own.action) for own in setup.keys.chosen)
    return ControlView(devices, setup.profiles, setup.listening, setup.conflict, chosen)


def carried_out(
    request: ControlRequest, setup: ControlSetup, devices: tuple[DeviceNow, ...], vehicle: str
) -> str:
    """Do it; returns what is to be told. Raises InputError where a file cannot be written."""
    match request:
        case AssignNext(what):
            setup.listen(what, devices)
        case SetProfile(profile):
            setup.set_profile(profile)
        case ForgetProfile(guid):
            setup.forget(guid)
        case SettleKey(take):
            setup.settle(vehicle, take=take)
        case UsualKeys(scope, action):
            setup.usual_keys(scope, action)
        case ExportControls():
            name = devices[0].name if devices else "keys"
            return f"Controls saved: {setup.export(name, exports_folder())}"
    return ""


@dataclass(slots=True)
class ControlsPage:
    """What is open in the controls panel."""

    name: str = "sticks"
    axis: str = ""
    """Whose response is shown."""


KEYS_PX = 118.0


def draw_key_table(vehicle: str, context: PanelContext) -> list[Request]:
    """What flies it, then what the viewer has; a conflict before both."""
    controls = context.of(ControlView)
    requests: list[Request] = []
    if controls.conflict is not None:
        requests += _conflict(controls.conflict, context)
    keymap = context.keymap
    for scope, table in ((vehicle, keymap.vehicle), (VIEWER, keymap.viewer)):
        for group, bindings in groups(table).items():
            heading(context, group)
            for binding in bindings:
                requests += _row(scope, binding, context)
    return requests


def _conflict(conflict: Conflict, context: PanelContext) -> list[Request]:
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.WARNING))
    imgui.text_wrapped(f"{key_label(conflict.key)} is taken: {conflict.label}")
    imgui.pop_style_color()
    if button(context, "keys/take", "Take it from there", "What had it loses it, and can be given another."):
        return [SettleKey(take=True)]
    imgui.same_line()
    return [SettleKey(take=False)] if button(context, "keys/leave", "Leave it") else []


def _row(scope: str, binding: KeyBinding, context: PanelContext) -> list[Request]:
    controls = context.of(ControlView)
    wanted = ForKey(scope, binding.action)
    waits = controls.listening == wanted
    own = (scope, binding.action) in controls.chosen_keys
    text = "press a key ..." if waits else "  ".join(key_label(key) for key in binding.keys) or "none"
    name = f"keys/{binding.action}"
    requests: list[Request] = []
    doc = f"{binding.label}. Click, then press the key that is to do it; Esc leaves it."
    if not binding.keys:
        imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.WARNING))
    if button(context, name, text, doc, width=context.px(KEYS_PX), lit=waits or own):
        requests.append(AssignNext(None if waits else wanted))
    if not binding.keys:
        imgui.pop_style_color()
    imgui.same_line()
    if own:
        if button(context, f"{name}/usual", "usual", "The usual keys again."):
            requests.append(UsualKeys(scope, binding.action))
        imgui.same_line()
    prose(binding.label)
    return requests


PAGES = (
    Item("sticks", "Controllers", "How they stand and what they do."),
    Item("keys", "Keys", "All keys while this vehicle is flown; click one and press another."),
)
SIDES = {"pitch": "ahead", "roll": "right", "yaw": "right", "throttle": "up", EXTRA: "in"}
"""To which side an axis is to be moved that is being assigned."""
CURVE_PX = 74.0


def draw_controls(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """One page of two."""
    page = context.of(ControlsPage)
    chosen = segmented(context, "controls/page", PAGES, page.name)
    if chosen is not None:
        page.name = chosen
    if page.name == "keys":
        return draw_key_table(snapshot.lanes[0].vehicle, context)
    return _devices(context)


def _devices(context: PanelContext) -> list[Request]:
    controls = context.of(ControlView)
    requests: list[Request] = []
    if button(
        context, "controls/rescan", "Look again", "For joysticks that were plugged in after the start."
    ):
        requests.append(RescanControllers())
    imgui.same_line()
    doc = "Write profiles and keys to a file; opened or dropped here, it counts there."
    if button(context, "controls/export", "Export", doc):
        requests.append(ExportControls())
    if not controls.devices:
        prose("No gamepad or joystick was found. The keys fly.")
    for device in controls.devices:
        requests += _device(device, context)
    return requests


def _device(device: DeviceNow, context: PanelContext) -> list[Request]:
    controls = context.of(ControlView)
    heading(context, device.name)
    profile = profile_of(device, controls.profiles)
    requests: list[Request] = []
    for axis, value in device.axes.items():
        _bar(axis, value if axis in device.moved else 0.0, context)
    _buttons(device, profile, context)
    for target in ("pitch", "roll", "yaw", "throttle"):
        requests += _target(target, device, profile, context)
    requests += _button_actions(context)
    if device.guid in controls.profiles:
        doc = "What a controller of this kind does without any choice."
        if button(context, f"controls/usual/{device.guid}", "Back to the usual", doc):
            requests.append(ForgetProfile(device.guid))
    return requests


def _bar(name: str, value: float, context: PanelContext) -> None:
    """From the middle to where the axis is."""
    label(context, name)
    width, height = imgui.get_content_region_avail().x, imgui.get_text_line_height()
    imgui.dummy((width, height))
    note(context, f"controls/axis/{name}")
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    pen, middle = imgui.get_window_draw_list(), 0.5 * (low.x + high.x)
    pen.add_rect_filled(low, high, theme.packed(theme.FIELD), context.px(3.0))
    end = middle + 0.5 * (high.x - low.x) * min(max(value, -1.0), 1.0)
    pen.add_rect_filled((min(middle, end), low.y), (max(middle, end), high.y), theme.packed(theme.ACCENT))
    pen.add_line((middle, low.y), (middle, high.y), theme.packed(theme.MUTED))


def _buttons(device: DeviceNow, profile: Profile, context: PanelContext) -> None:
    right = imgui.get_cursor_screen_pos().x + imgui.get_content_region_avail().x
    for index, name in enumerate(device.buttons):
        if index and imgui.get_item_rect_max().x + context.px(34.0) < right:
            imgui.same_line(0.0, context.px(3.0))
        lit = name in device.down
        imgui.push_style_color(imgui.Col_.button, imgui.ImVec4(*(theme.ACCENT if lit else theme.FIELD)))
        imgui.small_button(f"{name}##{device.guid}")
        imgui.pop_style_color()
        note(context, f"controls/button/{name}")
        tooltip(profile.buttons.get(name, "Does nothing, or what the vehicle has for it."))


def _target(target: str, device: DeviceNow, profile: Profile, context: PanelContext) -> list[Request]:
    page = context.of(ControlsPage)
    words = context.keymap.controls.words
    use = next((use for use in profile.axes if use.target == target), None)
    waits = context.of(ControlView).listening == ForAxis(target)
    label(context, words.get(target, target).capitalize())
    text = f"move it {SIDES[target]} ..." if waits else "none" if use is None else use.source
    doc = f"Click, then move the axis that is to do this: {SIDES[target]}."
    requests: list[Request] = []
    if button(context, f"controls/assign/{target}", text, doc, lit=waits, width=context.px(96.0)):
        requests.append(AssignNext(None if waits else ForAxis(target)))
    if use is None:
        return requests
    imgui.same_line()
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), f"{deflection(device, profile, use):+.2f}")
    imgui.same_line()
    key = f"{device.guid}/{target}"
    if button(
        context,
        f"controls/response/{target}",
        "Response",
        "How it answers.",
        lit=page.axis == key,
    ):
        page.axis = "" if page.axis == key else key
    if page.axis == key:
        requests += _response(use, device, profile, context)
    return requests


def _response(use: AxisUse, device: DeviceNow, profile: Profile, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    changed = _shape(use, context)
    _curve(changed.response, context)
    name = use.target
    if checkbox(context, f"controls/invert/{name}", "Invert", use.response.inverted):
        changed = replace(changed, response=replace(changed.response, inverted=not use.response.inverted))
    imgui.same_line()
    doc = "Left alone, what it moves stays where it is: the axis says how fast, not where."
    if checkbox(context, f"controls/hold/{name}", "Holds", use.holds, doc):
        changed = replace(changed, holds=not use.holds)
    calibrates = context.of(ControlView).listening == ForRange(device.guid, use.source)
    text = "Done" if calibrates else "Calibrate"
    doc = "Let go of the axis, click, move it to both ends a few times, click again."
    if button(context, f"controls/calibrate/{name}", text, doc, lit=calibrates):
        requests.append(AssignNext(None if calibrates else ForRange(device.guid, use.source)))
    imgui.same_line()
    if button(context, f"controls/uncalibrate/{name}", "As reported", "Without calibration."):
        changed = replace(changed, calibration=Calibration())
    imgui.same_line()
    imgui.text_colored(
        imgui.ImVec4(*theme.MUTED),
        f"{use.calibration.low:+.2f} {use.calibration.centre:+.2f} {use.calibration.high:+.2f}",
    )
    if changed != use:
        axes = tuple(changed if each == use else each for each in profile.axes)
        requests.append(SetProfile(replace(profile, axes=axes)))
    return requests


def _shape(use: AxisUse, context: PanelContext) -> AxisUse:
    """Dead zone, expo and scale, each a slider."""
    response, name = use.response, use.target
    rows = (
        (
            "deadzone",
            "Dead zone",
            response.deadzone,
            0.5,
            "Share of the throw around the rest that counts as none.",
        ),
        ("expo", "Expo", response.expo, 1.0, "0: straight; 1: cubic, finest around the rest."),
        ("scale", "Scale", response.scale, 1.5, "What the full throw is worth."),
    )
    for part, text, value, most, doc in rows:
        label(context, text, doc)
        slid, new = imgui.slider_float(
            f"##{name}/{part}", value, 0.0, most, "%.2f", imgui.SliderFlags_.always_clamp
        )
        note(context, f"controls/{part}/{name}")
        tooltip(doc)
        if slid:
            changed: dict[str, Any] = {part: round(new, 3)}
            response = replace(response, **changed)
    return replace(use, response=response)


def _curve(response: Response, context: PanelContext) -> None:
    """Deflection over throw, with the dead zone."""
    size = context.px(CURVE_PX)
    imgui.dummy((size, size))
    note(context, "controls/curve")
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    pen = imgui.get_window_draw_list()
    pen.add_rect_filled(low, high, theme.packed(theme.FIELD), context.px(3.0))
    upright = replace(response, inverted=False)
    points = []
    for k in range(33):
        x = -1.0 + k / 16.0
        inside = max(abs(x) - response.deadzone, 0.0) / (1.0 - response.deadzone)
        y = shaped(inside if x > 0.0 else -inside, upright)
        points.append((low.x + 0.5 * (x + 1.0) * size, high.y - 0.5 * (y + 1.0) * size))
    for begin, end in pairwise(points):
        pen.add_line(begin, end, theme.packed(theme.ACCENT_BRIGHT), context.px(1.5))
    imgui.same_line()


def _button_actions(context: PanelContext) -> list[Request]:
    """Choose an action, then press the button that is to do it."""
    listening = context.of(ControlView).listening
    labels = {b.action: b.label for b in VIEWER_KEYS}
    labels |= {b.action: b.label for b in context.keymap.vehicle if b.action[-1] not in "+-"}
    waits = listening.action if isinstance(listening, ForButton) else ""
    label(context, "A button", "Choose what it is to do, then press it.")
    shown = f"press a button for: {labels.get(waits, waits)}" if waits else "choose, then press it"
    items = [Item(action, text) for action, text in labels.items()]
    chosen = menu(context, "controls/action", items, waits, shown)
    return [] if chosen is None else [AssignNext(ForButton(chosen))]
