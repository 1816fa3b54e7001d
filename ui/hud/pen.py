"""Lines and text with a dark edge, on a draw list."""

from dataclasses import dataclass
from functools import lru_cache

from imgui_bundle import imgui

from ui.window import theme
from ui.window.context import PanelContext

Vertex = imgui.ImVec2 | tuple[int | float, int | float] | list[int | float]
"""As imgui takes the corners of a polygon."""
Point = tuple[float, float]
GLASS = theme.rgb(0x121114, 0.70)
EDGE = theme.rgb(0x0B0A0C, 0.75)

SMALL_PX, LEAST = 560.0, 0.8
"""In a scene lower than this its instruments are smaller, but never by more than this factor."""


@dataclass(frozen=True, slots=True)
class Pen:
    """A draw list with the fonts and the scale of the instruments."""

    draw_list: imgui.ImDrawList
    fonts: theme.Fonts
    scale: float

    @classmethod
    def over(cls, context: PanelContext, *, fitting: bool = True) -> "Pen":
        """On the scene of a window; fitting: for what always stands there, and shrinks with it."""
        share = min(context.scene_rect[3] / context.px(SMALL_PX), 1.0) if fitting else 1.0
        return cls(imgui.get_background_draw_list(), context.fonts, context.scale * max(share, LEAST))

    def px(self, length: float) -> float:
        return length * self.scale

    def glass(self, low: Point, high: Point, rounding: float = 10.0) -> None:
        """A dark pane to draw on."""
        self.draw_list.add_rect_filled(low, high, theme.packed(GLASS), self.px(rounding))

    def bar(self, corner: Point, wide: float, share: float, colour: theme.Colour) -> None:
        """How much of something there is, 0..1, along the lower edge of a pane."""
        x, y = corner
        tall = self.px(4.0)
        self.draw_list.add_rect_filled(corner, (x + wide, y + tall), theme.packed(theme.LINE), self.px(2.0))
        end = (x + wide * min(max(share, 0.0), 1.0), y + tall)
        self.draw_list.add_rect_filled(corner, end, theme.packed(colour), self.px(2.0))

    def line(self, a: Point, b: Point, colour: theme.Colour = theme.INK, width: float = 1.5) -> None:
        self.draw_list.add_line(a, b, theme.packed(colour), self.px(width))

    def edged_line(self, a: Point, b: Point, colour: theme.Colour, width: float) -> None:
        """A line that stands out against anything."""
        self.line(a, b, EDGE, width + 2.0)
        self.line(a, b, colour, width)

    def text(
        self,
        at: Point,
        text: str,
        *,
        size: float,
        colour: theme.Colour = theme.INK,
        align: float = 0.0,
        bold: bool = True,
        shadow: bool = False,
    ) -> float:
        """Text whose left (align 0), centre (0.5) or right (1) top is at `at`; returns its width."""
        font, height = (self.fonts.bold if bold else self.fonts.regular), self.px(size)
        width = self.width(text, size, bold=bold)
        x, y = round(at[0] - align * width), round(at[1])
        if shadow:
            for dx, dy in ((1.0, 1.0), (-1.0, 1.0), (0.0, -1.0)):
                self.draw_list.add_text(font, height, (x + dx, y + dy), theme.packed(EDGE), text)
        self.draw_list.add_text(font, height, (x, y), theme.packed(colour), text)
        return width

    def width(self, text: str, size: float, *, bold: bool = True) -> float:
        """Of a text, in pixels."""
        return _width(self.fonts, self.px(size), text, size, bold=bold)


@lru_cache(maxsize=2048)
def _width(fonts: theme.Fonts, drawn_px: float, text: str, size: float, *, bold: bool) -> float:
    """Remembered: most of what is written stays from frame to frame."""
    imgui.push_font(fonts.bold if bold else fonts.regular, size)
    # imgui has a scale of its own, which need not be the pen's.
    width: float = imgui.calc_text_size(text).x * drawn_px / imgui.get_font_size()
    imgui.pop_font()
    return width
