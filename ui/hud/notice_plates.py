"""Plates with a few lines over the scene: how long ago a moment of a recording was, and how plans in flight go."""

from sim.control.mpc import MpcStatus
from sim.snapshot import Snapshot
from ui import theme
from ui.hud import readouts
from ui.hud.pen import Pen
from ui.panels.context import PanelContext
from ui.panels.placing import placed
from ui.timeline import in_past, shown_s

SIZE, ROW = 14.0, 20.0
PAD, TOP = 12.0, 12.0
EDGE_PX = 2.0


def draw_plate(name: str, lines: list[tuple[str, bool]], colour: theme.Colour, context: PanelContext) -> None:
    """lines: (text, whether it is the heading, in `colour`). Its place is left in `context.rects`."""
    pen = Pen.over(context, fitting=False)
    x, y, width, _ = context.scene_rect
    wide = max(pen.width(text, SIZE, bold=bold) for text, bold in lines) + pen.px(2.0 * PAD)
    tall = pen.px(ROW) * len(lines) + pen.px(0.8 * PAD)
    goals = context.rects.get("goals", (x, y, 0.0, 0.0))
    aside = goals[0] + goals[2] + pen.px(PAD)
    middle = x + width / 2.0
    if middle - wide / 2.0 < aside:  # then in the middle of what the goals leave
        middle = max((aside + x + width) / 2.0, aside + wide / 2.0)
    left, top = middle - wide / 2.0, y + pen.px(TOP + readouts.HEIGHT + 8.0)
    taken = [context.rects[name] for name in ("hud/heading", "hud/badges", "goals") if name in context.rects]
    left, top, *_ = placed((left, top, wide, tall), context.scene_rect, taken, step=pen.px(6.0))
    low, high = (left, top), (left + wide, top + tall)
    pen.draw_list.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.82), pen.px(8.0))
    pen.draw_list.add_rect(low, high, theme.packed(colour), pen.px(8.0), pen.px(EDGE_PX))
    for number, (text, bold) in enumerate(lines):
        at = (left + wide / 2.0, top + pen.px(0.4 * PAD + number * ROW))
        pen.text(at, text, size=SIZE, colour=colour if bold else theme.INK, align=0.5, bold=bold)
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
