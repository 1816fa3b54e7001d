"""Why a plan failed, in words at the places where it did."""

import numpy as np
from imgui_bundle import imgui

from sim.planner.plan import Blame
from sim.planner.session import PlanView
from ui import theme
from ui.gizmo import on_screen
from ui.panels.context import PanelContext, Rect
from ui.panels.placing import placed

_AWAY_PX, _OFF_PX = 46.0, 16.0
"""From the mark: as a label is wanted, and at least."""


def draw(plan: PlanView, view_matrix: np.ndarray, projection: np.ndarray, context: PanelContext) -> None:
    """A label with a leader at each red mark: which constraints, when, by how much.

    Matrices (4, 4) act on columns, as render.frame.View has them.
    """
    record = plan.plan
    if record is None or plan.stale or plan.busy:
        return
    taken: list[Rect] = []
    by_place: dict[tuple[float, float, float], list[str]] = {}
    for blame in record.blames:
        by_place.setdefault(blame.place_w, []).extend(words(blame))
    for index, (place_w, lines) in enumerate(by_place.items()):
        mark = on_screen(np.array(place_w), projection @ view_matrix, context.scene_rect)
        if mark is not None:
            taken.append(_label(mark, lines, taken, context))
            context.rects[f"plan/blame/{index}"] = taken[-1]


def _label(mark: tuple[float, float], lines: list[str], taken: list[Rect], context: PanelContext) -> Rect:
    """Where it was drawn: off the labels that are there."""
    pen = imgui.get_background_draw_list()
    row, pad = imgui.get_text_line_height(), context.px(6.0)
    size = max(imgui.calc_text_size(line).x for line in lines) + 2.0 * pad, row * len(lines) + 2.0 * pad
    left, top, *_ = place = _free_place(mark, size, taken, context)
    end = (min(max(mark[0], left), left + size[0]), top + size[1] if top < mark[1] else top)
    pen.add_line(mark, end, theme.packed(theme.DANGER), context.px(1.5))
    pen.add_circle_filled(mark, context.px(3.0), theme.packed(theme.DANGER))
    corner = (left + size[0], top + size[1])
    pen.add_rect_filled((left, top), corner, theme.packed(theme.GROUND, 0.82), context.px(4.0))
    pen.add_rect((left, top), corner, theme.packed(theme.DANGER, 0.9), context.px(4.0))
    for number, line in enumerate(lines):
        colour = theme.DANGER if number % 2 else theme.INK
        pen.add_text((left + pad, top + pad + number * row), theme.packed(colour), line)
    return place


def words(blame: Blame) -> tuple[str, str]:
    """What, then by how much and when."""
    unit = f" {blame.unit}" if blame.unit else ""
    return blame.constraint, f"by {blame.amount:.3g}{unit} at {blame.time_s:.2f} s"


def _free_place(
    mark: tuple[float, float],
    size: tuple[float, float],
    taken: list[Rect],
    context: PanelContext,
) -> Rect:
    """Above the mark or else below it, inside the scene, off the labels that are there."""
    x, y, width, height = context.scene_rect
    edge, off = context.px(8.0), context.px(_OFF_PX)
    scene = (x + edge, y + edge, width - 2.0 * edge, height - 2.0 * edge)
    kept_free = (mark[0] - off, mark[1] - off, 2.0 * off, 2.0 * off)
    wanted = (mark[0] - 0.5 * size[0], mark[1] - context.px(_AWAY_PX) - size[1], *size)
    return placed(wanted, scene, [kept_free, *taken], step=context.px(4.0))
