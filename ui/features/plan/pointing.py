"""Pointing with the mouse in the scene: bodies that are pulled, and places to go to."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from sim.commands import LetGo, Pull
from sim.contact.obstacles import PropsPicture
from sim.planner.service.requests import EditTask
from sim.planner.service.session import PlanView
from sim.planner.task.bodies import positions
from sim.planner.task.mpc import with_goal_at
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.vehicles import VEHICLES, ActionVehicle
from sim.world import World
from ui.window import theme
from ui.window.context import PanelContext, Request, on_screen

NEAR = 0.03
"""What passes the ray within this share of its distance is under the mouse."""
_OF_DISTANCE = 0.22
"""Radius of what has a model, as a share of the distance from which it is looked at."""
_REACH = 3.0
"""How far out a hand over a level goes, by the distance at which it took hold."""


@dataclass(frozen=True, slots=True)
class Ray:
    """From the eye through a point of the picture."""

    origin_w: np.ndarray
    direction_w: np.ndarray
    """(3,) unit."""
    forward_w: np.ndarray
    """(3,) unit: the direction of the camera."""

    @staticmethod
    def through(x: float, y: float, view: np.ndarray, projection: np.ndarray) -> "Ray":
        """x, y: -1 to 1, right and up; matrices (4, 4) act on columns."""
        back = np.linalg.inv(projection @ view)
        near, far = (back @ (x, y, depth, 1.0) for depth in (-1.0, 1.0))
        way = far[:3] / far[3] - near[:3] / near[3]
        eye = np.linalg.inv(view)
        return Ray(eye[:3, 3], way / np.linalg.norm(way), -eye[:3, 2])

    def at_depth(self, depth_m: float) -> np.ndarray:
        """(3,) where it meets the plane across the camera's direction at that distance."""
        point: np.ndarray = (
            self.origin_w + depth_m / float(self.direction_w @ self.forward_w) * self.direction_w
        )
        return point

    def over_level(self, z_m: float, farthest_m: float) -> np.ndarray:
        """(3,) where it meets the level at z, or as far that way as is allowed from beside the eye."""
        way = self.direction_w[:2]
        flat = max(float(np.linalg.norm(way)), 1e-9)
        met = on_level(self, z_m)
        out_m = farthest_m if met is None else float(np.linalg.norm(met[:2] - self.origin_w[:2]))
        x, y = self.origin_w[:2] + min(out_m, farthest_m) / flat * way
        return np.array([x, y, z_m])


@dataclass(frozen=True, slots=True)
class Grip:
    """What the hand holds."""

    lane: str
    body: str | int
    """By name; or the number of a prop."""
    at_b: tuple[float, float, float]
    depth_m: float
    """Of where it was taken, along the camera's direction."""
    level_m: float | None = None
    """Height over which the hand stays: what moves in a plane would not go where a camera behind it lifts the hand."""

    def held_at(self, ray: Ray) -> np.ndarray:
        """(3,) where the hand is with the mouse there."""
        if self.level_m is None:
            return ray.at_depth(self.depth_m)
        return ray.over_level(self.level_m, _REACH * self.depth_m)


@dataclass(slots=True)
class _Hand:
    """Closed about something."""

    grip: Grip
    mouse_px: tuple[float, float]
    """Where the mouse was when the hand moved last."""
    place_w: np.ndarray
    """(3,) of the hand, as the picture has it."""


class BodyPulling:
    """Takes what is under the mouse when the button goes down, and lets it go when that comes up.

    The hand moves by as much as the mouse does and stays where it is in the world while that rests: a camera that
    follows what is pulled takes no hand along.
    """

    def __init__(self) -> None:
        self._hand: _Hand | None = None
        self._missed = False

    def requests(
        self,
        mouse_px: tuple[float, float] | None,
        ray_at: Callable[[float, float], Ray],
        snapshot: Snapshot,
        shifts_w: dict[str, np.ndarray],
    ) -> list[Request]:
        """mouse_px: of the mouse while the hand is closed, else None. ray_at: through such a place, by the camera now.

        shifts_w: how far lanes are drawn apart.
        """
        if mouse_px is None:
            hand, self._hand, self._missed = self._hand, None, False
            return [LetGo()] if hand is not None else []
        if self._missed:
            return []
        hand = self._hand
        if hand is None:
            ray = ray_at(*mouse_px)
            grip = gripped(ray, snapshot, shifts_w)
            if grip is None:
                self._missed = True
                return []
            hand = self._hand = _Hand(grip, mouse_px, grip.held_at(ray))
        elif mouse_px == hand.mouse_px:
            return []
        else:
            before_w, after_w = (hand.grip.held_at(ray_at(*px)) for px in (hand.mouse_px, mouse_px))
            hand.mouse_px, hand.place_w = mouse_px, hand.place_w + after_w - before_w
        grip = hand.grip
        x, y, z = (hand.place_w - shifts_w.get(grip.lane, np.zeros(3))).tolist()
        return [Pull(grip.lane, grip.body, grip.at_b, (x, y, z))]


class _Point(NamedTuple):
    """Of a body that may be taken."""

    body: str
    at_b: np.ndarray
    at_w: np.ndarray
    radius_m: float
    """Of what is about it."""
    about: bool = False
    """That is only about as large: what is told exactly goes first."""


def gripped(ray: Ray, snapshot: Snapshot, shifts_w: dict[str, np.ndarray]) -> Grip | None:
    """The nearest to the ray of what is under the mouse; None where nothing is."""
    best, least = None, (NEAR, False, math.inf)
    for lane in snapshot.lanes:
        if lane.status is not LaneStatus.RUNNING:
            continue
        shift_w = shifts_w.get(lane.name, np.zeros(3))
        for point in (*_of_links(ray, lane, shift_w), *_of_models(ray, lane, shift_w)):
            way = point.at_w - ray.origin_w
            along = float(way @ ray.direction_w)
            if along <= 0.0:
                continue
            off = (float(np.linalg.norm(way - along * ray.direction_w)) - point.radius_m) / along
            told = max(off, 0.0), point.about, along - (point.radius_m if off < 0.0 else 0.0)
            if told < least:
                x, y, z = point.at_b.tolist()
                group = None if lane.mechanics is None else getattr(lane.mechanics, "group", None)
                level_m = float(point.at_w[2]) if group is not None and group.turns == 1 else None
                depth_m = float(way @ ray.forward_w)
                least, best = told, Grip(lane.name, point.body, (x, y, z), depth_m, level_m)
    shift_w = shifts_w.get(snapshot.lanes[0].name, np.zeros(3))
    struck = struck_prop(replace(ray, origin_w=ray.origin_w - shift_w), snapshot.environment)
    if struck is not None and (0.0, False, struck.distance_m) < least:
        depth_m = struck.distance_m * float(ray.direction_w @ ray.forward_w)
        best = Grip(snapshot.lanes[0].name, struck.prop, struck.at_b, depth_m)
    return best


class Struck(NamedTuple):
    """Where a ray meets a prop first."""

    prop: int
    at_b: tuple[float, float, float]
    """In its principal axes [m]."""
    distance_m: float


def struck_prop(ray: Ray, environment: object) -> Struck | None:
    """The first prop on the ray; None where it meets none, or there are none."""
    if not isinstance(environment, PropsPicture):
        return None
    best = None
    for k, (shape, T) in enumerate(zip(environment.shapes, environment.poses_w, strict=True)):
        corners, reach_m = _triangles(shape)
        way = T[:3, 3] - ray.origin_w
        along = float(way @ ray.direction_w)
        if along < -reach_m or float(way @ way) - along * along > reach_m**2:
            continue
        origin, direction = -T[:3, :3].T @ way, T[:3, :3].T @ ray.direction_w
        met = _first_met(origin, direction, corners)
        if met is not None and (best is None or met < best.distance_m):
            x, y, z = (origin + met * direction).tolist()
            best = Struck(k, (x, y, z), met)
    return best


@lru_cache(maxsize=2048)
def _triangles(shape: Shape) -> tuple[np.ndarray, float]:
    """(m, 3, 3) corners of what is drawn of a shape, in its principal axes, and how far they reach [m]."""
    points, _, faces = shape.surface()
    T = shape.solid().T_w
    own = (points - T[:3, 3]) @ T[:3, :3]
    return own[faces.astype(np.int64)], float(np.linalg.norm(own, axis=1).max())


def _first_met(origin: np.ndarray, direction: np.ndarray, corners: np.ndarray) -> float | None:
    """How far along a ray it meets the first of triangles (m, 3, 3) [m], by Moeller and Trumbore."""
    u, v, to = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], origin - corners[:, 0]
    p, q = np.cross(direction, v), np.cross(to, u)
    size = np.einsum("tc,tc->t", u, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = np.einsum("tc,tc->t", to, p) / size, (q @ direction) / size
        along = np.einsum("tc,tc->t", v, q) / size
        met = along[(np.abs(size) > 1e-15) & (a >= 0.0) & (b >= 0.0) & (a + b <= 1.0) & (along > 0.0)]
    return float(met.min()) if len(met) else None


def _of_links(ray: Ray, lane: LaneSnapshot, shift_w: np.ndarray) -> list[_Point]:
    """The point of each that is nearest to the ray; none of the mark at which others are wanted."""
    found, kind = [], VEHICLES.get(lane.vehicle)
    wanted = kind.leader if kind is not None and issubclass(kind, ActionVehicle) else ""
    for shape in lane.links:
        if shape.body not in lane.bodies or shape.body == wanted:
            continue
        T_wb = lane.bodies[shape.body]
        begin_b, way_b = np.array(shape.begin_b), np.subtract(shape.end_b, shape.begin_b)
        begin_w = T_wb[:3, :3] @ begin_b + T_wb[:3, 3] + shift_w
        share = _nearest_share(ray, begin_w, T_wb[:3, :3] @ way_b)
        at_b = begin_b + share * way_b
        found.append(_Point(shape.body, at_b, T_wb[:3, :3] @ at_b + T_wb[:3, 3] + shift_w, shape.radius_m))
    return found


def _of_models(ray: Ray, lane: LaneSnapshot, shift_w: np.ndarray) -> list[_Point]:
    """A point within each that is drawn by a model of its own, or of the main body where nothing else is drawn."""
    own, shaped, main = (
        lane.config,
        {shape.body for shape in lane.links},
        next(iter(lane.bodies)),
    )
    found = []
    for name, T_wb in lane.bodies.items():
        look = own.look_of(name)
        alone = name == main and (not shaped or own.file("model.glb") is not None)
        if name in shaped or not (look or alone):
            continue
        shown = look or own
        radius_m, centre = _OF_DISTANCE * shown.camera.distance_m, T_wb[:3, 3] + shift_w
        nearest = ray.origin_w + float((centre - ray.origin_w) @ ray.direction_w) * ray.direction_w - centre
        off_m = float(np.linalg.norm(nearest))
        if off_m < radius_m:
            grip_w = nearest * min(1.0, 0.5 * radius_m / max(off_m, 1e-12))
            found.append(_Point(name, T_wb[:3, :3].T @ grip_w, centre + nearest, radius_m, about=True))
    return found


def _nearest_share(ray: Ray, begin_w: np.ndarray, way_w: np.ndarray) -> float:
    """Share of the way from its begin at which a segment is nearest to the ray's line."""
    across = way_w - float(way_w @ ray.direction_w) * ray.direction_w
    square = float(across @ across)
    if square < 1e-18:
        return 0.5
    return min(max(float(across @ (ray.origin_w - begin_w)) / square, 0.0), 1.0)


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
