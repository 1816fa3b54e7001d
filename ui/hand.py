"""Bodies pulled with the mouse: which point of which body is under it, and where it is pulled to."""

from dataclasses import dataclass

import numpy as np

from sim.commands import LetGo, Pull
from sim.outfit import outfit_of
from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
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


def gripped(ray: Ray, snapshot: Snapshot, shifts_w: dict[str, np.ndarray]) -> Grip | None:
    """The nearest to the ray of what is under the mouse; None where nothing is."""
    best, off_least = None, NEAR
    for lane in snapshot.lanes:
        if lane.status is not LaneStatus.RUNNING:
            continue
        shift_w = shifts_w.get(lane.name, np.zeros(3))
        for body, at_b, point_w, radius_m in _points(ray, lane, shift_w):
            way = point_w - ray.origin_w
            along = float(way @ ray.direction_w)
            if along <= 0.0:
                continue
            off = (float(np.linalg.norm(way - along * ray.direction_w)) - radius_m) / along
            if off < off_least:
                off_least = off
                best = Grip(lane.name, body, at_b, float(way @ ray.forward_w))
    return best


def _points(
    ray: Ray, lane: LaneSnapshot, shift_w: np.ndarray
) -> list[tuple[str, tuple[float, float, float], np.ndarray, float]]:
    """(body, its point, that in the world, radius [m]): of each link the point that is nearest to the ray."""
    shapes = [shape for shape in lane.links if shape.body in lane.bodies]
    if not shapes:
        name, T_wb = next(iter(lane.bodies.items()))
        radius_m = _OF_DISTANCE * outfit_of(lane.vehicle).camera.distance_m
        centre = T_wb[:3, 3] + shift_w
        way = centre - ray.origin_w
        nearest = ray.origin_w + float(way @ ray.direction_w) * ray.direction_w - centre
        grip = nearest * min(1.0, 0.5 * radius_m / max(float(np.linalg.norm(nearest)), 1e-12))
        x, y, z = (T_wb[:3, :3].T @ grip).tolist()
        return [(name, (x, y, z), centre + nearest, radius_m)] if np.linalg.norm(nearest) < radius_m else []
    found = []
    for shape in shapes:
        T_wb = lane.bodies[shape.body]
        begin_b, way_b = np.array(shape.begin_b), np.subtract(shape.end_b, shape.begin_b)
        begin_w = T_wb[:3, :3] @ begin_b + T_wb[:3, 3] + shift_w
        share = _nearest_share(ray, begin_w, T_wb[:3, :3] @ way_b)
        at_b = begin_b + share * way_b
        point_w = T_wb[:3, :3] @ at_b + T_wb[:3, 3] + shift_w
        found.append((shape.body, (float(at_b[0]), float(at_b[1]), float(at_b[2])), point_w, shape.radius_m))
    return found


def _nearest_share(ray: Ray, begin_w: np.ndarray, way_w: np.ndarray) -> float:
    """Share of the way from its begin at which a segment is nearest to the ray's line."""
    across = way_w - float(way_w @ ray.direction_w) * ray.direction_w
    square = float(across @ across)
    if square < 1e-18:
        return 0.5
    return min(max(float(across @ (ray.origin_w - begin_w)) / square, 0.0), 1.0)
