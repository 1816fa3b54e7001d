"""A speedometer: scale, needle and number, and below them the wheels as they are steered."""

import math
from itertools import pairwise

from ui import theme
from ui.hud.dials.face import face, filled, on_circle, turned, wheel
from ui.hud.flight_data import FlightData
from ui.hud.pen import Pen, Point

FIRST_RAD, SPAN_RAD = math.radians(-130.0), math.radians(260.0)
"""Bearing of nothing, and from there to the end of the scale."""
_ARC_STEPS = 40


def steps_of(full: float) -> float:
    """Between two numbers of the scale: 1, 2 or 5 times a power of ten, five to eleven of them."""
    power = 10.0 ** math.floor(math.log10(full / 5.0))
    return next(power * times for times in (1.0, 2.0, 5.0, 10.0) if full / (power * times) <= 8.0)


def bearing_of(value: float, full: float) -> float:
    """Of the needle [rad]; it stops at both ends. Backwards counts as much as ahead."""
    return FIRST_RAD + SPAN_RAD * min(abs(value) / full, 1.0)


def draw(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
    """A round instrument of `radius` pixels."""
    face(pen, centre, radius)
    full, value = data.dial.full, data.dial_values["value"]
    step = steps_of(full)
    for half in range(round(2.0 * full / step) + 1):
        major = half % 2 == 0
        bearing = bearing_of(0.5 * half * step, full)
        inner = on_circle(centre, (0.83 if major else 0.89) * radius, bearing)
        pen.line(
            inner, on_circle(centre, 0.95 * radius, bearing), (1.0, 1.0, 1.0, 0.85), 1.6 if major else 1.0
        )
        if major:
            x, y = on_circle(centre, 0.66 * radius, bearing)
            label = f"{0.5 * half * step:g}"
            pen.text((x, y - pen.px(6.0)), label, size=10.5, colour=theme.MUTED, align=0.5, bold=False)
    if math.isfinite(value):
        _needle(pen, centre, radius, bearing_of(value, full))
        _steering(pen, centre, radius, data.dial_values.get("steering"))


def _needle(pen: Pen, centre: Point, radius: float, bearing: float) -> None:
    steps = max(round(_ARC_STEPS * (bearing - FIRST_RAD) / SPAN_RAD), 1)
    arc = [
        on_circle(centre, 0.95 * radius, FIRST_RAD + (bearing - FIRST_RAD) * k / steps)
        for k in range(steps + 1)
    ]
    for a, b in pairwise(arc):
        pen.line(a, b, theme.ACCENT, 3.0)
    half = pen.px(2.6)
    outline = [(-half, -0.14 * radius), (half, -0.14 * radius), (0.0, 0.82 * radius)]
    filled(pen, turned(centre, outline, bearing), theme.ACCENT_BRIGHT)
    pen.draw_list.add_circle_filled(centre, pen.px(4.2), theme.packed(theme.INK))


def _steering(pen: Pen, centre: Point, radius: float, angle_rad: float | None) -> None:
    """Both front wheels; the angle is positive to the left."""
    if angle_rad is None or not math.isfinite(angle_rad):
        return
    y = centre[1] + 0.66 * radius
    apart = 0.2 * radius
    pen.line((centre[0] - apart, y), (centre[0] + apart, y), theme.MUTED, 1.4)
    for side in (-1.0, 1.0):
        wheel(pen, (centre[0] + side * apart, y), 0.3 * radius, -angle_rad, theme.INK)
