"""Lines, text with a dark edge and marks over the scene, on a draw list: where a place is in the picture, or at which
edge of it and in which direction."""

import math
from functools import lru_cache

import numpy as np
from imgui_bundle import imgui

from sim.platform.values import dataclass
from ui.window import theme
from ui.window.context import PanelContext, Rect, SceneCamera

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


COVERED = ("goals", "hud/numbers")
"""Panes at the left, which a mark keeps clear of; the map at the right shows it itself."""

ABOVE = ("hud/heading", "hud/badges")
"""Panes at the upper edge."""
PANES = (*COVERED, *ABOVE, "hud/minimap", "caption")
"""All that lie over the scene for long."""
SIZE_MARKER, TEXT, EDGE_PX, BELOW_PX = 11.0, 14.0, 34.0, 60.0


def edge_place(
    place_w: np.ndarray, view: np.ndarray, projection: np.ndarray, rect: Rect, margin: float
) -> tuple[Point, float | None]:
    """Where a place is shown, in window coordinates, and the bearing (from x, y down) to it where it is out of view.

    Matrices (4, 4) act on columns. What is out of view, or behind the eye, is shown on the edge, `margin` inside.
    """
    x, y, width, height = rect
    half = max(width / 2.0 - margin, 1.0), max(height / 2.0 - margin, 1.0)
    clip = projection @ view @ np.append(place_w, 1.0)
    across, up = float(clip[0]), float(clip[1])
    middle = x + width / 2.0, y + height / 2.0
    if clip[3] > 1e-6:
        right, down = across / clip[3] * width / 2.0, -up / clip[3] * height / 2.0
        if abs(right) <= half[0] and abs(down) <= half[1]:
            return (middle[0] + right, middle[1] + down), None
    else:
        right, down = across * width, -up * height
    length = math.hypot(right, down)
    right, down = (right / length, down / length) if length > 1e-9 else (0.0, 1.0)
    reach = min(half[0] / max(abs(right), 1e-9), half[1] / max(abs(down), 1e-9))
    return (middle[0] + reach * right, middle[1] + reach * down), math.atan2(down, right)


def covered_parts(context: PanelContext) -> np.ndarray:
    """(k, 2, 2) parts of the scene's picture under panes: ((left, right), (lower, upper)), each from -1 to 1."""
    x, y, width, height = context.scene_rect
    panes = [context.rects[name] for name in PANES if name in context.rects]
    parts = []
    for left, top, wide, tall in panes:
        across = 2.0 * np.array([left - x, left + wide - x]) / max(width, 1.0) - 1.0
        up = 1.0 - 2.0 * np.array([top + tall - y, top - y]) / max(height, 1.0)
        parts.append([across, up])
    return np.array(parts).reshape(-1, 2, 2)


def clear_of(at: Point, covered: list[Rect], room: float) -> Point:
    """The place, moved to the right of what covers it, `room` away."""
    x, y = at
    for left, top, width, height in covered:
        if left - room < x < left + width + room and top - room < y < top + height + room:
            x = left + width + room
    return x, y


def clear_below(at: Point, covered: list[Rect], room: float) -> Point:
    """The place, moved down from what covers it, `room` away."""
    x, y = at
    for left, top, width, height in covered:
        if left - room < x < left + width + room and y < top + height + room:
            y = top + height + room
    return x, y


def draw_marker(
    name: str,
    place_w: np.ndarray,
    text: str,
    colour: theme.Colour,
    camera: SceneCamera,
    context: PanelContext,
    *,
    in_view: bool = True,
) -> None:
    """A diamond where a place is, a head of an arrow at the edge where that is not in view, and a text with it.

    in_view: whether it is marked there, too. Its own place is left in `context.rects`.
    """
    pen = Pen.over(context, fitting=False)
    rect = context.scene_rect
    (x, y), bearing = edge_place(place_w, camera.view, camera.projection, rect, pen.px(EDGE_PX))
    if bearing is None and not in_view:
        return
    size = pen.px(SIZE_MARKER)
    x, y = clear_of((x, y), [context.rects[n] for n in COVERED if n in context.rects], pen.px(EDGE_PX))
    if bearing is None:
        corners = [(x, y - size), (x + size, y), (x, y + size), (x - size, y)]
    else:
        others = [r for n, r in context.rects.items() if n in ABOVE or n.startswith("marker/")]
        x, y = clear_below((x, y), others, 2.0 * size)
        corners = [
            (x + size * r * math.cos(bearing + turn), y + size * r * math.sin(bearing + turn))
            for turn, r in ((0.0, 1.5), (2.4, 1.2), (math.pi, 0.5), (-2.4, 1.2))
        ]
    points: list[Vertex] = [imgui.ImVec2(*corner) for corner in corners]
    closed = imgui.ImDrawFlags_.closed.value
    pen.draw_list.add_polyline(points, theme.packed(EDGE), pen.px(6.0), closed)
    pen.draw_list.add_polyline(points, theme.packed(colour), pen.px(3.0), closed)
    low = y > rect[1] + rect[3] - pen.px(BELOW_PX)
    half = 0.5 * pen.width(text, TEXT)
    middle = min(max(x, rect[0] + half + pen.px(4.0)), rect[0] + rect[2] - half - pen.px(4.0))
    at = (middle, y - size - pen.px(22.0) if low else y + size + pen.px(6.0))
    pen.text(at, text, size=TEXT, colour=colour, align=0.5, shadow=True)
    context.rects[name] = (x - size, y - size, 2.0 * size, 2.0 * size)
