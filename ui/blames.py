"""Why a plan failed, in words at the places where it did."""

import numpy as np
from imgui_bundle import imgui

from sim.planner.plan import Blame
from sim.planner.session import PlanView
from ui import theme
from ui.gizmo import on_screen
from ui.panels.context import PanelContext

_AWAY_PX = 46.0


def draw(plan: PlanView, view_matrix: np.ndarray, projection: np.ndarray, context: PanelContext) -> None:
    """A label with a leader at each red mark: which constraint, when, by how much.

    Matrices (4, 4) act on columns, as render.frame.View has them.
    """
    record = plan.plan
    if record is None or plan.stale or plan.busy:
        return
    pen = imgui.get_background_draw_list()
    taken: list[tuple[float, float, float, float]] = []
    for index, blame in enumerate(record.blames):
        mark = on_screen(np.array(blame.place_w), projection @ view_matrix, context.scene_rect)
        if mark is None:
            continue
        lines = words(blame)
        row, pad = imgui.get_text_line_height(), context.px(6.0)
        size = max(imgui.calc_text_size(line).x for line in lines) + 2.0 * pad, row * len(lines) + 2.0 * pad
        left, top = _free_place(mark, size, taken, context)
        taken.append((left, top, *size))
        context.rects[f"plan/blame/{index}"] = (left, top, *size)
        end = (min(max(mark[0], left), left + size[0]), top + size[1] if top < mark[1] else top)
        pen.add_line(mark, end, theme.packed(theme.DANGER), context.px(1.5))
        pen.add_circle_filled(mark, context.px(3.0), theme.packed(theme.DANGER))
        corner = (left + size[0], top + size[1])
        pen.add_rect_filled((left, top), corner, theme.packed(theme.GROUND, 0.82), context.px(4.0))
        pen.add_rect((left, top), corner, theme.packed(theme.DANGER, 0.9), context.px(4.0))
        for number, line in enumerate(lines):
            colour = theme.INK if number == 0 else theme.DANGER
            pen.add_text((left + pad, top + pad + number * row), theme.packed(colour), line)


def words(blame: Blame) -> tuple[str, str]:
    """What, then by how much and when."""
    unit = f" {blame.unit}" if blame.unit else ""
    return blame.constraint, f"by {blame.amount:.3g}{unit} at {blame.time_s:.2f} s"


def _free_place(
    mark: tuple[float, float],
    size: tuple[float, float],
    taken: list[tuple[float, float, float, float]],
    context: PanelContext,
) -> tuple[float, float]:
    """(left, top) above the mark, inside the scene, off the labels that are there."""
    x, y, width, _ = context.scene_rect
    edge = context.px(8.0)
    left = min(max(mark[0] - 0.5 * size[0], x + edge), x + width - size[0] - edge)
    top = mark[1] - context.px(_AWAY_PX) - size[1]
    step = -(size[1] + context.px(4.0))
    if top < y + edge:
        top, step = mark[1] + context.px(_AWAY_PX), -step
    while any(_overlap((left, top, *size), other) for other in taken):
        top += step
    return left, top


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return abs(a[0] + a[2] / 2 - b[0] - b[2] / 2) < (a[2] + b[2]) / 2 and (
        abs(a[1] + a[3] / 2 - b[1] - b[3] / 2) < (a[3] + b[3]) / 2
    )
