"""Obstacles as smooth signed distances whose numbers are parameters: dragging one rebuilds nothing."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

Vector = tuple[float, float, float]
LOOKS = ("", "barrels", "buoy", "crates", "mast", "rock", "saloon", "kerb")
"""What an obstacle may be drawn as; empty: as the bare shape. A kerb is part of the world's own ground."""

_THIN_M = 0.1
_EDGE_M = 0.02
"""Rounding of a box's edges, so that its distance can be differentiated twice."""


@dataclass(frozen=True, slots=True)
class Sphere:
    """A ball; on a plane a disc."""

    centre_w: Vector
    radius_m: float
    name: str = ""
    look: str = ""

    kind = "sphere"

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, self.radius_m])


@dataclass(frozen=True, slots=True)
class Cylinder:
    """An endless vertical pillar."""

    centre_w: Vector
    radius_m: float
    name: str = ""
    look: str = ""

    kind = "cylinder"

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, self.radius_m])


@dataclass(frozen=True, slots=True)
class Capsule:
    """All points within a radius of a segment."""

    start_w: Vector
    end_w: Vector
    radius_m: float
    name: str = ""
    look: str = ""

    kind = "capsule"

    def numbers(self) -> np.ndarray:
        return np.array([*self.start_w, *self.end_w, self.radius_m])


@dataclass(frozen=True, slots=True)
class Box:
    """A block turned about the vertical."""

    centre_w: Vector
    half_m: Vector
    heading_rad: float = 0.0
    name: str = ""
    look: str = ""

    kind = "box"

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, *self.half_m, self.heading_rad])


Obstacle = Sphere | Cylinder | Capsule | Box


def _round(point: ca.SX, q: ca.SX, radius: ca.SX) -> ca.SX:
    """Exact on the surface and smooth everywhere: (|d|^2 - r^2) / 2r.

    Of what is thinner than a hand only the sign is: a steeper slope no solver can work with. Where a negative margin
    is more than the radius, nothing is left.
    """
    d = point - q
    return (ca.dot(d, d) - radius * ca.fabs(radius)) / (2 * ca.fmax(radius, _THIN_M))


def _sphere(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
    return _round(x, q[:3], q[3] + margin)


def _cylinder(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
    return _round(x[:2], q[:2], q[3] + margin)


def _capsule(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
    along = q[3:6] - q[:3]
    s = ca.dot(x - q[:3], along) / (ca.dot(along, along) + 1e-12)
    return _round(x, q[:3] + ca.fmin(ca.fmax(s, 0), 1) * along, q[6] + margin)


def _box(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
    c, s = ca.cos(q[6]), ca.sin(q[6])
    d = x - q[:3]
    local = ca.vertcat(c * d[0] + s * d[1], -s * d[0] + c * d[1], d[2])
    over = ca.sqrt(local**2 + (0.1 * _EDGE_M) ** 2) - q[3:6]
    outside = (over + ca.sqrt(over**2 + _EDGE_M**2)) / 2
    deepest = ca.fmax(ca.fmax(over[0], over[1]), over[2])
    inside = (deepest - ca.sqrt(deepest**2 + _EDGE_M**2)) / 2
    return ca.sqrt(ca.dot(outside, outside) + 1e-8) + inside - margin


@dataclass(frozen=True)
class Kind:
    """How one kind of obstacle is measured."""

    size: int
    distance: Callable[[ca.SX, ca.SX, ca.SX], ca.SX]
    """(point (3,) m, numbers, margin m) -> signed distance [m], negative where the margin is violated."""


KINDS: dict[str, Kind] = {
    "sphere": Kind(4, _sphere),
    "cylinder": Kind(4, _cylinder),
    "capsule": Kind(7, _capsule),
    "box": Kind(7, _box),
}


def half_thickness_m(obstacle: Obstacle) -> float:
    """Of its thinnest part."""
    return min(obstacle.half_m) if isinstance(obstacle, Box) else obstacle.radius_m


def true_distance(obstacle: Obstacle, points_w: np.ndarray) -> np.ndarray:
    """Exact signed distance [m] of points (n, 3); negative inside. What plans are checked by."""
    x = np.asarray(points_w, float).T
    if isinstance(obstacle, Sphere):
        return _length(*_from(obstacle.centre_w, x)) - obstacle.radius_m
    if isinstance(obstacle, Cylinder):
        return _length(*_from(obstacle.centre_w, x)[:2]) - obstacle.radius_m
    if isinstance(obstacle, Capsule):
        a, b = np.array(obstacle.start_w), np.array(obstacle.end_w)
        along, d = b - a, _from(obstacle.start_w, x)
        s = np.clip(along @ d / max(along @ along, 1e-12), 0.0, 1.0)
        return _length(*(d - along[:, None] * s)) - obstacle.radius_m
    c, s = math.cos(obstacle.heading_rad), math.sin(obstacle.heading_rad)
    dx, dy, dz = _from(obstacle.centre_w, x)
    local = (c * dx + s * dy, -s * dx + c * dy, dz)
    over = [np.abs(d) - half for d, half in zip(local, obstacle.half_m, strict=True)]
    deepest = np.maximum(np.maximum(over[0], over[1]), over[2])
    return _length(*(np.maximum(d, 0.0) for d in over)) + np.minimum(deepest, 0.0)


def _from(place_w: Vector, x: np.ndarray) -> np.ndarray:
    """(3, n) from a place to points (3, n)."""
    return x - np.array(place_w)[:, None]


def _length(*parts: np.ndarray) -> np.ndarray:
    """(n,) of vectors given axis by axis: sums along short rows are slow."""
    return np.sqrt(sum(part * part for part in parts))


def label(obstacle: Obstacle, index: int) -> str:
    """What messages call it."""
    return obstacle.name or f"{obstacle.kind} {index + 1}"


def entered(obstacle: Obstacle, index: int) -> str:
    """What failures call it when the motion goes through it."""
    return f"obstacle {label(obstacle, index)} is entered"


def carried(obstacle: Obstacle, by_w: tuple[float, float, float]) -> Obstacle:
    """It by (3,) m elsewhere."""

    def there(place_w: tuple[float, float, float]) -> tuple[float, float, float]:
        x, y, z = (a + b for a, b in zip(place_w, by_w, strict=True))
        return x, y, z

    if isinstance(obstacle, Capsule):
        return replace(obstacle, start_w=there(obstacle.start_w), end_w=there(obstacle.end_w))
    return replace(obstacle, centre_w=there(obstacle.centre_w))
