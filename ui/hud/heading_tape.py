"""The heading tape at the top of the scene."""

import math

from ui import theme
from ui.hud.flight_data import compass
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
