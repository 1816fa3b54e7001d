"""Numbers and a bar beside the horizon."""

import math

from ui import theme
from ui.hud.flight_data import FlightData
from ui.hud.pen import Pen, Point

ROW = 34.0


def draw_numbers(pen: Pen, corner: Point, width: float, data: FlightData) -> None:
    """Three rows below `corner`."""
    x, y = corner
    for name, number, unit in data.rows:
        pen.text((x, y), name, size=11.0, colour=theme.MUTED)
        unit_width = pen.text(
            (x + width, y + pen.px(15.0)), unit, size=12.0, colour=theme.MUTED, align=1.0, bold=False
        )
        pen.text((x + width - unit_width - pen.px(5.0), y + pen.px(8.0)), number, size=21.0, align=1.0)
        y += pen.px(ROW)


def draw_bar(pen: Pen, corner: Point, size: Point, data: FlightData) -> None:
    """An upright bar with a mark; nothing for vehicles without one, or while there is nothing to show."""
    if data.bar is None or math.isnan(data.bar_value):
        return
    (x, y), (width, height) = corner, size
    share = min(max(data.bar_value / data.bar.full, 0.0), 1.0)
    rounding = pen.px(3.0)
    pen.draw_list.add_rect_filled(
        (x, y), (x + width, y + height), theme.packed(theme.rgb(0x000000, 0.45)), rounding
    )
    top = y + height * (1.0 - share)
    pen.draw_list.add_rect_filled((x, top), (x + width, y + height), theme.packed(theme.ACCENT), rounding)
    mark = y + height * (1.0 - data.bar.mark / data.bar.full)
    pen.edged_line((x - pen.px(3.0), mark), (x + width + pen.px(3.0), mark), theme.INK, 1.4)
    label = data.bar.label
    pen.text((x + width / 2.0, y + height + pen.px(3.0)), label, size=10.0, colour=theme.MUTED, align=0.5)
