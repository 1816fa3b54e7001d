"""Kinds that are round whichever way they lie: a ball, a capsule, an ellipsoid."""

from dataclasses import replace
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.groups.numeric import pose_matrix, turned_to, upright
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.shapes.shape import Oriented, Shape, Vector, from_place, length, norm, round_gap, shifted, vector
from sim.shapes.solid import Solid, points_of
from sim.shapes.surface import Surface, capsule_surface, ellipsoid_surface


@dataclass(frozen=True, slots=True)
class Capsule(Shape):
    """All points within a radius of a segment."""

    start_w: Vector
    end_w: Vector
    radius_m: float
    name: str = ""
    look: str = ""

    kind = "capsule"
    size = 7
    is_wall = True

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        along = q[3:6] - q[:3]
        s = ca.dot(x - q[:3], along) / (ca.dot(along, along) + 1e-12)
        return round_gap(x, q[:3] + ca.fmin(ca.fmax(s, 0), 1) * along, q[6] + margin)

    def numbers(self) -> np.ndarray:
        return np.array([*self.start_w, *self.end_w, self.radius_m])

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        along, d = np.subtract(self.end_w, self.start_w), from_place(self.start_w, points_w)
        s = np.clip(along @ d / max(along @ along, 1e-12), 0.0, 1.0)
        return norm(*(d - along[:, None] * s)) - self.radius_m

    @property
    def middle_w(self) -> Vector:
        x, y, z = (0.5 * np.add(self.start_w, self.end_w)).tolist()
        return x, y, z

    @property
    def core_w(self) -> np.ndarray:
        return np.array([self.start_w, self.end_w], float)

    def moved(self, by_w: Vector, heading_rad: float | None = None) -> Self:
        return replace(self, start_w=shifted(self.start_w, by_w), end_w=shifted(self.end_w, by_w))

    def scaled(self, factor: float) -> Self:
        middle = np.array(self.middle_w)
        (a, b, c), (d, e, f) = (middle + factor * (self.core_w - middle)).tolist()
        return replace(self, start_w=(a, b, c), end_w=(d, e, f), radius_m=factor * self.radius_m)

    def on_plane(self) -> Shape:
        (x, y, _), (a, b, _) = self.start_w, self.end_w
        return replace(self, start_w=(x, y, 0.0), end_w=(a, b, 0.0))

    @property
    def extremes_w(self) -> np.ndarray:
        return self.core_w

    @property
    def footprint(self) -> np.ndarray:
        dx, dy = np.subtract(self.end_w, self.start_w)[:2]
        return np.array([*self.middle_w[:2], 0.5 * np.hypot(dx, dy), 0.0, np.arctan2(dy, dx), self.radius_m])

    def solid(self) -> Solid:
        along, r = np.subtract(self.end_w, self.start_w), self.radius_m
        long = float(np.linalg.norm(along))
        ends = points_of(np.array([(0.0, 0.0, -0.5 * long), (0.0, 0.0, 0.5 * long)]))
        # A cylinder, and two half balls whose own centres lie 3/8 r beyond its ends.
        middle, balls = np.pi * r**2 * long, 4.0 / 3.0 * np.pi * r**3
        volume = middle + balls
        spin = (0.5 * middle + 0.4 * balls) * r**2
        over = middle * (r**2 / 4.0 + long**2 / 12.0) + balls * (
            0.4 * r**2 + long**2 / 4.0 + 3.0 * r * long / 8.0
        )
        gyration = np.array([over, over, spin]) / volume
        T_w = pose_matrix(turned_to(along), self.middle_w)
        return Solid(T_w, volume, gyration, ends, ends, r, inner_m=r)

    def surface(self) -> Surface:
        along = np.subtract(self.end_w, self.start_w)
        points, normals, faces = capsule_surface(self.radius_m, 0.5 * float(np.linalg.norm(along)))
        R = turned_to(along)
        return points @ R.T + self.middle_w, normals @ R.T, faces

    def text(self) -> dict[str, Any]:
        return {"start_m": list(self.start_w), "end_m": list(self.end_w), "radius_m": self.radius_m}

    @classmethod
    def read(cls, table: TomlTable, name: str, look: str) -> Self:
        start, end = vector(table, "start_m"), vector(table, "end_m")
        return cls(start, end, length(table, "radius_m"), name, look)


_ROUNDS, _BISECTIONS = 8, 60
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Ellipsoid(Oriented):
    """An ellipsoid turned about the vertical; on a plane it is met at its own height."""

    kind = "ellipsoid"
    size = 7
    turns = True

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        c, s = ca.cos(q[6]), ca.sin(q[6])
        d, half = x - q[:3], q[3:6]
        local = ca.vertcat(c * d[0] + s * d[1], -s * d[0] + c * d[1], d[2])
        out = ca.sqrt(ca.sumsqr(local / half) + _LEAST)
        # The nearest point is half^2 local / (half^2 + t), whose t Newton's method finds from the one of a ball, along
        # a function that is straight for a ball.
        t = ca.SX(0)
        for _ in range(_ROUNDS):
            spread = half**2 + t
            square = ca.sumsqr(half * local / spread) + _LEAST
            slope = ca.sum1((half * local) ** 2 / spread**3) / (square * ca.sqrt(square)) + _LEAST
            t = ca.fmax(t + (1.0 - 1.0 / ca.sqrt(square)) / slope, 0)
        away = ca.sqrt(ca.sumsqr(t * local / (half**2 + t)) + _LEAST)
        return ca.if_else(out > 1, away, (out - 1) * ca.mmin(half)) - margin

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        d = from_place(self.centre_w, points_w).T @ upright(self.heading_rad)
        half = np.array(self.half_m, float)
        # On an axis or in the middle of it every way out is as short: a hair beside is like any of them.
        local = np.maximum(np.abs(d), 1e-9 * half.min())
        # By bisection for t, between where the point would lie on a thinnest ellipsoid and far outside.
        low, high = np.full(len(d), -(half.min() ** 2)), half.max() * np.linalg.norm(local, axis=1)
        for _ in range(_BISECTIONS):
            t = 0.5 * (low + high)
            over = ((half * local / np.maximum(half**2 + t[:, None], 1e-300)) ** 2).sum(axis=1) > 1.0
            low, high = np.where(over, t, low), np.where(over, high, t)
        nearest = half**2 * local / np.maximum(half**2 + high[:, None], 1e-300)
        away: np.ndarray = np.linalg.norm(local - nearest, axis=1)
        return np.where(((local / half) ** 2).sum(axis=1) > 1.0, away, -away)

    def thickened(self, half_m: float) -> Self:
        share = max(half_m / max(self.half_thickness_m, 1e-9), 1.0)
        x, y, z = (share * half for half in self.half_m)
        return replace(self, half_m=(x, y, z))

    def solid(self) -> Solid:
        half, point = np.array(self.half_m, float), points_of(np.zeros((1, 3)))
        volume, gyration = 4.0 / 3.0 * np.pi * float(half.prod()), (np.sum(half**2) - half**2) / 5.0
        T_w, inner = pose_matrix(upright(self.heading_rad), self.centre_w), float(half.min())
        return Solid(T_w, volume, gyration, point, point, 1.0, 0.8, stretch=half, inner_m=inner)

    def surface(self) -> Surface:
        return self.placed(ellipsoid_surface(np.array(self.half_m, float)))


@dataclass(frozen=True, slots=True)
class Sphere(Shape):
    """A ball; on a plane a disc."""

    centre_w: Vector
    radius_m: float
    name: str = ""
    look: str = ""

    kind = "sphere"
    size = 4

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        return round_gap(x, q[:3], q[3] + margin)

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, self.radius_m])

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        return norm(*from_place(self.centre_w, points_w)) - self.radius_m

    def solid(self) -> Solid:
        r, point = self.radius_m, points_of(np.zeros((1, 3)))
        volume, gyration = 4.0 / 3.0 * np.pi * r**3, np.full(3, 0.4 * r**2)
        return Solid(pose_matrix(np.eye(3), self.centre_w), volume, gyration, point, point, r, inner_m=r)

    def surface(self) -> Surface:
        points, normals, faces = capsule_surface(self.radius_m, 0.0)
        return points + self.centre_w, normals, faces
