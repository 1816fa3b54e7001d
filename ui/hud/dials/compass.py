"""A boat's compass: the card turns under the bow, with arrows of wind and current as they meet the boat."""

import math

from ui import theme
from ui.hud.dials.face import face, filled, on_circle, turned
from ui.hud.flight_data import FlightData
from ui.hud.pen import Pen, Point

WIND, WATER = theme.ACCENT_BRIGHT, theme.rgb(0x8EC5E6)
_LEAST_MPS = 0.05
_HULL = ((0.0, 0.36), (0.11, 0.18), (0.13, -0.1), (0.1, -0.3), (-0.1, -0.3), (-0.13, -0.1), (-0.11, 0.18))
"""(to the right, ahead) in radii."""


def draw(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
    """A round instrument of `radius` pixels; the bow points up."""
    face(pen, centre, radius)
    heading = math.radians(data.heading_deg)
    for tens in range(0, 360, 10):
        bearing = math.radians(tens) - heading
        major = tens % 30 == 0
        inner = on_circle(centre, (0.85 if major else 0.9) * radius, bearing)
        pen.line(
            inner, on_circle(centre, 0.95 * radius, bearing), (1.0, 1.0, 1.0, 0.8), 1.4 if major else 1.0
        )
    for degrees, name in ((0, "N"), (90, "E"), (180, "S"), (270, "W")):
        x, y = on_circle(centre, 0.7 * radius, math.radians(degrees) - heading)
        colour = theme.ACCENT_BRIGHT if name == "N" else theme.INK
        pen.text((x, y - pen.px(8.0)), name, size=14.0, colour=colour, align=0.5)
    hull = turned(centre, [(radius * x, radius * y) for x, y in _HULL], 0.0)
    filled(pen, hull, theme.rgb(0xEDE8E1, 0.85))
    for name, colour in (("current", WATER), ("wind", WIND)):
        x, y = (data.dial_values.get(f"{name}_{axis}", math.nan) for axis in "xy")
        if math.isfinite(x) and math.isfinite(y) and math.hypot(x, y) > _LEAST_MPS:
            _arrow(pen, centre, radius, to_bearing(x, y) - heading, colour)
    top = on_circle(centre, radius, 0.0)
    half = pen.px(5.0)
    mark = [
        (top[0] - half, top[1] - pen.px(1.0)),
        (top[0] + half, top[1] - pen.px(1.0)),
        (top[0], top[1] + half * 1.6),
    ]
    filled(pen, mark, theme.ACCENT)


def to_bearing(x_mps: float, y_mps: float) -> float:
    """Where a velocity in the world goes to, clockwise from north, which is world y [rad]."""
    return math.atan2(x_mps, y_mps)


def _arrow(pen: Pen, centre: Point, radius: float, bearing: float, colour: theme.Colour) -> None:
    """From the rim to near the hull, the way that it flows."""
    begin, end = on_circle(centre, -0.94 * radius, bearing), on_circle(centre, -0.46 * radius, bearing)
    pen.edged_line(begin, end, colour, 2.2)
    half, long = pen.px(4.5), pen.px(9.0)
    filled(pen, turned(end, [(-half, -long), (half, -long), (0.0, pen.px(2.0))], bearing), colour)
