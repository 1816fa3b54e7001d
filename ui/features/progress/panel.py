"""The page of what has been done, medals in the gallery, and the flourish over the scene when something comes off."""

import math
from time import perf_counter

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.achievements import (
    BRONZE,
    GOLD,
    GRADES,
    SILVER,
    Achievement,
    ExportProgress,
    ProgressRecord,
    SceneRecord,
    WipeProgress,
)
from ui.hud.instruments import HEIGHT
from ui.hud.pen import Pen
from ui.window import theme
from ui.window.context import LoadScene, PanelContext, Request
from ui.window.widgets import button, heading, note, placed, prose, tooltip

COLOURS = {GOLD: theme.rgb(0xE9C46A), SILVER: theme.rgb(0xC9CDD3), BRONZE: theme.rgb(0xC8875A)}
GRADED = dict(zip(GRADES, (theme.MUTED, COLOURS[BRONZE], COLOURS[SILVER], COLOURS[GOLD]), strict=True))
SHOWN_S, RISES_S, FADES_S, SPARKS = 4.5, 0.25, 0.6, 14
WIDTH, PAD, TOP = 320.0, 12.0, 12.0
SIZE, ROW = 14.0, 20.0


@dataclass(slots=True)
class ProgressFields:
    """What the page remembers."""

    asked: bool = False
    """Whether to wipe all was clicked once."""


def draw_progress(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Totals, what may be done with them, then a row a scene."""
    record, fields = context.of(ProgressRecord), context.of(ProgressFields)
    requests: list[Request] = []
    medals = record.medals
    imgui.text_unformatted(f"{sum(medals.values())} of {len(context.catalogue.scenes)} scenes")
    for medal, count in medals.items():
        imgui.same_line(0.0, context.px(14.0))
        imgui.text_colored(imgui.ImVec4(*COLOURS[medal]), f"{icons.ICON_FA_MEDAL} {count}")
        note(context, f"progress/{medal}")
        tooltip(_MEANS[medal])
    if button(
        context,
        "progress/export",
        f"{icons.ICON_FA_TABLE}  Export",
        "Write all of it as a table, progress.csv, to your folder of exports",
    ):
        requests.append(ExportProgress())
    imgui.same_line(0.0, context.px(6.0))
    text = "Wipe all of it?" if fields.asked else f"{icons.ICON_FA_TRASH}  Wipe"
    if button(context, "progress/wipe", text, "Forget all goals, grades and times", lit=fields.asked):
        requests += [WipeProgress()] if fields.asked else []
        fields.asked = not fields.asked
    if fields.asked:
        imgui.same_line(0.0, context.px(6.0))
        if button(context, "progress/keep", "Keep"):
            fields.asked = False
    here = record.of(snapshot.scene)
    if here.tries:
        heading(context, here.title)
        for goal in here.tries:
            _goal(goal, here, context)
    heading(context, "Scenes")
    if not record.scenes:
        prose("Nothing yet. Goals that you do, grades and lap times are noted here by scene.")
    for name, scene in record.scenes.items():
        requests += _scene(name, scene, name == snapshot.scene, context)
    return requests


_MEANS = {
    GOLD: "All goals done, every graded one at its best",
    SILVER: "All goals done, no grade below good; or a lap of a race",
    BRONZE: "All goals done",
}


def _goal(goal: str, scene: SceneRecord, context: PanelContext) -> None:
    imgui.text_colored(imgui.ImVec4(*theme.GOOD), icons.ICON_FA_CHECK)
    imgui.same_line()
    imgui.text_unformatted(goal)
    note(context, f"progress/goal/{goal}")
    tries = scene.tries[goal]
    told = [f"{each.on}  {each.words or 'done'}" for each in reversed(tries)]
    tooltip("\n".join(told))
    for grade in [each.grade for each in tries if each.grade][-6:]:
        imgui.same_line(0.0, context.px(4.0))
        imgui.text_colored(imgui.ImVec4(*GRADED[grade]), icons.ICON_FA_CIRCLE)


def _scene(name: str, scene: SceneRecord, present: bool, context: PanelContext) -> list[Request]:
    colour = COLOURS.get(scene.medal, theme.FAINT)
    imgui.text_colored(imgui.ImVec4(*colour), icons.ICON_FA_MEDAL)
    imgui.same_line()
    lap = "" if scene.lap_s is None else f"  {scene.lap_s:.2f} s"
    count = f"  {scene.done} of {scene.of}" if scene.of else ""
    title = scene.title or name
    chosen = imgui.selectable(f"{title}##progress/{name}", present)[0]
    note(context, f"progress/scene/{name}")
    text = f"{count}{lap}".strip()
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    width = imgui.calc_text_size(text).x
    imgui.get_window_draw_list().add_text(
        (high.x - width - context.px(4.0), low.y), theme.packed(theme.MUTED), text
    )
    return [LoadScene(name)] if chosen and not present and name in context.catalogue.scenes else []


def draw_medal(scene: str, corner: tuple[float, float], context: PanelContext) -> None:
    """In the upper right corner of a scene's picture."""
    medal = context.of(ProgressRecord).of(scene).medal
    if not medal:
        return
    pen, radius = imgui.get_window_draw_list(), context.px(9.0)
    middle = (corner[0] - 1.4 * radius, corner[1] + 1.4 * radius)
    pen.add_circle_filled(middle, 1.15 * radius, theme.packed(theme.GROUND, 0.8))
    size = imgui.get_font_size() * 0.9
    text = icons.ICON_FA_MEDAL
    wide = imgui.calc_text_size(text).x * 0.9
    at = (middle[0] - 0.5 * wide, middle[1] - 0.5 * size)
    pen.add_text(imgui.get_font(), size, at, theme.packed(COLOURS[medal]), text)
    context.rects[f"scene/medal/{scene}"] = (
        middle[0] - radius,
        middle[1] - radius,
        2.0 * radius,
        2.0 * radius,
    )


def lines_of(achieved: Achievement) -> list[tuple[str, theme.Colour, bool]]:
    """(text, colour, bold) of the flourish."""
    colour = GRADED.get(achieved.grade, theme.GOOD)
    icon = icons.ICON_FA_MEDAL if achieved.grade or achieved.medal else icons.ICON_FA_CHECK
    lines = [(f"{icon}  {achieved.title}", colour, True)]
    if achieved.words:
        lines.append((achieved.words, theme.INK, False))
    if achieved.grade and achieved.best:
        better = GRADES.index(achieved.grade) > GRADES.index(achieved.best)
        told = f"Your best so far: it was {achieved.best}" if better else f"Your best: {achieved.best}"
        lines.append((told, theme.GOOD if better else theme.MUTED, False))
    if achieved.medal:
        lines.append((f"The scene's medal: {achieved.medal}", COLOURS[achieved.medal], True))
    if achieved.following:
        lines.append((f"Next: {achieved.following}", theme.ACCENT_BRIGHT, False))
    return lines


def draw_flourish(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """For some seconds after something has come off: what, how well, what next, and sparks about it."""
    achieved = context.of(Achievement)
    age_s = perf_counter() - achieved.at_s
    if age_s > SHOWN_S or snapshot.look_back is not None:
        return []
    pen = Pen.over(context, fitting=False)
    lines = lines_of(achieved)
    x, y, width, _ = context.scene_rect
    wide = max(pen.width(text, SIZE, bold=bold) for text, _, bold in lines) + pen.px(2.0 * PAD)
    wide = min(max(wide, pen.px(0.6 * WIDTH)), width - pen.px(2.0 * PAD))
    dots = bool(achieved.history)
    tall = pen.px(ROW) * (len(lines) + dots) + pen.px(PAD)
    rise = 1.0 - (1.0 - min(age_s / RISES_S, 1.0)) ** 3
    opacity = rise * min((SHOWN_S - age_s) / FADES_S, 1.0)
    top = y + pen.px(TOP + HEIGHT + 10.0) + (1.0 - rise) * pen.px(18.0)
    taken = [
        context.rects[name]
        for name in ("hud/heading", "hud/badges", "caption", "goals", "race")
        if name in context.rects
    ]
    box = (x + 0.5 * (width - wide), top, wide, tall)
    left, top, *_ = placed(box, context.scene_rect, taken, step=pen.px(6.0))
    colour = lines[0][1]
    low, high = (left, top), (left + wide, top + tall)
    pen.draw_list.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.86 * opacity), pen.px(8.0))
    pen.draw_list.add_rect(low, high, theme.packed(colour, opacity), pen.px(8.0), thickness=pen.px(1.5))
    for number, (text, ink, bold) in enumerate(lines):
        at = (left + 0.5 * wide, top + pen.px(0.5 * PAD + number * ROW))
        pen.text(at, text, size=SIZE, colour=(*ink[:3], opacity), align=0.5, bold=bold)
    if dots:
        _history(achieved, pen, (left + 0.5 * wide, high[1] - pen.px(0.7 * ROW)), opacity)
    _sparks(pen, (left + 0.5 * wide, top), 0.5 * wide, colour, age_s)
    context.rects["flourish"] = (left, top, wide, tall)
    return []


def _history(achieved: Achievement, pen: Pen, middle: tuple[float, float], opacity: float) -> None:
    """The last grades as dots, this one the largest."""
    grades, step = achieved.history[-8:], pen.px(14.0)
    for k, grade in enumerate(grades):
        at = (middle[0] + (k - 0.5 * (len(grades) - 1)) * step, middle[1])
        size = pen.px(5.0 if k == len(grades) - 1 else 3.0)
        pen.draw_list.add_circle_filled(at, size, theme.packed(GRADED[grade], opacity))


def _sparks(pen: Pen, middle: tuple[float, float], half: float, colour: theme.Colour, age_s: float) -> None:
    """They fly off its upper edge, slow down and fade."""
    share = age_s / 0.9
    if share >= 1.0:
        return
    for k in range(SPARKS):
        side = 2.0 * (k + 0.5) / SPARKS - 1.0
        angle = -0.5 * math.pi + 1.2 * side
        away = pen.px(26.0 + 22.0 * math.sin(5.1 * k) ** 2) * (1.0 - (1.0 - share) ** 2)
        at = (
            middle[0] + side * half + away * math.cos(angle),
            middle[1] + away * math.sin(angle) + pen.px(30.0) * share**2,
        )
        pen.draw_list.add_circle_filled(
            at, pen.px(2.4 * (1.0 - share) + 0.6), theme.packed(colour, 1.0 - share)
        )
