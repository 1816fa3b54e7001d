"""A block turned about the vertical."""

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.platform.toml_table import TomlTable
from sim.shapes.shape import (
    EDGE_M,
    LARGEST_M,
    Oriented,
    box_distance,
    box_gap,
    from_place,
    heading_of,
    vector,
)
from sim.shapes.solid import Solid, polytope, pose
from sim.shapes.surface import Surface, box_surface, upright


@dataclass(frozen=True, slots=True)
class Box(Oriented):
    """A block turned about the vertical."""

    kind = "box"
    size = 7
    is_wall = True
    turns = True

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        c, s = ca.cos(q[6]), ca.sin(q[6])
        d = x - q[:3]
        local = ca.vertcat(c * d[0] + s * d[1], -s * d[0] + c * d[1], d[2])
        return box_gap(ca.sqrt(local**2 + (0.1 * EDGE_M) ** 2) - q[3:6]) - margin

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        c, s = math.cos(self.heading_rad), math.sin(self.heading_rad)
        dx, dy, dz = from_place(self.centre_w, points_w)
        local = (c * dx + s * dy, -s * dx + c * dy, dz)
        return box_distance([np.abs(d) - half for d, half in zip(local, self.half_m, strict=True)])

    def thickened(self, half_m: float) -> Self:
        x, y, z = (max(half, half_m) for half in self.half_m)
        return replace(self, half_m=(x, y, z))

    @property
    def footprint(self) -> np.ndarray:
        return np.array([*self.centre_w[:2], *self.half_m[:2], self.heading_rad, 0.0])

    def solid(self) -> Solid:
        half = np.array(self.half_m, float)
        points = np.array([*product((-1.0, 1.0), repeat=3)]) * half
        sides = np.vstack([np.column_stack([sign * np.eye(3), half]) for sign in (-1.0, 1.0)])
        gyration = (np.sum(half**2) - half**2) / 3.0
        T_w = pose(upright(self.heading_rad), self.centre_w)
        return polytope(points, sides, 8.0 * float(half.prod()), gyration, T_w)

    def surface(self) -> Surface:
        points, normals, faces = box_surface(np.array(self.half_m, float))
        R = upright(self.heading_rad)
        return points @ R.T + self.centre_w, normals @ R.T, faces

    def text(self) -> dict[str, Any]:
        heading_deg = math.degrees(self.heading_rad)
        return {"centre_m": list(self.centre_w), "half_m": list(self.half_m), "heading_deg": heading_deg}

    @classmethod
    def read(cls, table: TomlTable, name: str, look: str) -> Self:
        x, y, z = table.numbers("half_m", (1.0, 1.0, 1.0), low=-LARGEST_M, high=LARGEST_M, count=3)
        return cls(vector(table, "centre_m"), (x, y, z), heading_of(table), name, look)
