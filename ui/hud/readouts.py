"""Numbers and bars beside the dial, and the heading tape at the top of the scene."""

import math

from sim.vehicle_config import Bar
from ui import theme
from ui.hud.flight_data import FlightData, compass
from ui.hud.pen import Pen, Point

SPAN_DEG = 100.0
HEIGHT = 34.0
BOX_HALF, LABEL_HALF = 23.0, 14.0
"""Half the widths of the box with the heading, and of a label, which is not drawn half under the box."""


def marks(heading_deg: float, span_deg: float = SPAN_DEG) -> list[tuple[float, int]]:
    """Multiples of five degrees on the tape: (offset from the middle in tape widths, degrees 0..355)."""
    first = math.ceil((heading_deg - span_deg / 2.0) / 5.0)
    last = math.floor((heading_deg + span_deg / 2.0) / 5.0)
    return [((5.0 * k - heading_deg) / span_deg, (5 * k) % 360) for k in range(first, last + 1)]


def draw(pen: Pen, top_centre: Point, width: float, heading_deg: float) -> None:
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
