"""A board from above: how the feet turn the axles, and where the torso has wound to."""

import math

from ui import theme
from ui.hud.dials.face import face, filled, on_circle, turned, wheel
from ui.hud.flight_data import FlightData
from ui.hud.pen import Pen, Point

_BOARD = ((-0.1, -0.6), (0.1, -0.6), (0.1, 0.6), (-0.1, 0.6))
"""(to the right, ahead) in radii."""
_SHOULDERS = ((-0.44, -0.07), (0.44, -0.07), (0.44, 0.07), (-0.44, 0.07))
_AXLES = 0.5
_MARKS_DEG = range(-90, 91, 30)


def draw(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
    """A round instrument of `radius` pixels; the board's front points up. Angles are positive to the left."""
    face(pen, centre, radius)
    for degrees in _MARKS_DEG:
        bearing = math.radians(degrees)
        inner = on_circle(centre, (0.84 if degrees % 90 == 0 else 0.9) * radius, bearing)
        pen.line(inner, on_circle(centre, 0.95 * radius, bearing), (1.0, 1.0, 1.0, 0.7), 1.2)
    torso, feet = data.dial_values["torso"], data.dial_values["feet"]
    if not (math.isfinite(torso) and math.isfinite(feet)):
        return
    filled(pen, turned(centre, _scaled(_BOARD, radius), 0.0), theme.EARTH)
    for along, angle in ((_AXLES, -feet), (-_AXLES, feet)):
        middle = on_circle(centre, along * radius, 0.0)
        axle = turned(middle, [(-0.24 * radius, 0.0), (0.24 * radius, 0.0)], -angle)
        pen.line(axle[0], axle[1], theme.INK, 2.0)
        for end in axle:
            wheel(pen, end, 0.2 * radius, -angle, theme.INK)
    filled(pen, turned(centre, _scaled(_SHOULDERS, radius), -torso), theme.ACCENT)
    pen.draw_list.add_circle_filled(centre, 0.15 * radius, theme.packed(theme.ACCENT_BRIGHT))
    tip = on_circle(centre, 0.93 * radius, -torso)
    pen.draw_list.add_circle_filled(tip, pen.px(3.4), theme.packed(theme.ACCENT_BRIGHT))


def _scaled(outline: tuple[Point, ...], radius: float) -> list[Point]:
    return [(radius * x, radius * y) for x, y in outline]
