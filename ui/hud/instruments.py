"""Where the instruments stand within the scene."""

from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui import theme
from ui.hud import heading_tape, horizon, readouts
from ui.hud.flight_data import flight_data
from ui.hud.pen import Pen
from ui.panels.context import PanelContext
from ui.panels.transport import real_time, speed_label

RADIUS = 55.0
NUMBERS = 104.0
BAR = 11.0
MARGIN = 14.0
SMALLEST_SCENE = (360.0, 260.0)
"""Below this the scene is better seen without instruments."""


def draw(snapshot: Snapshot, context: PanelContext) -> None:
    """Heading tape on top, horizon and numbers at the lower left, state of the flight at the upper right."""
    x, y, width, height = context.scene_rect
    if width < context.px(SMALLEST_SCENE[0]) or height < context.px(SMALLEST_SCENE[1]):
        return
    pen = Pen(imgui.get_background_draw_list(), context.fonts, context.scale)
    pen.draw_list.push_clip_rect((x, y), (x + width, y + height))
    data = flight_data(snapshot.lanes[0], context.parameters)
    tape = min(pen.px(340.0), 0.45 * width)
    heading_tape.draw(pen, (x + width / 2.0, y + pen.px(12.0)), tape, data.heading_deg)
    _cluster(pen, (x + pen.px(MARGIN), y + height - pen.px(MARGIN)), data)
    _badges(pen, (x + width - pen.px(MARGIN), y + pen.px(12.0)), snapshot, context.view.camera)
    pen.draw_list.pop_clip_rect()


def _cluster(pen: Pen, lower_left, data) -> None:
    pad, radius = pen.px(12.0), pen.px(RADIUS)
    numbers, bar = pen.px(NUMBERS), pen.px(BAR)
    width = 2.0 * radius + numbers + bar + 5.4 * pad
    height = 2.0 * radius + 2.0 * pad
    x, y = lower_left[0], lower_left[1] - height
    pen.glass((x, y), (x + width, y + height), 14.0)
    horizon.draw(pen, (x + pad + radius, y + pad + radius), radius, data)
    left = x + 2.4 * pad + 2.0 * radius
    readouts.draw_numbers(pen, (left, y + pad + pen.px(1.0)), numbers, data)
    bar_corner = (left + numbers + 1.6 * pad, y + pad)
    readouts.draw_collective(pen, bar_corner, (bar, 2.0 * radius - pen.px(14.0)), data.collective)


def _badges(pen: Pen, upper_right, snapshot: Snapshot, camera: str) -> None:
    """Mode, speed of time, camera: one line of words."""
    pilot = "AUTOPILOT" if snapshot.demo else snapshot.flight_mode.upper()
    time, colour = real_time(snapshot)
    words = [(pilot, theme.ACCENT_BRIGHT)]
    if snapshot.speed != 1.0:
        words.append((speed_label(snapshot.speed), theme.WARNING))
    words += [(time, colour), (camera, theme.MUTED)]
    x, y = upper_right
    for text, ink in reversed([word for word in words if word[0]]):
        width = pen.width(text, 13.0) + pen.px(18.0)
        pen.glass((x - width, y), (x, y + pen.px(24.0)), 7.0)
        pen.text((x - width / 2.0, y + pen.px(4.5)), text, size=13.0, colour=ink, align=0.5)
        x -= width + pen.px(6.0)
