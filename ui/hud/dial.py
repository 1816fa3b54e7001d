"""The round instrument of each kind of vehicle: attitude indicator, speedometer, compass, board from above.

What they show comes out of a lane as flight data, which is pure.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise

import numpy as np
from imgui_bundle import imgui

from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.vehicle_config import Bar, Dial, Readout, named_values
from sim.vehicles import VEHICLES
from ui.hud.pen import Pen, Point, Vertex
from ui.settings.view_settings import SI, read
from ui.window import theme

ROUNDING = 1e-9
"""Less than this is rounding and no motion, in whatever unit."""


@dataclass(frozen=True, slots=True)
class FlightData:
    """In a pilot's terms and units."""

    speed_mps: float
    """Over all directions."""
    climb_mps: float
    height_m: float
    """Above the ground; nan without ground."""
    heading_deg: float
    """Of the nose, clockwise from the world's +y (north), 0..360."""
    pitch_rad: float
    """Nose up is positive."""
    roll_rad: float
    """Right side down is positive."""
    bars: tuple[tuple[Bar, float], ...] = ()
    """Beside the numbers, with their values; nan where there is nothing to show."""
    dial: Dial = field(default_factory=Dial)
    dial_values: Mapping[str, float] = field(default_factory=dict)
    """Of the dial's terms."""
    rows: tuple[tuple[str, str, str], ...] = ()
    """(name, number, unit) of what its config has the pilot read."""
    held: bool = False
    """It turns about a fixed point."""

    @property
    def goes(self) -> bool:
        """Somewhere, so that heading and dial mean something."""
        return not self.held and self.dial.kind != "none"


def flight_data(lane: LaneSnapshot, units: str = SI) -> FlightData:
    """From pose, body twist and observables; the rows in `units`, one of `ui.settings.view_settings.UNITS`."""
    R_wb, x_b_w = lane.T_wb[:3, :3], lane.T_wb[:3, 0]
    v_w = R_wb @ lane.twist_b[3:6]
    instruments, values = lane.config.instruments, values_of(lane)
    values |= {
        "speed": float(np.linalg.norm(v_w)),
        "climb": float(v_w[2]),
        "height": float(lane.height_above_ground_m),
        "ahead": float(lane.twist_b[3]),
        "turn": -float(lane.twist_b[2]),
        "turning": float(np.linalg.norm(lane.twist_b[:3])),
    }
    return FlightData(
        speed_mps=float(np.linalg.norm(v_w)),
        climb_mps=float(v_w[2]),
        height_m=float(lane.height_above_ground_m),
        heading_deg=math.degrees(math.atan2(x_b_w[0], x_b_w[1])) % 360.0,
        pitch_rad=math.asin(min(max(float(x_b_w[2]), -1.0), 1.0)),
        roll_rad=math.atan2(float(R_wb[2, 1]), float(R_wb[2, 2])),
        bars=tuple((bar, _finite(bar.value.value(values))) for bar in instruments.bars),
        dial=instruments.dial,
        dial_values={name: _finite(term.value(values)) for name, term in instruments.dial.terms.items()},
        rows=tuple((row.name, *read_row(row, values, units)) for row in instruments.rows),
        held=lane.pivot_w is not None,
    )


def values_of(lane: LaneSnapshot) -> dict[str, float]:
    """What a vehicle's data may name, at the moment of a snapshot."""
    return named_values(
        VEHICLES.get(lane.vehicle),
        controls=lane.controls,
        shape=lane.shape,
        parameters=lane.parameters,
        observables=lane.observables,
    )


def read_row(row: Readout, values: Mapping[str, float], units: str) -> tuple[str, str]:
    """(number, unit); what is told to the millimetre is no height, and stays in metres."""
    factor, unit = read(1.0, row.unit, units)
    if factor == 1.0 or row.scientific or row.decimals > 1:
        return number_of(row, values), row.unit
    decimals = 0 if unit == "ft" else row.decimals
    return number_of(replace(row, decimals=decimals), values, factor), unit


def number_of(row: Readout, values: Mapping[str, float], factor: float = 1.0) -> str:
    """As it is printed; a dash where there is none."""
    value = factor * row.value.value(values)
    if not math.isfinite(value):
        return "\N{EM DASH}"
    if row.scientific:
        return f"{value:.0e}" if abs(value) > ROUNDING else "0"
    return f"{round(value, row.decimals) + 0.0:{'+' if row.signed else ''}.{row.decimals}f}"


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan


def compass(heading_deg: float) -> str:
    """'N', '030', 'E': what a tape writes at a multiple of ten degrees."""
    degrees = round(heading_deg) % 360
    return {0: "N", 90: "E", 180: "S", 270: "W"}.get(degrees, f"{degrees:03d}")


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


_BOARD = ((-0.1, -0.6), (0.1, -0.6), (0.1, 0.6), (-0.1, 0.6))
"""(to the right, ahead) in radii."""
_SHOULDERS = ((-0.44, -0.07), (0.44, -0.07), (0.44, 0.07), (-0.44, 0.07))
_AXLES = 0.5
_MARKS_DEG = range(-90, 91, 30)


def draw_board(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
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


WIND, WATER = theme.ACCENT_BRIGHT, theme.rgb(0x8EC5E6)
_LEAST_MPS = 0.05
_HULL = ((0.0, 0.36), (0.11, 0.18), (0.13, -0.1), (0.1, -0.3), (-0.1, -0.3), (-0.13, -0.1), (-0.11, 0.18))
"""(to the right, ahead) in radii."""


def draw_compass(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
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


SHOWN_PITCH_RAD = math.radians(30.0)
"""Pitch between the centre and the rim."""
ARC_STEPS = 28
BANK_MARKS_DEG = (-60, -30, -20, -10, 0, 10, 20, 30, 60)


def draw_horizon(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
    """A round instrument of `radius` pixels."""
    offset = offset_of(data.pitch_rad)
    across, down = axes_of(data.roll_rad)
    pen.draw_list.add_circle_filled(centre, radius, theme.packed(theme.SKY), 48)
    earth: list[Vertex] = [at(centre, radius, across, down, point) for point in earth_outline(offset)]
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


def draw_speed(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
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


_DIALS: dict[str, Callable[[Pen, Point, float, FlightData], None]] = {
    "horizon": draw_horizon,
    "speed": draw_speed,
    "compass": draw_compass,
    "board": draw_board,
}


def draw_dial(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
    """The dial that the data name, of `radius` pixels."""
    _DIALS[data.dial.kind](pen, centre, radius, data)
