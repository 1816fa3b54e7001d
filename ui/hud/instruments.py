"""Where the instruments stand within the scene."""

import math
from dataclasses import dataclass

from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config import Bar
from ui.hud.dial import FlightData, compass, draw_dial, flight_data
from ui.hud.pen import Pen, Point
from ui.window import theme
from ui.window.context import PanelContext, Rect
from ui.window.wording import real_time, speed_label

SPAN_DEG = 100.0
HEIGHT = 34.0
BOX_HALF, LABEL_HALF = 23.0, 14.0
"""Half the widths of the box with the heading, and of a label, which is not drawn half under the box."""


def marks(heading_deg: float, span_deg: float = SPAN_DEG) -> list[tuple[float, int]]:
    """Multiples of five degrees on the tape: (offset from the middle in tape widths, degrees 0..355)."""
    first = math.ceil((heading_deg - span_deg / 2.0) / 5.0)
    last = math.floor((heading_deg + span_deg / 2.0) / 5.0)
    return [((5.0 * k - heading_deg) / span_deg, (5 * k) % 360) for k in range(first, last + 1)]


def draw_heading(pen: Pen, top_centre: Point, width: float, heading_deg: float) -> None:
    """Centred under `top_centre`, with the heading in a box."""
    x, y = top_centre
    height = pen.px(HEIGHT)
    pen.glass((x - width / 2.0, y), (x + width / 2.0, y + height), 8.0)
    pen.draw_list.push_clip_rect((x - width / 2.0 + 4, y), (x + width / 2.0 - 4, y + height), True)
    for offset, degrees in marks(heading_deg):
        at = x + offset * width
        fade = max(1.0 - (2.0 * abs(offset)) ** 2, 0.0)
        colour = (*theme.INK[:3], fade)
        major = degrees % 10 == 0
        pen.line((at, y + height), (at, y + height - pen.px(7.0 if major else 4.0)), colour, 1.2)
        if degrees % 30 == 0 and abs(offset) * width > pen.px(BOX_HALF + LABEL_HALF):
            cardinal = degrees % 90 == 0
            named = (*theme.ACCENT_BRIGHT[:3], fade) if cardinal else colour
            pen.text(
                (at, y + pen.px(7.0)), compass(degrees), size=14.0, colour=named, align=0.5, bold=cardinal
            )
    pen.draw_list.pop_clip_rect()
    half = pen.px(BOX_HALF)
    low, high = (x - half, y - pen.px(2.0)), (x + half, y + pen.px(24.0))
    pen.draw_list.add_rect_filled(low, high, theme.packed(theme.rgb(0x0E0D10, 0.95)), pen.px(5.0))
    pen.draw_list.add_rect(low, high, theme.packed(theme.ACCENT), pen.px(5.0), pen.px(1.2))
    pen.text((x, y + pen.px(2.5)), f"{round(heading_deg) % 360:03d}\N{DEGREE SIGN}", size=16.0, align=0.5)
    tip = y + height
    pen.draw_list.add_triangle_filled(
        (x - pen.px(4.5), tip - pen.px(8.0)),
        (x + pen.px(4.5), tip - pen.px(8.0)),
        (x, tip),
        theme.packed(theme.ACCENT),
    )


ROW = 34.0
LABEL, LEAST_GAP = 11.0, 13.0


def draw_numbers(pen: Pen, corner: Point, width: float, data: FlightData) -> None:
    """Rows below `corner`."""
    x, y = corner
    for name, number, unit in data.rows:
        pen.text((x, y), name, size=12.0, colour=theme.MUTED)
        degrees = unit.startswith("\N{DEGREE SIGN}")  # which is small enough by itself
        size, drop, apart = (17.0, 12.0, 1.0) if degrees else (12.0, 16.0, 5.0)
        at = (x + width, y + pen.px(drop))
        unit_width = pen.text(at, unit, size=size, colour=theme.MUTED, align=1.0, bold=False)
        pen.text((x + width - unit_width - pen.px(apart), y + pen.px(10.5)), number, size=20.0, align=1.0)
        y += pen.px(ROW)


def bar_pitch(pen: Pen, width: float, data: FlightData) -> float:
    """From the middle of a bar to that of the next one [px]: their labels stand beside each other."""
    labels = [pen.width(bar.label, LABEL) for bar, _ in data.bars]
    return max([width + pen.px(LEAST_GAP), *(label + pen.px(6.0) for label in labels)])


def draw_bars(pen: Pen, corner: Point, size: Point, pitch: float, data: FlightData) -> None:
    """Upright bars of `size`, each filled from its foot, or from its mark where it goes below nothing.

    What there is nothing to show of stays empty.
    """
    (x, y), (width, height) = corner, size
    x += 0.5 * (pitch - width)
    rounding = pen.px(3.0)
    for bar, value in data.bars:
        track = theme.packed(theme.rgb(0x000000, 0.45))
        pen.draw_list.add_rect_filled((x, y), (x + width, y + height), track, rounding)
        mark = _place(bar, bar.mark, y, height)
        if math.isfinite(value):
            end, begin = _place(bar, value, y, height), mark if bar.low < 0.0 else y + height
            low, high = (x, min(begin, end)), (x + width, max(begin, end))
            pen.draw_list.add_rect_filled(low, high, theme.packed(theme.ACCENT), rounding)
        pen.edged_line((x - pen.px(2.0), mark), (x + width + pen.px(2.0), mark), theme.INK, 1.4)
        at = (x + width / 2.0, y + height + pen.px(3.0))
        pen.text(at, bar.label, size=LABEL, colour=theme.MUTED, align=0.5)
        x += pitch


def _place(bar: Bar, value: float, y: float, height: float) -> float:
    """Of a value, on the screen."""
    share = min(max((value - bar.low) / (bar.full - bar.low), 0.0), 1.0)
    return y + height * (1.0 - share)


RADIUS = 55.0
NUMBERS = 104.0
BAR = 11.0
MARGIN = 14.0
GAP = 6.0
PAD = 12.0
SMALLEST_SCENE = (360.0, 260.0)
"""Below this the scene is better seen without instruments."""


@dataclass(frozen=True, slots=True)
class Badge:
    """A word on a pane."""

    text: str
    colour: theme.Colour
    width: float


def draw_instruments(snapshot: Snapshot, context: PanelContext) -> None:
    """Heading tape on top, dial, numbers and bars at the lower left, state of the flight at the upper right.

    What goes nowhere has numbers only. Their places are left in `context.rects`.
    """
    x, y, width, height = context.scene_rect
    if width < context.px(SMALLEST_SCENE[0]) or height < context.px(SMALLEST_SCENE[1]):
        return
    pen = Pen.over(context)
    pen.draw_list.push_clip_rect((x, y), (x + width, y + height))
    data = flight_data(snapshot.lanes[0], context.view.units)
    top, tape = y + pen.px(12.0), min(pen.px(340.0), 0.45 * width)
    lower_left = (x + pen.px(MARGIN), y + height - pen.px(MARGIN))
    if data.goes:
        draw_heading(pen, (x + width / 2.0, top), tape, data.heading_deg)
        context.rects["hud/heading"] = (x + (width - tape) / 2.0, top, tape, pen.px(HEIGHT))
        context.rects["hud/numbers"] = _cluster(pen, lower_left, data)
    else:
        tape = 0.0
        context.rects["hud/numbers"] = _numbers(pen, lower_left, data)
    plain = Pen.over(context, fitting=False)
    badges = _badges(plain, snapshot, context.view.camera)
    beside_tape = (width - tape) / 2.0 - pen.px(2.0 * MARGIN)
    fits = sum(badge.width + pen.px(GAP) for badge in badges) < beside_tape
    badges_top = top if fits else top + pen.px(HEIGHT + GAP)
    context.rects["hud/badges"] = _draw_badges(plain, (x + width - pen.px(MARGIN), badges_top), badges)
    pen.draw_list.pop_clip_rect()


def _cluster(pen: Pen, lower_left: Point, data: FlightData) -> Rect:
    pad, radius = pen.px(PAD), pen.px(RADIUS)
    numbers, bar = pen.px(NUMBERS), pen.px(BAR)
    pitch = bar_pitch(pen, bar, data)
    bars = len(data.bars) * pitch
    width = 3.4 * pad + 2.0 * radius + numbers + bars
    height = 2.0 * radius + 2.0 * pad
    x, y = lower_left[0], lower_left[1] - height
    pen.glass((x, y), (x + width, y + height), 14.0)
    draw_dial(pen, (x + pad + radius, y + pad + radius), radius, data)
    left = x + 2.4 * pad + 2.0 * radius
    draw_numbers(pen, (left, y + pad + pen.px(1.0)), numbers, data)
    bar_corner = (left + numbers + 0.5 * pad, y + pad)
    draw_bars(pen, bar_corner, (bar, 2.0 * radius - pen.px(14.0)), pitch, data)
    return x, y, width, height


def _numbers(pen: Pen, lower_left: Point, data: FlightData) -> Rect:
    """For what goes nowhere: no horizon, which would spin with it."""
    pad, numbers = pen.px(PAD), pen.px(NUMBERS)
    width, height = numbers + 2.0 * pad, len(data.rows) * pen.px(ROW) + 1.6 * pad
    x, y = lower_left[0], lower_left[1] - height
    pen.glass((x, y), (x + width, y + height), 14.0)
    draw_numbers(pen, (x + pad, y + pad), numbers, data)
    return x, y, width, height


def _badges(pen: Pen, snapshot: Snapshot, camera: str) -> list[Badge]:
    """Who flies, whether it has run aground, speed of time where it is not 1, real-time factor, camera."""
    pilot = "COURSE" if snapshot.course else "AUTOPILOT" if snapshot.demo else snapshot.flight_mode.upper()
    time, colour = real_time(snapshot)
    words = [(pilot, theme.ACCENT_BRIGHT)]
    if snapshot.lanes[0].aground:
        words.append(("AGROUND", theme.WARNING))
    if snapshot.speed != 1.0:
        words.append((speed_label(snapshot.speed), theme.WARNING))
    words += [(time, colour), (camera, theme.MUTED)]
    return [Badge(text, ink, pen.width(text, 13.0) + pen.px(18.0)) for text, ink in words if text]


def _draw_badges(pen: Pen, upper_right: Point, badges: list[Badge]) -> Rect:
    x, y = upper_right
    for badge in reversed(badges):
        pen.glass((x - badge.width, y), (x, y + pen.px(24.0)), 7.0)
        pen.text(
            (x - badge.width / 2.0, y + pen.px(4.5)), badge.text, size=13.0, colour=badge.colour, align=0.5
        )
        x -= badge.width + pen.px(GAP)
    return x, y, upper_right[0] - x, pen.px(24.0)
