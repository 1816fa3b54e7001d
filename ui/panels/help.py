"""The help: all keys while the present vehicle is flown, in two columns over the scene."""

from dataclasses import replace

from imgui_bundle import imgui

from sim.outfit import Keys
from ui import theme
from ui.input.binding import KeyBinding, groups, key_label
from ui.input.controllers import profile_of
from ui.input.profile import EXTRA, Profile, usual
from ui.panels.context import PanelContext
from ui.panels.notices import OVERLAY
from ui.panels.widgets import prose
from ui.requests import Request, ToggleHelp

SIZE = (736.0, 604.0)
"""About what the help needs at scale 1."""
MARGIN = 16.0
COLUMN_PX = 326.0
KEYS_PX = 124.0
MOUSE = (
    ("Left drag", "Look round"),
    ("Right drag", "Shift the view"),
    ("Wheel", "Nearer, farther"),
    ("Ctrl left drag", "Pull what is under the mouse"),
)
PAD_PARTS = (
    ("Left stick", ("leftx", "lefty")),
    ("Right stick", ("rightx", "righty")),
    ("Triggers", ("righttrigger", "lefttrigger")),
)
PAD_NAMES = {
    "dpup": "Cross up",
    "dpleft": "Cross left",
    "dpright": "Cross right",
    "dpdown": "Cross down",
    "leftshoulder": "L",
    "rightshoulder": "R",
}
PAD_WORDS = {"demo": "autopilot"}
USUAL = usual("", "", gamepad=True)
"""What a gamepad does without any choice."""


def draw(context: PanelContext) -> list[Request]:
    """Over the middle of the scene, never larger than the window; a click outside or a key closes it."""
    room = imgui.get_io().display_size
    context = replace(context, scale=fitting(context.scale, (room.x, room.y)))
    x, _, width, _ = context.scene_rect
    half = context.px(SIZE[0]) / 2.0
    middle = min(max(x + width / 2.0, half), max(room.x - half, half))
    imgui.set_next_window_pos((middle, room.y / 2.0), imgui.Cond_.always, (0.5, 0.5))
    imgui.push_style_var(imgui.StyleVar_.window_padding, (context.px(24.0), context.px(18.0)))
    imgui.begin("##help", None, OVERLAY)
    imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
    imgui.push_font(None, _font_px(context))
    _columns(context)
    imgui.pop_font()
    position, size = imgui.get_window_pos(), imgui.get_window_size()
    context.rects["help"] = (position.x, position.y, size.x, size.y)
    clicked_outside = imgui.is_mouse_clicked(imgui.MouseButton_.left) and not imgui.is_window_hovered()
    clicked_outside = clicked_outside and not imgui.is_window_appearing()
    imgui.end()
    imgui.pop_style_var()
    return [ToggleHelp()] if clicked_outside else []


def fitting(scale: float, room: tuple[float, float]) -> float:
    """The user's scale, or the largest at which the help fits into `room`."""
    return min(scale, (room[0] - MARGIN) / SIZE[0], (room[1] - MARGIN) / SIZE[1])


def _font_px(context: PanelContext, share: float = 1.0) -> float:
    """Font size which, times the interface's own scale, is that of this context."""
    return theme.FONT_PX * share * context.scale / imgui.get_style().font_scale_main


def _columns(context: PanelContext) -> None:
    keymap = context.keymap
    _title(context)
    imgui.begin_group()
    _table(context, keymap.vehicle)
    _pairs(context, "Mouse", MOUSE)
    _pairs(context, "Gamepad", gamepad_lines(keymap.controls, _gamepad(context)))
    imgui.end_group()
    imgui.same_line(0.0, context.px(28.0))
    imgui.begin_group()
    _table(context, keymap.viewer)
    imgui.end_group()


def _gamepad(context: PanelContext) -> Profile:
    """Of the first one that there is."""
    pads = (device for device in context.controls.devices if device.gamepad)
    return next((profile_of(pad, context.controls.profiles) for pad in pads), USUAL)


def gamepad_lines(controls: Keys, profile: Profile = USUAL) -> list[tuple[str, str]]:
    """(part of a gamepad, meaning) for one vehicle, as it is bound now."""
    words = {
        **controls.words,
        EXTRA: controls.words.get(controls.triggers) or controls.words.get("pitch", ""),
    }
    meant = {use.source: words.get(use.target, "") for use in profile.axes}
    rows = []
    for part, axes in PAD_PARTS:
        told = list(dict.fromkeys(meant[axis] for axis in axes if meant.get(axis)))
        if told:
            rows.append((part, ", ".join(told).capitalize()))
    held = {each.action: each.does for each in controls.held}
    buttons = {**controls.buttons, **profile.buttons}
    rows += [(_pad_name(name), held[does]) for name, does in buttons.items() if does in held]
    viewer = [
        (_pad_name(name), PAD_WORDS.get(does, does)) for name, does in buttons.items() if does not in held
    ]
    for pair in (viewer[at : at + 2] for at in range(0, len(viewer), 2)):
        rows.append((", ".join(name for name, _ in pair), ", ".join(does for _, does in pair).capitalize()))
    return rows


def _pad_name(button: str) -> str:
    return PAD_NAMES.get(button, button.capitalize())


def lines(bindings: tuple[KeyBinding, ...]) -> dict[str, list[tuple[str, str]]]:
    """Group -> (keys, meaning) in table order: what the help shows."""
    return {
        group: [("  ".join(key_label(key) for key in b.keys), b.label) for b in members]
        for group, members in groups(bindings).items()
    }


def _title(context: PanelContext) -> None:
    imgui.push_font(context.fonts.bold, _font_px(context, 1.35))
    imgui.text_unformatted("Keys")
    imgui.pop_font()
    keys = context.keymap
    prose(f"{keys.first('help')} or {keys.first('escape')} closes this. Typing in a field flies nothing.")


def _table(context: PanelContext, bindings: tuple[KeyBinding, ...]) -> None:
    for group, rows in lines(bindings).items():
        _pairs(context, group, rows)


def _pairs(context: PanelContext, title: str, rows) -> None:
    if not imgui.begin_table(
        f"##{title}", 2, imgui.TableFlags_.sizing_fixed_fit, (context.px(COLUMN_PX), 0.0)
    ):
        return
    imgui.table_setup_column("keys", imgui.TableColumnFlags_.width_fixed, context.px(KEYS_PX))
    imgui.table_setup_column("meaning", imgui.TableColumnFlags_.width_stretch)
    imgui.table_next_row()
    imgui.table_next_column()
    heading_text(context, title)
    for keys, meaning in rows:
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.push_font(context.fonts.bold, 0.0)
        imgui.text_unformatted(keys)
        imgui.pop_font()
        imgui.table_next_column()
        imgui.text_colored(imgui.ImVec4(*theme.MUTED), meaning)
    imgui.end_table()


def heading_text(context: PanelContext, title: str) -> None:
    """A small heading without a line."""
    imgui.push_font(context.fonts.bold, _font_px(context, 0.87))
    imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), title.upper())
    imgui.pop_font()
