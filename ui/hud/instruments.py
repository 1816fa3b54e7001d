"""Where the instruments stand within the scene, and plates over it: keys of the vehicle that has come, who flies, the
moment that is shown."""

import math

from sim.control.mpc import MpcStatus
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config import Bar
from ui.hud.dial import FlightData, compass, draw_dial, flight_data
from ui.hud.pen import Pen, Point
from ui.window import theme
from ui.window.context import PanelContext, Rect
from ui.window.widgets import in_past, overlap, placed, real_time, shown_s, speed_label

SPAN_DEG = 100.0
HEIGHT = 34.0
BOX_HALF, LABEL_HALF = 23.0, 14.0
"""Half the widths of the box with the heading, and of a label, which is not drawn half under the box."""


def marks(heading_deg: float) -> list[tuple[float, int]]:
    """Multiples of five degrees on the tape: (offset from the middle in tape widths, degrees 0..355)."""
    first = math.ceil((heading_deg - SPAN_DEG / 2.0) / 5.0)
    last = math.floor((heading_deg + SPAN_DEG / 2.0) / 5.0)
    return [((5.0 * k - heading_deg) / SPAN_DEG, (5 * k) % 360) for k in range(first, last + 1)]


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
    own = snapshot.lanes[0].controller
    by_hand = snapshot.flight_mode if own is None else own.kind.__name__
    pilot = "PLAN" if snapshot.sails else "AUTOPILOT" if snapshot.demo else by_hand.upper()
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


SHOWN_S, FADING_S = 14.0, 1.5
SIZE, PLATE_ROW = 14.0, 22.0
PLATE_MARGIN, PLATE_GAP = 14.0, 16.0
LEAST_ROOM = 190.0
"""Between instruments and map; where there is less it is told above them."""


class KeyHint:
    """Remembers when the vehicle came."""

    def __init__(self) -> None:
        self._vehicle = ""
        self._since_s = 0.0

    def draw(self, vehicle: str, now_s: float, context: PanelContext) -> None:
        """At the lower edge, beside the instruments; nothing once it has been seen for long enough.

        Nor where a caption takes that edge: above it are the vehicles of split pictures.
        """
        if vehicle != self._vehicle:
            self._vehicle, self._since_s = vehicle, now_s
        opacity = min((self._since_s + SHOWN_S - now_s) / FADING_S, 1.0)
        if opacity <= 0.0:
            return
        pen = Pen.over(context, fitting=False)
        x, y, width, height = context.scene_rect
        numbers = context.rects.get("hud/numbers") if context.view.hud else None
        beside = 0.0 if numbers is None else numbers[0] + numbers[2] - x
        map_rect = context.rects.get("hud/minimap", context.rects.get("hud/wind"))  # the wind in its place
        free = width - beside - (0.0 if map_rect is None else x + width - map_rect[0])
        if free >= pen.px(LEAST_ROOM):
            width = beside + free
        elif numbers is not None:  # over the instruments
            beside, height = 0.0, min(numbers[1], numbers[1] if map_rect is None else map_rect[1]) - y
        lines = wrapped(pen, context.keymap.summary(), width - beside - pen.px(3.0 * PLATE_MARGIN))
        widest, tall = max(_width(pen, line) for line in lines), pen.px(PLATE_ROW) * len(lines) + pen.px(6.0)
        left, top = x + beside + (width - beside - widest) / 2.0, y + height - pen.px(PLATE_MARGIN) - tall
        pane = (left - pen.px(PLATE_MARGIN), top, widest + pen.px(2.0 * PLATE_MARGIN), tall)
        if "caption" in context.rects and overlap(pane, context.rects["caption"]):
            return
        size = (left - pen.px(PLATE_MARGIN), top), (left + widest + pen.px(PLATE_MARGIN), top + tall)
        pen.draw_list.add_rect_filled(*size, theme.packed(theme.GROUND, 0.62 * opacity), pen.px(8.0))
        for number, line in enumerate(lines):
            at = left + (widest - _width(pen, line)) / 2.0
            for keys, word in line:
                row = top + pen.px(5.0) + number * pen.px(PLATE_ROW)
                keyed = (*theme.ACCENT_BRIGHT[:3], opacity)
                at += pen.text((at, row), keys, size=SIZE, colour=keyed) + pen.px(5.0)
                told = (*theme.INK[:3], opacity)
                at += pen.text((at, row), word, size=SIZE, colour=told, bold=False) + pen.px(PLATE_GAP)
        context.rects["key_hint"] = (*size[0], size[1][0] - size[0][0], size[1][1] - size[0][1])


def wrapped(pen: Pen, found: list[tuple[str, str]], room: float) -> list[list[tuple[str, str]]]:
    """As few lines as fit into `room` pixels."""
    lines: list[list[tuple[str, str]]] = [[]]
    for pair in found:
        if lines[-1] and _width(pen, [*lines[-1], pair]) > room:
            lines.append([])
        lines[-1].append(pair)
    return lines


def _width(pen: Pen, line: list[tuple[str, str]]) -> float:
    words = sum(pen.width(keys, SIZE) + pen.width(word, SIZE, bold=False) for keys, word in line)
    return words + len(line) * pen.px(5.0) + (len(line) - 1) * pen.px(PLATE_GAP)


PLATE_SIZE, PLATE_ROW = 14.0, 20.0
PLATE_PAD, TOP = 12.0, 12.0
EDGE_PX = 2.0


def draw_plate(name: str, lines: list[tuple[str, bool]], colour: theme.Colour, context: PanelContext) -> None:
    """lines: (text, whether it is the heading, in `colour`). Its place is left in `context.rects`."""
    pen = Pen.over(context, fitting=False)
    x, y, width, _ = context.scene_rect
    wide = max(pen.width(text, PLATE_SIZE, bold=bold) for text, bold in lines) + pen.px(2.0 * PLATE_PAD)
    tall = pen.px(PLATE_ROW) * len(lines) + pen.px(0.8 * PLATE_PAD)
    beside = [context.rects[name] for name in ("goals", "caption") if name in context.rects]
    aside = max((rect[0] + rect[2] for rect in beside), default=x) + pen.px(PLATE_PAD)
    middle = x + width / 2.0
    if middle - wide / 2.0 < aside:  # then in the middle of what goals or caption leave
        middle = max((aside + x + width) / 2.0, aside + wide / 2.0)
    left, top = middle - wide / 2.0, y + pen.px(TOP + HEIGHT + 8.0)
    taken = [context.rects[name] for name in ("hud/heading", "hud/badges") if name in context.rects]
    taken += beside
    left, top, *_ = placed((left, top, wide, tall), context.scene_rect, taken, step=pen.px(6.0))
    low, high = (left, top), (left + wide, top + tall)
    pen.draw_list.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.82), pen.px(8.0))
    pen.draw_list.add_rect(low, high, theme.packed(colour), pen.px(8.0), pen.px(EDGE_PX))
    for number, (text, bold) in enumerate(lines):
        at = (left + wide / 2.0, top + pen.px(0.4 * PLATE_PAD + number * PLATE_ROW))
        pen.text(at, text, size=PLATE_SIZE, colour=colour if bold else theme.INK, align=0.5, bold=bold)
    context.rects[name] = (left, top, wide, tall)


def draw_past(snapshot: Snapshot, context: PanelContext) -> None:
    """Nothing in the present."""
    if snapshot.look_back is None:
        return
    draw_plate("past", past_text(snapshot, context), theme.WARNING, context)


def past_text(snapshot: Snapshot, context: PanelContext) -> list[tuple[str, bool]]:
    """(line, whether it is the heading)."""
    look, keys = snapshot.look_back, context.keymap
    assert look is not None
    _, end_s, at_s = shown_s(snapshot)
    retake, now, pause = keys.first("retake"), keys.first("now"), keys.first("pause")
    if not in_past(snapshot):
        return [
            (f"Recording: {look.opened}", True),
            (f"{pause} plays, {retake} flies on from here, {now}: the present", False),
            (cameras_text(context), False),
        ]
    playing = "" if snapshot.paused else ", playing"
    return [
        (f"Past: {end_s - at_s:.1f} s ago{playing}", True),
        (f"Any control or {retake} flies on from here, {now}: the present", False),
        (cameras_text(context), False),
    ]


def cameras_text(context: PanelContext) -> str:
    """How what has been is looked at otherwise."""
    keys = context.keymap
    return (
        f"{keys.first('camera')}: next camera, {keys.first('director')}: from one to the next, as in a film"
    )


def draw_mpc(snapshot: Snapshot, context: PanelContext) -> None:
    """Nothing where none fly, and while the past is shown."""
    if snapshot.mpc is not None:
        draw_plate("hud/pursuit", mpc_text(snapshot.mpc), colour(snapshot.mpc), context)


def colour(seen: MpcStatus) -> theme.Colour:
    return {"flying": theme.GOOD, "lying": theme.GOOD, "preparing": theme.ACCENT_BRIGHT}.get(
        seen.phase, theme.WARNING
    )


def mpc_text(seen: MpcStatus) -> list[tuple[str, bool]]:
    """(line, whether it is the heading)."""
    late = f"; {seen.late} late" if seen.late else ""
    failed = f"; {seen.failed} not found" if seen.failed else ""
    figures = (
        f"{seen.solves_per_s:.0f} plans/s of {1e3 * seen.solve_s:.0f} ms, "
        f"{1e3 * seen.age_s:.0f} ms old{late}{failed}"
    )
    why = [(seen.reason, False)] if seen.reason else []
    match seen.phase:
        case "preparing":
            return [("Pilot: Plan. Making the planner ready, you fly", True), *why]
        case "lying":
            return [("Pilot: Plan. In its berth", True)]
        case "flying" if seen.berth is not None:
            berth = f"{seen.berth.off_m:.1f} m and {math.degrees(seen.berth.off_rad):.0f}° from the berth"
            return [(f"Pilot: Plan. {berth}", True), (figures, False)]
        case "flying":
            return [("Pilot: Plan. Click where to go, or drag the goal", True), (figures, False)]
        case "late":
            return [(f"Pilot: Plan. Late: the last one is tracked, {seen.age_s:.1f} s old", True), *why]
    return [("Pilot: Plan. No plan: stopped, and held here", True), *why]
