"""A plate with a few lines over the scene, under the heading tape: what is shown, and what can be done about it."""

from ui import theme
from ui.hud import heading_tape
from ui.hud.pen import Pen
from ui.panels.context import PanelContext
from ui.panels.placing import placed

SIZE, ROW = 14.0, 20.0
PAD, TOP = 12.0, 12.0
EDGE_PX = 2.0


def draw(name: str, lines: list[tuple[str, bool]], colour: theme.Colour, context: PanelContext) -> None:
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
    left, top = middle - wide / 2.0, y + pen.px(TOP + heading_tape.HEIGHT + 8.0)
    taken = [context.rects[name] for name in ("hud/heading", "hud/badges", "goals") if name in context.rects]
    left, top, *_ = placed((left, top, wide, tall), context.scene_rect, taken, step=pen.px(6.0))
    low, high = (left, top), (left + wide, top + tall)
    pen.draw_list.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.82), pen.px(8.0))
    pen.draw_list.add_rect(low, high, theme.packed(colour), pen.px(8.0), pen.px(EDGE_PX))
    for number, (text, bold) in enumerate(lines):
        at = (left + wide / 2.0, top + pen.px(0.4 * PAD + number * ROW))
        pen.text(at, text, size=SIZE, colour=colour if bold else theme.INK, align=0.5, bold=bold)
    context.rects[name] = (left, top, wide, tall)
