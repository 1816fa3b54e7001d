"""The clock of a race over the view: gates, the time of the lap, and what is lost to each ghost."""

import math

from imgui_bundle import imgui

from sim.scene.race_timing import Rival, Standing
from sim.simulation.ghosts import RIVAL_TINTS
from sim.snapshot import Snapshot
from ui import theme
from ui.hud.pen import Pen
from ui.panels.context import PanelContext
from ui.panels.placing import placed

WIDTH, PAD, ROW, BIG = 196.0, 12.0, 21.0, 30.0
TOP = 56.0
MARGIN = 14.0


def clock(seconds: float) -> str:
    """'1:02.34'; a dash where there is no time."""
    if not math.isfinite(seconds):
        return "\N{EM DASH}"
    hundredths = round(100.0 * abs(seconds))
    sign = "-" if seconds < 0.0 and hundredths else ""
    minutes, rest = divmod(hundredths, 6000)
    return f"{sign}{minutes}:{rest // 100:02d}.{rest % 100:02d}" if minutes else f"{sign}{rest / 100:.2f}"


def difference(standing: Standing, rival: Rival) -> tuple[str, theme.Colour]:
    """What is told of a rival: time lost (+) or won (-) at the last gate, else its time for the whole."""
    behind_s = standing.behind_s(rival)
    if behind_s is None or len(standing.told_s) < 2:
        return clock(rival.splits_s[-1]), theme.MUTED
    return f"{behind_s:+.2f}", theme.GOOD if behind_s <= 0.0 else theme.WARNING


def rows(standing: Standing, time_s: float) -> list[tuple[str, str, theme.Colour]]:
    """(what, value, colour), the first two above the ghosts."""
    course = standing.course
    passed = len(standing.told_s)
    if standing.running:
        gate = f"{passed} of {course.passages}"
    else:
        gate = "finished" if standing.lap is not None else "to the first"
    lines = [("GATE", gate, theme.INK)]
    for rival in standing.rivals[: len(RIVAL_TINTS)]:
        lines.append((rival.name.upper(), *difference(standing, rival)))
    if standing.lap is not None:
        lines.append(("LAST", clock(standing.lap.lap_s), theme.INK))
    return lines


def draw(snapshot: Snapshot, context: PanelContext) -> None:
    """At the right, under the badges; its place is left in `context.rects`."""
    standing = snapshot.race
    if standing is None or snapshot.look_back is not None:
        return
    pen = Pen.over(context, fitting=False)
    time_s = snapshot.lanes[0].time_current_s
    lines = rows(standing, time_s)
    x, y, width, _ = context.scene_rect
    wide = pen.px(WIDTH)
    tall = pen.px(2.0 * PAD + BIG + ROW * len(lines))
    left, top = x + width - wide - pen.px(MARGIN), y + pen.px(TOP)
    taken = [context.rects[name] for name in ("hud/heading", "hud/badges", "goals") if name in context.rects]
    left, top, *_ = placed((left, top, wide, tall), context.scene_rect, taken, step=pen.px(6.0))
    pen.glass((left, top), (left + wide, top + tall), 12.0)
    right = left + wide - pen.px(PAD)
    lap_s = standing.lap_time_s(time_s)
    ink = theme.ACCENT_BRIGHT if standing.running else theme.INK
    pen.text((right, top + 0.6 * pen.px(PAD)), clock(lap_s), size=26.0, colour=ink, align=1.0)
    tints = {rival.name.upper(): tint for rival, tint in zip(standing.rivals, RIVAL_TINTS, strict=False)}
    row = top + pen.px(PAD + BIG)
    for what, value, colour in lines:
        if what in tints:
            _swatch(pen, (left + pen.px(PAD), row + pen.px(5.0)), tints[what])
        pen.text(
            (left + pen.px(PAD + (14.0 if what in tints else 0.0)), row + pen.px(2.0)),
            what,
            size=12.0,
            colour=theme.MUTED,
        )
        pen.text((right, row), value, size=15.0, colour=colour, align=1.0)
        row += pen.px(ROW)
    context.rects["race"] = (left, top, wide, tall)


def _swatch(pen: Pen, at: tuple[float, float], tint: tuple[float, float, float]) -> None:
    side = pen.px(9.0)
    red, green, blue = (part ** (1.0 / 2.2) for part in tint)
    colour = imgui.get_color_u32(imgui.ImVec4(red, green, blue, 1.0))
    pen.draw_list.add_rect_filled(at, (at[0] + side, at[1] + side), colour, pen.px(2.0))
