"""What dials share: the dark face, points on circles about a middle, and small figures that are turned."""

import math
from collections.abc import Sequence

from imgui_bundle import imgui

from ui import theme
from ui.hud.pen import Pen, Point

FACE, RIM = theme.rgb(0x1B1A1E, 0.92), theme.rgb(0x0B0A0C, 0.9)
SEGMENTS = 48


def face(pen: Pen, centre: Point, radius: float) -> None:
    """A dark disc with a rim."""
    pen.draw_list.add_circle_filled(centre, radius, theme.packed(FACE), SEGMENTS)
    pen.draw_list.add_circle(centre, radius, theme.packed(RIM), SEGMENTS, pen.px(2.5))


def on_circle(centre: Point, radius: float, bearing_rad: float) -> Point:
    """At a bearing, clockwise from the top of the screen."""
    return centre[0] + radius * math.sin(bearing_rad), centre[1] - radius * math.cos(bearing_rad)


def turned(centre: Point, outline: Sequence[Point], bearing_rad: float) -> list[Point]:
    """Points given as (to the right, ahead) in pixels, ahead being the bearing."""
    cos, sin = math.cos(bearing_rad), math.sin(bearing_rad)
    return [(centre[0] + x * cos + y * sin, centre[1] + x * sin - y * cos) for x, y in outline]


def filled(pen: Pen, points: Sequence[Point], colour: theme.Colour) -> None:
    """A convex figure."""
    pen.draw_list.add_convex_poly_filled([imgui.ImVec2(*point) for point in points], theme.packed(colour))


def wheel(pen: Pen, centre: Point, length: float, bearing_rad: float, colour: theme.Colour) -> None:
    """Seen from above."""
    half, wide = 0.5 * length, 0.22 * length
    outline = [(-wide, -half), (wide, -half), (wide, half), (-wide, half)]
    filled(pen, turned(centre, outline, bearing_rad), colour)
