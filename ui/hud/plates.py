"""What flies the present vehicle, over the scene: for a while after it has come."""

from sim.control.mpc import MpcStatus
from sim.simulation.lanes.snapshot import Snapshot
from ui.hud.instruments import HEIGHT
from ui.hud.pen import Pen
from ui.window import theme
from ui.window.context import PanelContext
from ui.window.widgets import overlap, placed
from ui.window.wording import in_past, shown_s

SHOWN_S, FADING_S = 14.0, 1.5
SIZE, ROW = 14.0, 22.0
MARGIN, GAP = 14.0, 16.0
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
        map_rect = context.rects.get("hud/minimap")
        free = width - beside - (0.0 if map_rect is None else x + width - map_rect[0])
        if free >= pen.px(LEAST_ROOM):
            width = beside + free
        elif numbers is not None:  # over the instruments
            beside, height = 0.0, min(numbers[1], numbers[1] if map_rect is None else map_rect[1]) - y
        lines = wrapped(pen, context.keymap.summary(), width - beside - pen.px(3.0 * MARGIN))
        widest, tall = max(_width(pen, line) for line in lines), pen.px(ROW) * len(lines) + pen.px(6.0)
        left, top = x + beside + (width - beside - widest) / 2.0, y + height - pen.px(MARGIN) - tall
        pane = (left - pen.px(MARGIN), top, widest + pen.px(2.0 * MARGIN), tall)
        if "caption" in context.rects and overlap(pane, context.rects["caption"]):
            return
        size = (left - pen.px(MARGIN), top), (left + widest + pen.px(MARGIN), top + tall)
        pen.draw_list.add_rect_filled(*size, theme.packed(theme.GROUND, 0.62 * opacity), pen.px(8.0))
        for number, line in enumerate(lines):
            at = left + (widest - _width(pen, line)) / 2.0
            for keys, word in line:
                row = top + pen.px(5.0) + number * pen.px(ROW)
                keyed = (*theme.ACCENT_BRIGHT[:3], opacity)
                at += pen.text((at, row), keys, size=SIZE, colour=keyed) + pen.px(5.0)
                told = (*theme.INK[:3], opacity)
                at += pen.text((at, row), word, size=SIZE, colour=told, bold=False) + pen.px(GAP)
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
    return words + len(line) * pen.px(5.0) + (len(line) - 1) * pen.px(GAP)


PLATE_SIZE, PLATE_ROW = 14.0, 20.0
PAD, TOP = 12.0, 12.0
EDGE_PX = 2.0


def draw_plate(name: str, lines: list[tuple[str, bool]], colour: theme.Colour, context: PanelContext) -> None:
    """lines: (text, whether it is the heading, in `colour`). Its place is left in `context.rects`."""
    pen = Pen.over(context, fitting=False)
    x, y, width, _ = context.scene_rect
    wide = max(pen.width(text, PLATE_SIZE, bold=bold) for text, bold in lines) + pen.px(2.0 * PAD)
    tall = pen.px(PLATE_ROW) * len(lines) + pen.px(0.8 * PAD)
    goals = context.rects.get("goals", (x, y, 0.0, 0.0))
    aside = goals[0] + goals[2] + pen.px(PAD)
    middle = x + width / 2.0
    if middle - wide / 2.0 < aside:  # then in the middle of what the goals leave
        middle = max((aside + x + width) / 2.0, aside + wide / 2.0)
    left, top = middle - wide / 2.0, y + pen.px(TOP + HEIGHT + 8.0)
    taken = [context.rects[name] for name in ("hud/heading", "hud/badges", "goals") if name in context.rects]
    left, top, *_ = placed((left, top, wide, tall), context.scene_rect, taken, step=pen.px(6.0))
    low, high = (left, top), (left + wide, top + tall)
    pen.draw_list.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.82), pen.px(8.0))
    pen.draw_list.add_rect(low, high, theme.packed(colour), pen.px(8.0), pen.px(EDGE_PX))
    for number, (text, bold) in enumerate(lines):
        at = (left + wide / 2.0, top + pen.px(0.4 * PAD + number * PLATE_ROW))
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
        ]
    playing = "" if snapshot.paused else ", playing"
    return [
        (f"Past: {end_s - at_s:.1f} s ago{playing}", True),
        (f"Any control or {retake} flies on from here, {now}: the present", False),
    ]


def draw_mpc(snapshot: Snapshot, context: PanelContext) -> None:
    """Nothing where none fly, and while the past is shown."""
    if snapshot.mpc is not None:
        draw_plate("hud/pursuit", mpc_text(snapshot.mpc), colour(snapshot.mpc), context)


def colour(seen: MpcStatus) -> theme.Colour:
    return {"flying": theme.GOOD, "preparing": theme.ACCENT_BRIGHT}.get(seen.phase, theme.WARNING)


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
        case "flying":
            return [("Pilot: Plan. Click where to go, or drag the goal", True), (figures, False)]
        case "late":
            return [(f"Pilot: Plan. Late: the last one is tracked, {seen.age_s:.1f} s old", True), *why]
    return [("Pilot: Plan. No plan: stopped, and held here", True), *why]
