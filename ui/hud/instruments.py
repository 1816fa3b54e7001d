"""Where the instruments stand within the scene."""

from dataclasses import dataclass

from sim.snapshot import Snapshot
from ui import theme
from ui.hud import readouts
from ui.hud.dial import draw_dial
from ui.hud.flight_data import FlightData, flight_data
from ui.hud.pen import Pen, Point
from ui.panels.context import PanelContext, Rect
from ui.panels.transport import real_time, speed_label

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


def draw(snapshot: Snapshot, context: PanelContext) -> None:
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
        readouts.draw(pen, (x + width / 2.0, top), tape, data.heading_deg)
        context.rects["hud/heading"] = (x + (width - tape) / 2.0, top, tape, pen.px(readouts.HEIGHT))
        context.rects["hud/numbers"] = _cluster(pen, lower_left, data)
    else:
        tape = 0.0
        context.rects["hud/numbers"] = _numbers(pen, lower_left, data)
    plain = Pen.over(context, fitting=False)
    badges = _badges(plain, snapshot, context.view.camera)
    beside_tape = (width - tape) / 2.0 - pen.px(2.0 * MARGIN)
    fits = sum(badge.width + pen.px(GAP) for badge in badges) < beside_tape
    badges_top = top if fits else top + pen.px(readouts.HEIGHT + GAP)
    context.rects["hud/badges"] = _draw_badges(plain, (x + width - pen.px(MARGIN), badges_top), badges)
    pen.draw_list.pop_clip_rect()


def _cluster(pen: Pen, lower_left: Point, data: FlightData) -> Rect:
    pad, radius = pen.px(PAD), pen.px(RADIUS)
    numbers, bar = pen.px(NUMBERS), pen.px(BAR)
    pitch = readouts.bar_pitch(pen, bar, data)
    bars = len(data.bars) * pitch
    width = 3.4 * pad + 2.0 * radius + numbers + bars
    height = 2.0 * radius + 2.0 * pad
    x, y = lower_left[0], lower_left[1] - height
    pen.glass((x, y), (x + width, y + height), 14.0)
    draw_dial(pen, (x + pad + radius, y + pad + radius), radius, data)
    left = x + 2.4 * pad + 2.0 * radius
    readouts.draw_numbers(pen, (left, y + pad + pen.px(1.0)), numbers, data)
    bar_corner = (left + numbers + 0.5 * pad, y + pad)
    readouts.draw_bars(pen, bar_corner, (bar, 2.0 * radius - pen.px(14.0)), pitch, data)
    return x, y, width, height


def _numbers(pen: Pen, lower_left: Point, data: FlightData) -> Rect:
    """For what goes nowhere: no horizon, which would spin with it."""
    pad, numbers = pen.px(PAD), pen.px(NUMBERS)
    width, height = numbers + 2.0 * pad, len(data.rows) * pen.px(readouts.ROW) + 1.6 * pad
    x, y = lower_left[0], lower_left[1] - height
    pen.glass((x, y), (x + width, y + height), 14.0)
    readouts.draw_numbers(pen, (x + pad, y + pad), numbers, data)
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
