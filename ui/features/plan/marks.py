"""What a plan shows in the view to be clicked: other ways with their costs, and where and why none was found."""

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from imgui_bundle.imguizmo import im_guizmo

from render.plan.view import alternatives_shown
from sim.planner.result.plan import Violation
from sim.planner.service.remedies import Remedy, offered
from sim.planner.service.requests import EditTask, TakeAlternative
from sim.planner.service.session import PlanView
from sim.planner.task.bodies import positions
from sim.planner.task.handles import handles
from sim.platform.values import dataclass
from ui.features.lanes import OVER_THE_SCENE
from ui.window import theme
from ui.window.context import PanelContext, Rect, on_screen
from ui.window.widgets import OVERLAY, button, overlap, placed

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


_AWAY_PX, _OFF_PX = 46.0, 22.0
"""From the mark: as a label is wanted, and at least."""
_WIDEST_PX, _GAP_PX = 260.0, 4.0
_HELD_TOLD = 2
_FLAGS = OVERLAY | imgui.WindowFlags_.no_bring_to_front_on_focus


@dataclass(frozen=True, slots=True, eq=False)
class _Sign:
    """What is to be told at one place."""

    place_w: tuple[float, float, float]
    lines: tuple[tuple[str, theme.Colour], ...]
    remedies: tuple[tuple[int, Remedy], ...]
    """With their numbers among all that are offered."""


def draw_violations(
    plan: PlanView, view_matrix: np.ndarray, projection: np.ndarray, context: PanelContext
) -> list[EditTask]:
    """A label with a leader at each place where it fails: what, when, by how much, and buttons for what would help.

    Matrices (4, 4) act on columns, as render.frame.View has them. Wants to know what else lies over the scene.
    """
    requests: list[EditTask] = []
    over = (name for name in context.rects if name in OVER_THE_SCENE or name.startswith("plan/handle/"))
    taken = [context.rects[name] for name in over]
    if plan.dated and plan.plan is not None:
        taken.append(_dated(plan, taken, context))
    for index, sign in enumerate(_signs(plan)):
        mark = on_screen(np.array(sign.place_w), projection @ view_matrix, context.scene_rect)
        if mark is not None:
            place, asked = _label(index, mark, sign, taken, context)
            taken.append(place)
            context.rects[f"plan/violation/{index}"] = place
            requests += asked
    return requests


def words(violation: Violation) -> tuple[str, str]:
    """What, then by how much and when."""
    unit = f" {violation.unit}" if violation.unit else ""
    return violation.constraint, f"by {violation.amount:.3g}{unit} at {violation.time_s:.2f} s"


def _signs(plan: PlanView) -> list[_Sign]:
    """One a place, the worst first."""
    ways_out = tuple(enumerate(offered(plan)))
    if plan.refusal is not None:
        parts = plan.refusal.parts
        return [_Sign(_place_of(plan, parts[0]), ((plan.message, theme.INK),), ways_out)] if parts else []
    if plan.plan is None or plan.stale or plan.busy:
        return []
    by_place: dict[tuple[float, float, float], list[Violation]] = {}
    for violation in plan.plan.violations:
        by_place.setdefault(violation.place_w, []).append(violation)
    signs: list[_Sign] = []
    for place_w, violations in by_place.items():
        told = {violation.constraint for violation in violations} | (set() if signs else {""})
        here = tuple((number, remedy) for number, remedy in ways_out if remedy.about in told)
        lines = [line for b in violations for line in zip(words(b), (theme.INK, theme.DANGER), strict=True)]
        if violations[0].missed:
            held = [constraint for constraint in plan.plan.active if constraint.obstacle is not None][
                :_HELD_TOLD
            ]
            lines += [(f"held by {constraint.what}", theme.WARNING) for constraint in held]
        signs.append(_Sign(place_w, tuple(lines), here))
    if ways_out and not signs:
        signs.append(_Sign(_place_of(plan, "goal"), (("no way there was found", theme.INK),), ways_out))
    return signs


def _place_of(plan: PlanView, part: str) -> tuple[float, float, float]:
    """In the world, of what a refusal is about."""
    if part == "start":
        place_w = positions(plan.vehicle, plan.task.start.node)[0]
    else:
        place_w = next(h.T_w[:3, 3] for h in handles(plan.vehicle, plan.task) if h.name == part)
    return float(place_w[0]), float(place_w[1]), float(place_w[2])


def _dated(plan: PlanView, taken: list[Rect], context: PanelContext) -> Rect:
    """A sign over the scene: what is shown is no answer to the task as it stands."""
    text = f"{icons.ICON_FA_TRIANGLE_EXCLAMATION}  Out of date: this plan is of the task before"
    size = imgui.calc_text_size(text)
    wide, high = size.x + context.px(24.0), size.y + context.px(14.0)
    x, y, width, _ = context.scene_rect
    tape = context.rects.get("hud/heading", (x, y, 0.0, 0.0))
    wanted = (x + 0.5 * (width - wide), tape[1] + tape[3] + context.px(8.0), wide, high)
    left, top, *_ = place = placed(wanted, context.scene_rect, taken, step=context.px(4.0))
    pen = imgui.get_background_draw_list()
    corner = (left + wide, top + high)
    pen.add_rect_filled((left, top), corner, theme.packed(theme.GROUND, 0.82), context.px(5.0))
    pen.add_rect((left, top), corner, theme.packed(theme.WARNING, 0.9), context.px(5.0))
    pen.add_text((left + context.px(12.0), top + context.px(7.0)), theme.packed(theme.WARNING), text)
    context.rects["plan/dated"] = place
    return place


def _label(
    index: int, mark: tuple[float, float], sign: _Sign, taken: list[Rect], context: PanelContext
) -> tuple[Rect, list[EditTask]]:
    """Where it was drawn, off the labels that are there, and what was asked for."""
    pad, widest = context.px(6.0), context.px(_WIDEST_PX)
    left, top, *_ = place = _free_place(mark, _size(sign, pad, widest, context), taken, context)
    width, height = place[2:]
    pen = imgui.get_background_draw_list()
    end = (min(max(mark[0], left), left + width), top + height if top < mark[1] else top)
    pen.add_line(mark, end, theme.packed(theme.GROUND, 0.8), context.px(4.0))
    pen.add_line(mark, end, theme.packed(theme.DANGER), context.px(2.0))
    pen.add_circle_filled(mark, context.px(4.0), theme.packed(theme.DANGER))
    requests: list[EditTask] = []
    imgui.set_next_window_pos((left, top), imgui.Cond_.always)
    imgui.set_next_window_size((width, height), imgui.Cond_.always)
    imgui.set_next_window_bg_alpha(0.86)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (pad, pad))
    imgui.push_style_color(imgui.Col_.border, imgui.ImVec4(*theme.DANGER))
    imgui.begin(f"##plan/violation/{index}", None, _FLAGS & ~imgui.WindowFlags_.always_auto_resize)
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (context.px(4.0), 0.0))
    for text, colour in sign.lines:
        imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*colour))
        imgui.text_wrapped(text)
        imgui.pop_style_color()
    imgui.push_style_color(imgui.Col_.button, imgui.ImVec4(*theme.ACCENT_DIM))
    imgui.push_style_color(imgui.Col_.button_hovered, imgui.ImVec4(*theme.ACCENT))
    for number, remedy in sign.remedies:
        imgui.dummy((0.0, context.px(_GAP_PX)))
        text = f"{icons.ICON_FA_WRENCH} {remedy.text}"
        if button(context, f"plan/violation/remedy/{number}", text, remedy.doc, width=-1.0):
            requests.append(EditTask(remedy.task))
    imgui.pop_style_color(2)
    imgui.pop_style_var()
    imgui.end()
    imgui.pop_style_color()
    imgui.pop_style_var()
    return place, requests


def _size(sign: _Sign, pad: float, widest: float, context: PanelContext) -> tuple[float, float]:
    """What a label needs, no wider than `widest`."""
    style = imgui.get_style()
    texts = [imgui.calc_text_size(text) for text, _ in sign.lines]
    ways_out = [imgui.calc_text_size(f"{icons.ICON_FA_WRENCH} {r.text}").x for _, r in sign.remedies]
    buttons = [wide + 2.0 * style.frame_padding.x for wide in ways_out]
    inside = min(max([size.x for size in texts] + buttons), widest)
    height = sum(imgui.calc_text_size(text, wrap_width=inside + 1.0).y for text, _ in sign.lines)
    height += len(buttons) * (imgui.get_frame_height() + context.px(_GAP_PX))
    return inside + 2.0 * pad + 1.0, height + 2.0 * pad


def _free_place(
    mark: tuple[float, float],
    size: tuple[float, float],
    taken: list[Rect],
    context: PanelContext,
) -> Rect:
    """Above the mark or else below it, or beside that, inside the scene, off what is there."""
    x, y, width, height = context.scene_rect
    edge, off = context.px(8.0), context.px(_OFF_PX)
    scene = (x + edge, y + edge, width - 2.0 * edge, height - 2.0 * edge)
    kept_free = (mark[0] - off, mark[1] - off, 2.0 * off, 2.0 * off)
    top = mark[1] - context.px(_AWAY_PX) - size[1]
    for aside in (0.0, 0.75, -0.75, 1.5, -1.5):
        wanted = (mark[0] + (aside - 0.5) * size[0], top, *size)
        place = placed(wanted, scene, [kept_free, *taken], step=context.px(4.0))
        if not any(overlap(place, other) for other in (kept_free, *taken)):
            return place
    return placed((mark[0] - 0.5 * size[0], top, *size), scene, [kept_free, *taken], step=context.px(4.0))
