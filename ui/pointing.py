"""Where to go, pointed at with the mouse: a click on the ground, or the goal taken by its dot and dragged."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui

from sim.planner.service.requests import EditTask
from sim.planner.service.view import PlanView
from sim.planner.task.poses import positions
from sim.planner.task.pursuit import with_goal_at
from sim.world import World
from ui import theme
from ui.gizmo import on_screen
from ui.hand import Ray
from ui.panels.context import PanelContext

NEAR_PX = 18.0
"""Of the goal's dot."""
CLICK_PX = 5.0
"""What moves further with the button down is no click: the camera turns."""
FARTHEST_M = 3000.0
_SAMPLES, _HALVINGS = 400, 30
_DOT_PX = 8.0


class Pointing:
    """For a vehicle that plans fly. Wants the camera of the last frame drawn."""

    def __init__(self) -> None:
        self._hovered = self._held = False
        self._pressed_px: tuple[float, float] | None = None

    @property
    def wants_mouse(self) -> bool:
        """A press would take the goal, or it is held: the camera leaves the mouse alone."""
        return self._hovered or self._held

    def leave(self) -> None:
        """There is nothing to point at now."""
        self._hovered = self._held = False
        self._pressed_px = None

    def draw(
        self,
        plan: PlanView,
        ray_at: Callable[[float, float], Ray],
        clip_from_world: np.ndarray,
        world: World,
        context: PanelContext,
    ) -> list[EditTask]:
        """The goal's dot, and the task with its goal where the mouse has put it.

        ray_at: through window coordinates (origin top left). clip_from_world: (4, 4), acts on columns.
        """
        io, mouse = imgui.get_io(), imgui.get_mouse_pos()
        goal_w = positions(plan.vehicle, plan.task.goal.state.node)[0]
        if plan.vehicle.group.turns == 1:
            goal_w[2] = float(world.surface_m(goal_w[0], goal_w[1]))
        dot = on_screen(goal_w, clip_from_world, context.scene_rect)
        self._hovered = False
        if dot is not None:
            away = float(np.hypot(mouse.x - dot[0], mouse.y - dot[1]))
            self._hovered = away < context.px(NEAR_PX) and not io.want_capture_mouse
            self._draw_dot(dot, context)
        left = imgui.MouseButton_.left.value
        if imgui.is_mouse_clicked(left):
            self._held = self._hovered
            free = not (io.want_capture_mouse or io.key_ctrl or self._hovered)
            self._pressed_px = (mouse.x, mouse.y) if free and _inside(mouse, context) else None
        if self._held and imgui.is_mouse_down(left):
            return self._moved(plan, on_level(ray_at(mouse.x, mouse.y), float(goal_w[2])))
        pressed, self._held = self._pressed_px, False
        if pressed is None or not imgui.is_mouse_released(left):
            return []
        self._pressed_px = None
        if float(np.hypot(mouse.x - pressed[0], mouse.y - pressed[1])) > context.px(CLICK_PX):
            return []
        place_w = on_ground(ray_at(*pressed), world)
        return self._moved(plan, None if place_w is None else above(plan, place_w, goal_w, world))

    @staticmethod
    def _moved(plan: PlanView, place_w: np.ndarray | None) -> list[EditTask]:
        if place_w is None:
            return []
        return [EditTask(with_goal_at(plan.vehicle.group, plan.task, place_w))]

    def _draw_dot(self, dot: tuple[float, float], context: PanelContext) -> None:
        size = context.px(_DOT_PX + (2.0 if self.wants_mouse else 0.0))
        pen = imgui.get_background_draw_list()
        pen.add_circle_filled(dot, size + context.px(2.0), theme.packed(theme.GROUND, 0.8))
        pen.add_circle_filled(dot, size, theme.packed(theme.INK))
        pen.add_circle_filled(dot, size - context.px(2.5), theme.packed(theme.GOOD))
        context.rects["plan/handle/goal"] = (dot[0] - size, dot[1] - size, 2 * size, 2 * size)


def _inside(mouse: imgui.ImVec2, context: PanelContext) -> bool:
    x, y, width, height = context.scene_rect
    return x <= mouse.x < x + width and y <= mouse.y < y + height


def above(plan: PlanView, place_w: np.ndarray, goal_w: np.ndarray, world: World) -> np.ndarray:
    """(3,) as high over a place on the ground as the goal has been over its own, within the task's limits."""
    if plan.vehicle.group.turns == 1:
        return place_w
    limits, height_m = plan.task.limits, float(goal_w[2]) - float(world.surface_m(goal_w[0], goal_w[1]))
    low = -np.inf if limits.low_w is None else limits.low_w[2]
    high = np.inf if limits.high_w is None else limits.high_w[2]
    return np.array([*place_w[:2], min(max(float(place_w[2]) + height_m, low), high)])


def on_level(ray: Ray, z_m: float) -> np.ndarray | None:
    """(3,) where a ray meets the level at z; None where it leads away from it, or meets it far off."""
    down = ray.direction_w[2]
    share = (z_m - ray.origin_w[2]) / down if abs(down) > 1e-6 else -1.0
    return ray.origin_w + share * ray.direction_w if 0.0 < share < FARTHEST_M else None


def on_ground(ray: Ray, world: World) -> np.ndarray | None:
    """(3,) where a ray first meets the ground, or the water over it; None where it does not."""
    shares = np.geomspace(0.5, FARTHEST_M, _SAMPLES)
    places = ray.origin_w + shares[:, None] * ray.direction_w
    under = places[:, 2] < world.surface_m(places[:, 0], places[:, 1])
    if not under.any():
        return None
    first = int(np.argmax(under))
    low, high = (shares[first - 1] if first else 0.0), shares[first]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        x, y, z = ray.origin_w + middle * ray.direction_w
        low, high = (low, middle) if z < float(world.surface_m(x, y)) else (middle, high)
    met: np.ndarray = ray.origin_w + high * ray.direction_w
    return met
