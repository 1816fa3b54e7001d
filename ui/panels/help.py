"""F1: every key of both tables, in two columns over the scene."""

from imgui_bundle import imgui

from ui import theme
from ui.input.keymap import VEHICLE_KEYS, VIEWER_KEYS, KeyBinding, groups, key_label
from ui.panels.context import PanelContext
from ui.panels.notices import OVERLAY
from ui.panels.widgets import prose
from ui.requests import Request, ToggleHelp

COLUMN_PX = 326.0
KEYS_PX = 124.0
MOUSE = (("Left drag", "Look round"), ("Right drag", "Shift the view"), ("Wheel", "Nearer, farther"))
GAMEPAD = (
    ("Left stick", "Yaw, collective"),
    ("Right stick", "Roll, pitch"),
    ("Start, Back", "Pause, reset"),
    ("X, Y, B", "Mode, camera, autopilot"),
)


def draw(context: PanelContext) -> list[Request]:
    """Over the middle of the scene; a click outside or a key closes it."""
    x, _, width, _ = context.scene_rect
    imgui.set_next_window_pos(
        (x + width / 2.0, imgui.get_io().display_size.y / 2.0), imgui.Cond_.always, (0.5, 0.5)
    )
    imgui.set_next_window_size_constraints((0.0, 0.0), imgui.get_io().display_size)
    imgui.set_next_window_bg_alpha(1.0)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (context.px(24.0), context.px(18.0)))
    imgui.begin("##help", None, OVERLAY)
    imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
    _title(context)
    imgui.begin_group()
    _table(context, VEHICLE_KEYS, "Fly")
    _pairs(context, "Mouse", MOUSE)
    _pairs(context, "Gamepad", GAMEPAD)
    imgui.end_group()
    imgui.same_line(0.0, context.px(28.0))
    imgui.begin_group()
    _table(context, VIEWER_KEYS, "")
    imgui.end_group()
    position, size = imgui.get_window_pos(), imgui.get_window_size()
    context.rects["help"] = (position.x, position.y, size.x, size.y)
    clicked_outside = imgui.is_mouse_clicked(imgui.MouseButton_.left) and not imgui.is_window_hovered()
    clicked_outside = clicked_outside and not imgui.is_window_appearing()
    imgui.end()
    imgui.pop_style_var()
    return [ToggleHelp()] if clicked_outside else []


def lines(bindings: tuple[KeyBinding, ...]) -> dict[str, list[tuple[str, str]]]:
    """Group -> (keys, meaning) in table order: what the help shows."""
    return {
        group: [("  ".join(key_label(key) for key in b.keys), b.label) for b in members]
        for group, members in groups(bindings).items()
    }


def _title(context: PanelContext) -> None:
    imgui.push_font(context.fonts.bold, theme.FONT_PX * 1.35)
    imgui.text_unformatted("Keys")
    imgui.pop_font()
    prose("F1 or Esc closes this. Typing in a field flies nothing.")


def _table(context: PanelContext, bindings: tuple[KeyBinding, ...], prefix: str) -> None:
    for group, rows in lines(bindings).items():
        _pairs(context, f"{prefix}: {group}" if prefix else group, rows)


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
    imgui.push_font(context.fonts.bold, theme.FONT_PX * 0.87)
    imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), title.upper())
    imgui.pop_font()
