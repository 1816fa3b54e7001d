"""A block turned about the vertical."""

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Self

import casadi as ca
import numpy as np

from sim.shapes.shape import (
    EDGE_M,
    Oriented,
    box_distance,
    box_gap,
    from_place,
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

    def solid(self) -> Solid:
        half = np.array(self.half_m, float)
        points = np.array([*product((-1.0, 1.0), repeat=3)]) * half
        sides = np.vstack([np.column_stack([sign * np.eye(3), half]) for sign in (-1.0, 1.0)])
        gyration = (np.sum(half**2) - half**2) / 3.0
        T_w = pose(upright(self.heading_rad), self.centre_w)
        return polytope(points, sides, 8.0 * float(half.prod()), gyration, T_w)

    def surface(self) -> Surface:
        return self.placed(box_surface(np.array(self.half_m, float)))
