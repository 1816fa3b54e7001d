"""The help: all keys while the present vehicle is flown, in two or three columns over the scene."""

from dataclasses import replace
from itertools import combinations, pairwise

from imgui_bundle import imgui

from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config import Keys
from ui.features.controls import ControlView
from ui.input.controllers import profile_of
from ui.input.keymap import KeyBinding, groups, key_label
from ui.input.profile import EXTRA, Profile, usual
from ui.window import theme
from ui.window.context import PanelContext, Request, ShellState, ToggleHelp
from ui.window.widgets import OVERLAY, prose

MARGIN, PADDING_PX = 16.0, (24.0, 18.0)
COLUMN_PX, GAP_PX = 326.0, 28.0
KEYS_PX = 124.0
TITLE_PX, LINE_PX, BETWEEN_PX = 58.0, 21.5, 6.0
"""Heights at scale 1: of what stands above the columns, of a line, between two groups."""
COLUMNS = (2, 3)

Block = tuple[str, list[tuple[str, str]]]
"""Heading and its rows of keys and meaning."""
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


def draw_help(context: PanelContext) -> list[Request]:
    """Over the middle of the scene, never larger than the window; a click outside or a key closes it."""
    room = imgui.get_io().display_size
    columns, scale = fitting(_blocks(context), context.scale, (room.x, room.y))
    context = replace(context, scale=scale)
    x, _, width, _ = context.scene_rect
    half = context.px(_size(columns)[0]) / 2.0
    middle = min(max(x + width / 2.0, half), max(room.x - half, half))
    imgui.set_next_window_pos((middle, room.y / 2.0), imgui.Cond_.always, (0.5, 0.5))
    imgui.push_style_var(
        imgui.StyleVar_.window_padding, (context.px(PADDING_PX[0]), context.px(PADDING_PX[1]))
    )
    imgui.begin("##help", None, OVERLAY)
    imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
    imgui.push_font(None, _font_px(context))
    _title(context)
    for number, blocks in enumerate(columns):
        if number:
            imgui.same_line(0.0, context.px(GAP_PX))
        imgui.begin_group()
        for title, rows in blocks:
            _pairs(context, title, rows)
        imgui.end_group()
    imgui.pop_font()
    position, size = imgui.get_window_pos(), imgui.get_window_size()
    context.rects["help"] = (position.x, position.y, size.x, size.y)
    clicked_outside = imgui.is_mouse_clicked(imgui.MouseButton_.left) and not imgui.is_window_hovered()
    clicked_outside = clicked_outside and not imgui.is_window_appearing()
    imgui.end()
    imgui.pop_style_var()
    return [ToggleHelp()] if clicked_outside else []


def fitting(blocks: list[Block], scale: float, room: tuple[float, float]) -> tuple[list[list[Block]], float]:
    """The blocks in columns, and the user's scale, or the largest at which they fit into `room`."""

    def fits(columns: list[list[Block]]) -> float:
        width, height = _size(columns)
        return min(scale, (room[0] - MARGIN) / width, (room[1] - MARGIN) / height)

    columns = max((in_columns(blocks, count) for count in COLUMNS), key=fits)
    return columns, fits(columns)


def in_columns(blocks: list[Block], count: int) -> list[list[Block]]:
    """In their order, so that the highest column is as low as it can be."""
    heights = [_height(block) for block in blocks]
    ends = min(
        combinations(range(1, len(blocks)), count - 1),
        key=lambda cuts: max(sum(heights[a:b]) for a, b in pairwise((0, *cuts, len(blocks)))),
    )
    return [blocks[a:b] for a, b in pairwise((0, *ends, len(blocks)))]


def _height(block: Block) -> float:
    """px at scale 1."""
    _, rows = block
    return BETWEEN_PX + LINE_PX * (1 + sum(_lines(meaning) for _, meaning in rows))


def _lines(meaning: str) -> int:
    """That it takes in its column, at any scale."""
    room = (COLUMN_PX - KEYS_PX - BETWEEN_PX) * imgui.get_font_size() / theme.FONT_PX
    return max(round(imgui.calc_text_size(meaning, False, room).y / imgui.get_text_line_height()), 1)


def _size(columns: list[list[Block]]) -> tuple[float, float]:
    """px at scale 1."""
    width = len(columns) * (COLUMN_PX + GAP_PX) - GAP_PX
    height = max(sum(map(_height, column)) for column in columns)
    return width + 2.0 * PADDING_PX[0], height + TITLE_PX + 2.0 * PADDING_PX[1]


def _font_px(context: PanelContext, share: float = 1.0) -> float:
    """Font size which, times the interface's own scale, is that of this context."""
    return theme.FONT_PX * share * context.scale / imgui.get_style().font_scale_main


def _blocks(context: PanelContext) -> list[Block]:
    keymap = context.keymap
    return [
        *lines(keymap.vehicle).items(),
        ("Mouse", list(MOUSE)),
        ("Gamepad", gamepad_lines(keymap.controls, _gamepad(context))),
        *lines(keymap.viewer).items(),
    ]


def _gamepad(context: PanelContext) -> Profile:
    """Of the first one that there is."""
    controls = context.of(ControlView)
    pads = (device for device in controls.devices if device.gamepad)
    return next((profile_of(pad, controls.profiles) for pad in pads), USUAL)


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


def _pairs(context: PanelContext, title: str, rows: list[tuple[str, str]]) -> None:
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
        prose(meaning)
    imgui.end_table()


def heading_text(context: PanelContext, title: str) -> None:
    """A small heading without a line."""
    imgui.push_font(context.fonts.bold, _font_px(context, 0.87))
    imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), title.upper())
    imgui.pop_font()


def draw_help_over(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """While it is open."""
    state = context.find(ShellState)
    return draw_help(context) if state is not None and state.help else []
