"""The attitude indicator: sky and earth behind a fixed aircraft, with pitch ladder and bank scale."""

import math

from ui import theme
from ui.hud.flight_data import FlightData
from ui.hud.pen import Pen, Point

SHOWN_PITCH_RAD = math.radians(30.0)
"""Pitch between the centre and the rim."""
ARC_STEPS = 28
BANK_MARKS_DEG = (-60, -30, -20, -10, 0, 10, 20, 30, 60)


def draw(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
    """A round instrument of `radius` pixels."""
    offset = offset_of(data.pitch_rad)
    across, down = axes_of(data.roll_rad)
    pen.draw_list.add_circle_filled(centre, radius, theme.packed(theme.SKY), 48)
    earth = [at(centre, radius, across, down, point) for point in earth_outline(offset)]
    if len(earth) > 2:
        pen.draw_list.add_convex_poly_filled(earth, theme.packed(theme.EARTH))
    half = math.sqrt(max(1.0 - offset * offset, 0.0))
    if abs(offset) < 1.0:
        pen.line(
            at(centre, radius, across, down, (-half, offset)),
            at(centre, radius, across, down, (half, offset)),
        )
    _ladder(pen, centre, radius, offset, across, down)
    _bank_scale(pen, centre, radius, data.roll_rad)
    _aircraft(pen, centre, radius)
    pen.draw_list.add_circle(centre, radius, theme.packed(theme.rgb(0x0B0A0C, 0.9)), 48, pen.px(2.5))


def offset_of(pitch_rad: float) -> float:
    """How far below the centre the horizon stands, in radii: nose up moves it down; at the rim it stays visible."""
    return min(max(pitch_rad / SHOWN_PITCH_RAD, -0.94), 0.94)


def axes_of(roll_rad: float) -> tuple[Point, Point]:
    """Screen directions (y down) along the horizon and towards the earth: rolling right turns the horizon left."""
    cos, sin = math.cos(roll_rad), math.sin(roll_rad)
    return (cos, -sin), (sin, cos)


def at(centre: Point, radius: float, across: Point, down: Point, point: Point) -> Point:
    """Screen position of a point given along the horizon and towards the earth, in radii."""
    x, y = point
    return (
        centre[0] + radius * (x * across[0] + y * down[0]),
        centre[1] + radius * (x * across[1] + y * down[1]),
    )


def earth_outline(offset: float) -> list[Point]:
    """The part of the unit disc below the horizon, (along, towards the earth)."""
    start = math.asin(min(max(offset, -1.0), 1.0))
    angles = [start + (math.pi - 2.0 * start) * i / ARC_STEPS for i in range(ARC_STEPS + 1)]
    return [(math.cos(angle), math.sin(angle)) for angle in angles]


def _ladder(pen: Pen, centre: Point, radius: float, offset: float, across: Point, down: Point) -> None:
    for degrees in (-20, -10, 10, 20):
        height = offset - math.radians(degrees) / SHOWN_PITCH_RAD
        if abs(height) < 0.72:
            half = 0.26 if degrees % 20 == 0 else 0.16
            left = at(centre, radius, across, down, (-half, height))
            pen.line(left, at(centre, radius, across, down, (half, height)), (1.0, 1.0, 1.0, 0.75), 1.0)


def _bank_scale(pen: Pen, centre: Point, radius: float, roll_rad: float) -> None:
    for degrees in BANK_MARKS_DEG:
        angle = math.radians(degrees)
        direction = (math.sin(angle), -math.cos(angle))
        inner = 0.86 if degrees % 30 == 0 else 0.91
        a = (centre[0] + inner * radius * direction[0], centre[1] + inner * radius * direction[1])
        b = (centre[0] + 0.98 * radius * direction[0], centre[1] + 0.98 * radius * direction[1])
        pen.line(a, b, (1.0, 1.0, 1.0, 0.85), 1.2)
    up = (-math.sin(roll_rad), -math.cos(roll_rad))
    side = (-up[1], up[0])
    tip = (centre[0] + 0.84 * radius * up[0], centre[1] + 0.84 * radius * up[1])
    base = (centre[0] + 0.71 * radius * up[0], centre[1] + 0.71 * radius * up[1])
    wing = 0.065 * radius
    left = (base[0] - wing * side[0], base[1] - wing * side[1])
    right = (base[0] + wing * side[0], base[1] + wing * side[1])
    pen.draw_list.add_triangle_filled(tip, right, left, theme.packed(theme.INK))


def _aircraft(pen: Pen, centre: Point, radius: float) -> None:
    x, y = centre
    for side in (-1.0, 1.0):
        root, tip = x + side * 0.2 * radius, x + side * 0.52 * radius
        pen.edged_line((tip, y), (root, y), theme.ACCENT_BRIGHT, 2.6)
        pen.edged_line((root, y), (root, y + 0.1 * radius), theme.ACCENT_BRIGHT, 2.6)
    pen.draw_list.add_circle_filled(centre, pen.px(3.6), theme.packed(theme.rgb(0x0B0A0C, 0.75)))
    pen.draw_list.add_circle_filled(centre, pen.px(2.4), theme.packed(theme.ACCENT_BRIGHT))
