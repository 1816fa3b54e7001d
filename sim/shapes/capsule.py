"""All points within a radius of a segment."""

from dataclasses import dataclass, replace
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.platform.toml_table import TomlTable
from sim.shapes.shape import Shape, Vector, from_place, length, norm, round_gap, shifted, vector
from sim.shapes.solid import Solid, points_of, pose
from sim.shapes.surface import Surface, capsule_surface, turned_to


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
        T_w = pose(turned_to(along), self.middle_w)
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
