"""Numbers and bars beside the dial."""

import math

from sim.outfit import Bar
from ui import theme
from ui.hud.flight_data import FlightData
from ui.hud.pen import Pen, Point

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
