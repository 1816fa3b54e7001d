"""Over a moment of a recording: how long ago it was, and what flies on from it."""

from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui import theme
from ui.hud import heading_tape
from ui.hud.pen import Pen
from ui.panels.context import PanelContext
from ui.panels.placing import placed
from ui.timeline import in_past, shown_s

SIZE, ROW = 14.0, 20.0
PAD, TOP = 12.0, 12.0
EDGE_PX = 2.0


def draw(snapshot: Snapshot, context: PanelContext) -> None:
    """Under the heading tape; nothing in the present. Its place is left in `context.rects`."""
    if snapshot.look_back is None:
        return
    pen = Pen(imgui.get_background_draw_list(), context.fonts, context.scale)
    x, y, width, _ = context.scene_rect
    lines = told(snapshot, context)
    wide = max(pen.width(text, SIZE, bold=bold) for text, bold in lines) + pen.px(2.0 * PAD)
    tall = pen.px(ROW) * len(lines) + pen.px(0.8 * PAD)
    left, top = x + (width - wide) / 2.0, y + pen.px(TOP + heading_tape.HEIGHT + 8.0)
    taken = [context.rects[name] for name in ("hud/heading", "hud/badges") if name in context.rects]
    left, top, *_ = placed((left, top, wide, tall), context.scene_rect, taken, step=pen.px(6.0))
    low, high = (left, top), (left + wide, top + tall)
    pen.draw_list.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.82), pen.px(8.0))
    pen.draw_list.add_rect(low, high, theme.packed(theme.WARNING), pen.px(8.0), pen.px(EDGE_PX))
    for number, (text, bold) in enumerate(lines):
        colour = theme.WARNING if bold else theme.INK
        at = (left + wide / 2.0, top + pen.px(0.4 * PAD + number * ROW))
        pen.text(at, text, size=SIZE, colour=colour, align=0.5, bold=bold)
    context.rects["past"] = (left, top, wide, tall)


def told(snapshot: Snapshot, context: PanelContext) -> list[tuple[str, bool]]:
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
