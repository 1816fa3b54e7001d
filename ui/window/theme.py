"""The look: charcoal surfaces with a little of the canyon's warmth, one sandstone accent at three brightnesses."""

from pathlib import Path
from typing import TYPE_CHECKING

import imgui_bundle
from imgui_bundle import imgui, implot

from sim.platform.values import dataclass

if TYPE_CHECKING:
    from sim.simulation.lanes.snapshot import LaneSnapshot

FONT_FOLDER = Path(imgui_bundle.__file__).parent / "assets" / "fonts"
"""Roboto (Apache License 2.0) and Font Awesome 6 Free Solid (SIL Open Font License 1.1) come with imgui-bundle."""
FONT_PX = 15.0

Colour = tuple[float, float, float, float]


def rgb(code: int, alpha: float = 1.0) -> Colour:
    """Colour from 0xRRGGBB."""
    return ((code >> 16 & 255) / 255, (code >> 8 & 255) / 255, (code & 255) / 255, alpha)


def packed(colour: Colour, alpha: float = 1.0) -> int:
    """Colour for draw lists."""
    return imgui.get_color_u32((colour[0], colour[1], colour[2], colour[3] * alpha))


INK = rgb(0xEDE8E1)
MUTED = rgb(0x9A948B)
FAINT = rgb(0x6A655E)
GROUND = rgb(0x17161A)
SURFACE = rgb(0x1F1E22)
FIELD = rgb(0x2B292E)
FIELD_HOVER = rgb(0x38353A)
FIELD_ACTIVE = rgb(0x454046)
LINE = rgb(0x3A373C)
ACCENT = rgb(0xE07A43)
ACCENT_BRIGHT = rgb(0xF5A06C)
ACCENT_DIM = rgb(0x8C4C2C)
GOOD = rgb(0x7FB77E)
WARNING = rgb(0xE9C46A)
DANGER = rgb(0xE5533D)
SKY = rgb(0x5B8FB9)
EARTH = rgb(0x8A5A3C)
AXIS_X, AXIS_Y, AXIS_Z = rgb(0xF25C4F), rgb(0x79D15A), rgb(0x5AA9FF)


@dataclass(frozen=True, slots=True)
class Fonts:
    """Faces loaded into the atlas; sizes are chosen where they are used."""

    regular: imgui.ImFont
    bold: imgui.ImFont


def load_fonts() -> Fonts:
    """Text with icons merged in, and a bold face for numbers and headings."""
    atlas = imgui.get_io().fonts
    regular = atlas.add_font_from_file_ttf(str(FONT_FOLDER / "Roboto" / "Roboto-Regular.ttf"), FONT_PX)
    _merge_icons()
    bold = atlas.add_font_from_file_ttf(str(FONT_FOLDER / "Roboto" / "Roboto-Bold.ttf"), FONT_PX)
    _merge_icons()
    return Fonts(regular, bold)


def _merge_icons() -> None:
    config = imgui.ImFontConfig()
    config.merge_mode = True
    config.glyph_min_advance_x = FONT_PX
    path = FONT_FOLDER / "Font_Awesome_6_Free-Solid-900.otf"
    imgui.get_io().fonts.add_font_from_file_ttf(str(path), FONT_PX * 0.87, config)


def apply(scale: float = 1.0) -> None:
    """Set imgui's and implot's styles. `scale` is the user's; the display's own is in the framebuffer scale."""
    # Sizes are set from scratch every time, so that scales never compound.
    style = imgui.get_style()
    _sizes(style)
    _colours(style)
    style.scale_all_sizes(scale)
    style.font_size_base = FONT_PX
    style.font_scale_main = scale
    _plot_style(scale)


def _sizes(style: imgui.Style) -> None:
    style.window_padding = imgui.ImVec2(12.0, 10.0)
    style.frame_padding = imgui.ImVec2(9.0, 4.5)
    style.item_spacing = imgui.ImVec2(8.0, 6.0)
    style.item_inner_spacing = imgui.ImVec2(6.0, 5.0)
    style.cell_padding = imgui.ImVec2(6.0, 3.0)
    style.indent_spacing = 14.0
    style.scrollbar_size = 11.0
    style.grab_min_size = 11.0
    style.window_rounding = 8.0
    style.child_rounding = 6.0
    style.frame_rounding = 5.0
    style.popup_rounding = 7.0
    style.grab_rounding = 5.0
    style.tab_rounding = 6.0
    style.scrollbar_rounding = 6.0
    style.window_border_size = 1.0
    style.frame_border_size = 0.0
    style.popup_border_size = 1.0
    style.tab_bar_border_size = 1.0
    style.tab_bar_overline_size = 2.0
    style.docking_separator_size = 2.0
    style.separator_text_border_size = 1.0
    style.separator_text_padding = imgui.ImVec2(0.0, 5.0)
    style.window_menu_button_position = imgui.Dir.none
    style.docking_node_has_close_button = False


def _colours(style: imgui.Style) -> None:
    none = (0.0, 0.0, 0.0, 0.0)
    palette = {
        "text": INK, "text_disabled": MUTED, "text_selected_bg": (*ACCENT[:3], 0.35), "text_link": ACCENT_BRIGHT,
        "window_bg": SURFACE, "child_bg": none, "popup_bg": rgb(0x242227, 0.98), "menu_bar_bg": GROUND,
        "border": LINE, "border_shadow": none, "separator": LINE,
        "separator_hovered": ACCENT_DIM, "separator_active": ACCENT,
        "resize_grip": none, "resize_grip_hovered": ACCENT_DIM, "resize_grip_active": ACCENT,
        "frame_bg": FIELD, "frame_bg_hovered": FIELD_HOVER, "frame_bg_active": FIELD_ACTIVE,
        "button": FIELD, "button_hovered": FIELD_HOVER, "button_active": ACCENT_DIM,
        "header": rgb(0x34302F), "header_hovered": rgb(0x423A36), "header_active": ACCENT_DIM,
        "check_mark": ACCENT_BRIGHT, "checkbox_selected_bg": rgb(0x3A2E29), "input_text_cursor": INK,
        "plot_lines_hovered": ACCENT_BRIGHT, "plot_histogram_hovered": ACCENT_BRIGHT, "tree_lines": LINE,
        "drag_drop_target_bg": none, "unsaved_marker": ACCENT, "nav_windowing_highlight": ACCENT_BRIGHT,
        "nav_windowing_dim_bg": (0.05, 0.04, 0.04, 0.4),
        "slider_grab": ACCENT, "slider_grab_active": ACCENT_BRIGHT,
        "title_bg": GROUND, "title_bg_active": GROUND, "title_bg_collapsed": GROUND,
        "tab": GROUND, "tab_hovered": FIELD_HOVER, "tab_selected": SURFACE, "tab_selected_overline": ACCENT,
        "tab_dimmed": GROUND, "tab_dimmed_selected": SURFACE, "tab_dimmed_selected_overline": ACCENT_DIM,
        "scrollbar_bg": none, "scrollbar_grab": FIELD_HOVER,
        "scrollbar_grab_hovered": FIELD_ACTIVE, "scrollbar_grab_active": ACCENT_DIM,
        "docking_preview": (*ACCENT[:3], 0.4), "docking_empty_bg": none,
        "drag_drop_target": ACCENT_BRIGHT, "nav_cursor": ACCENT_BRIGHT,
        "table_header_bg": FIELD, "table_border_strong": LINE, "table_border_light": LINE,
        "table_row_bg": none, "table_row_bg_alt": (1.0, 1.0, 1.0, 0.02),
        "plot_lines": ACCENT, "plot_histogram": ACCENT, "modal_window_dim_bg": (0.05, 0.04, 0.04, 0.55),
    }  # fmt: skip
    for name, colour in palette.items():
        style.set_color_(getattr(imgui.Col_, name), imgui.ImVec4(*colour))


def _plot_style(scale: float) -> None:
    style = implot.get_style()
    style.plot_padding = imgui.ImVec2(4.0 * scale, 5.0 * scale)
    style.label_padding = imgui.ImVec2(3.0 * scale, 3.0 * scale)
    style.plot_border_size = 0.0
    style.minor_alpha = 0.0
    style.plot_min_size = imgui.ImVec2(60.0 * scale, 40.0 * scale)
    colours = {
        "frame_bg": (0.0, 0.0, 0.0, 0.0), "plot_bg": rgb(0x151417), "plot_border": LINE,
        "axis_text": MUTED, "axis_grid": (1.0, 1.0, 1.0, 0.10), "axis_tick": (1.0, 1.0, 1.0, 0.10),
        "axis_bg": (0.0, 0.0, 0.0, 0.0), "legend_bg": (0.0, 0.0, 0.0, 0.0),
    }  # fmt: skip
    for name, colour in colours.items():
        style.set_color_(getattr(implot.Col_, name), imgui.ImVec4(*colour))


SMALLEST_CONTRAST = 0.08


def encoded(linear: float) -> float:
    """sRGB transfer function."""
    linear = min(max(linear, 0.0), 1.0)
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1.0 / 2.4) - 0.055


def linear(encoded_part: float) -> float:
    """The inverse of the sRGB transfer function."""
    part = min(max(encoded_part, 0.0), 1.0)
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def screen_colour(tint: tuple[float, float, float]) -> Colour:
    """A linear tint as panels draw it."""
    red, green, blue = (encoded(part) for part in tint)
    return (red, green, blue, 1.0)


def line_colour(lane: "LaneSnapshot") -> Colour:
    """A lane's colour in plots and lists; the flown lane, whose tint is about white or grey, gets the accent."""
    if not lane.ghost and max(lane.tint) - min(lane.tint) < SMALLEST_CONTRAST:
        return ACCENT
    return screen_colour(lane.tint)
