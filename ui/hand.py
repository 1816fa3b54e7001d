"""Bodies pulled with the mouse: which point of which body is under it, and where it is pulled to."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.commands import LetGo, Pull
from sim.outfit import outfit_of
from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.vehicles import VEHICLES, ActionVehicle
from ui.requests import Request

NEAR = 0.03
"""What passes the ray within this share of its distance is under the mouse."""
_OF_DISTANCE = 0.22
"""Radius of what has a model, as a share of the distance from which it is looked at."""


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


@dataclass(frozen=True, slots=True)
class Grip:
    """What the hand holds."""

    lane: str
    body: str
    at_b: tuple[float, float, float]
    depth_m: float
    """Of where it was taken, along the camera's direction."""


class Hand:
    """Takes what is under the mouse when the button goes down, and lets it go when that comes up."""

    def __init__(self) -> None:
        self._grip: Grip | None = None
        self._missed = False
        self._told: tuple[float, float, float] | None = None

    def requests(self, ray: Ray | None, snapshot: Snapshot, shifts_w: dict[str, np.ndarray]) -> list[Request]:
        """ray: through the mouse while the hand is closed, else None. shifts_w: how far lanes are drawn apart."""
        if ray is None:
            held, self._grip, self._missed, self._told = self._grip, None, False, None
            return [LetGo()] if held is not None else []
        if self._grip is None and not self._missed:
            self._grip = gripped(ray, snapshot, shifts_w)
            self._missed = self._grip is None
        if self._grip is None:
            return []
        grip = self._grip
        to_w = ray.at_depth(grip.depth_m) - shifts_w.get(grip.lane, np.zeros(3))
        place = float(to_w[0]), float(to_w[1]), float(to_w[2])
        if place == self._told:
            return []
        self._told = place
        return [Pull(grip.lane, grip.body, grip.at_b, place)]


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
                least, best = told, Grip(lane.name, point.body, (x, y, z), float(way @ ray.forward_w))
    return best


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
    own, shaped, main = outfit_of(lane.vehicle), {shape.body for shape in lane.links}, next(iter(lane.bodies))
    found = []
    for name, T_wb in lane.bodies.items():
        look = own.model.look_of(name)
        alone = name == main and (not shaped or own.file("model.glb") is not None)
        if name in shaped or not (look or alone):
            continue
        worn = outfit_of(look) if look else own
        radius_m, centre = _OF_DISTANCE * worn.camera.distance_m, T_wb[:3, 3] + shift_w
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
