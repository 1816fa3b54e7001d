"""What is taken hold of by the mouse in the scene itself: a plan's marks, other plans, a place to go to, a body."""

import numpy as np
from imgui_bundle import imgui

from sim.planner.service.requests import EditTask
from sim.planner.service.view import PlanView
from sim.snapshot import Snapshot
from sim.world import World
from ui.gizmo import Gizmo
from ui.panels.context import PanelContext
from ui.plan_marks import Alternatives, draw
from ui.pointing import Hand, Pointing, Ray
from ui.requests import Request
from ui.window import AppWindow


class SceneTools:
    """Of the one picture that there is; the camera is that of the frame before."""

    def __init__(self, window: AppWindow, context: PanelContext) -> None:
        self._window, self._context = window, context
        self._gizmo, self._alternatives = Gizmo(), Alternatives()
        self._pointing, self._hand = Pointing(), Hand()
        self._world: World | None = None
        self._shifts_w: dict[str, np.ndarray] = {}
        self.camera: tuple[np.ndarray, np.ndarray] | None = None
        """View and projection (4, 4) of the scene as it was drawn last."""

    def show_world(self, world: World) -> None:
        """Where it all takes place, from now on."""
        self._world = world

    def use_camera(self, view: np.ndarray, projection: np.ndarray, shifts_w: dict[str, np.ndarray]) -> None:
        """As the scene was drawn; shifts_w: by lane, (3,) m by which it was drawn apart from its true place."""
        self.camera, self._shifts_w = (view, projection), shifts_w

    def draw(self, hand_px: tuple[float, float] | None, snapshot: Snapshot, *, views: int) -> list[Request]:
        """hand_px: where a body is pulled to (logical, y up)."""
        context = self._context
        plan, camera = context.plan, self.camera
        requests = [*self._hand.requests(self._ray(hand_px, views), snapshot, self._shifts_w)]
        if plan is not None and camera is not None:
            requests += self._gizmo.draw(plan, *camera, context)
            requests += self._pointed(plan, views)
            if not self._gizmo.wants_mouse:
                requests += self._alternatives.draw(plan, *camera, context)
        return requests

    def draw_violations(self) -> list[Request]:
        """Over everything else."""
        if self._context.plan is None or self.camera is None:
            return []
        return [*draw(self._context.plan, *self.camera, self._context)]

    def edited(self, action: str) -> list[Request]:
        """What a key asks to be done with the mark that is chosen."""
        plan = self._context.plan
        return [] if plan is None else [*self._gizmo.edited(action, plan)]

    def free_at(self, x: float, y: float) -> bool:
        """Whether the mouse there (logical, y up) is over the scene, over no window and nothing to be moved."""
        left, top, width, height = self._context.scene_rect
        down = self._window.get_size()[1] - y
        inside = left <= x < left + width and top <= down < top + height
        taken = self._gizmo.wants_mouse or self._alternatives.wants_mouse or self._pointing.wants_mouse
        return inside and not imgui.get_io().want_capture_mouse and not taken

    def _pointed(self, plan: PlanView, views: int) -> list[EditTask]:
        """Where plans in flight are to lead."""
        if self._world is None or self.camera is None or views > 1:
            return []
        if plan.mpc is None or not plan.mpc.on or self._gizmo.wants_mouse:
            self._pointing.leave()
            return []
        view, projection = self.camera
        return self._pointing.draw(plan, self._ray_at, projection @ view, self._world, self._context)

    def _ray(self, place_px: tuple[float, float] | None, views: int) -> Ray | None:
        """Through a place (logical, y up)."""
        if place_px is None or self.camera is None or views > 1:
            return None
        return self._ray_at(place_px[0], self._window.get_size()[1] - place_px[1])

    def _ray_at(self, right_px: float, down_px: float) -> Ray:
        """Through window coordinates, origin top left."""
        assert self.camera is not None
        left, top, width, height = self._context.scene_rect
        x, y = 2.0 * (right_px - left) / width - 1.0, 1.0 - 2.0 * (down_px - top) / height
        return Ray.through(x, y, *self.camera)
