"""Other ways to do a task, chosen by a click in the view: each tells at its middle what it costs."""

import numpy as np
from imgui_bundle import imgui
from imgui_bundle.imguizmo import im_guizmo

from render.plan_view import alternatives_shown
from sim.planner.service.requests import TakeAlternative
from sim.planner.service.view import PlanView
from ui import theme
from ui.gizmo import on_screen
from ui.panels.context import PanelContext

_NEAR_PX, _DOT_PX = 9.0, 4.0


class Alternatives:
    """Thin ways that light up under the mouse. Wants the camera of the last frame drawn."""

    def __init__(self) -> None:
        self._hovered: int | None = None

    @property
    def wants_mouse(self) -> bool:
        """A press would take one: the camera leaves the mouse alone."""
        return self._hovered is not None

    def draw(
        self, plan: PlanView, view_matrix: np.ndarray, projection: np.ndarray, context: PanelContext
    ) -> list[TakeAlternative]:
        """A dot at the middle of each, with its cost where the mouse is near the way.

        Matrices (4, 4) act on columns, as render.frame.View has them.
        """
        clip_from_world = projection @ view_matrix
        mouse, pen = imgui.get_mouse_pos(), imgui.get_background_draw_list()
        free = not imgui.get_io().want_capture_mouse and not im_guizmo.is_using() and not im_guizmo.is_over()
        self._hovered, nearest = None, context.px(_NEAR_PX)
        middles: dict[int, tuple[float, float]] = {}
        for index, record in enumerate(alternatives_shown(plan)):
            marks = [on_screen(place_w, clip_from_world, context.scene_rect) for place_w in record.places_w]
            seen = [mark for mark in marks if mark is not None]
            if not seen:
                continue
            middles[index] = x, y = marks[len(marks) // 2] or seen[len(seen) // 2]
            size = context.px(_DOT_PX)
            context.rects[f"plan/alternative/{index}"] = (x - size, y - size, 2 * size, 2 * size)
            away = min(
                _away_px((mouse.x, mouse.y), a, b) for a, b in zip(seen, [*seen[1:], seen[-1]], strict=True)
            )
            if free and away < nearest:
                self._hovered, nearest = index, away
        for index, (x, y) in middles.items():
            hot = index == self._hovered
            radius = context.px(_DOT_PX + (2.0 if hot else 0.0))
            pen.add_circle_filled((x, y), radius + context.px(1.5), theme.packed(theme.GROUND, 0.8))
            pen.add_circle_filled((x, y), radius, theme.packed(theme.INK if hot else theme.MUTED))
        if self._hovered is None or plan.plan is None:
            return []
        other = plan.plan.alternatives[self._hovered]
        imgui.set_tooltip(f"{compared(other.cost, plan.plan.cost)}\nClick: this way instead.")
        pressed = imgui.is_mouse_clicked(imgui.MouseButton_.left.value)
        return [TakeAlternative(self._hovered)] if pressed else []


def compared(cost: float, present: float) -> str:
    """ "Costs 6.1, 12 % more"."""
    share = 100.0 * (cost / present - 1.0) if present > 0.0 else 0.0
    return f"Costs {cost:.4g}, {abs(share):.3g} % {'more' if share >= 0.0 else 'less'}"


def _away_px(mouse: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    """Of the mouse from a piece of a way."""
    (mx, my), (ax, ay), (bx, by) = mouse, a, b
    length = (bx - ax) ** 2 + (by - ay) ** 2
    share = 0.0 if length == 0.0 else ((mx - ax) * (bx - ax) + (my - ay) * (by - ay)) / length
    share = min(max(share, 0.0), 1.0)
    return float(np.hypot(ax + share * (bx - ax) - mx, ay + share * (by - ay) - my))
