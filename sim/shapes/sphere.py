"""A ball; on a plane a disc."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.shapes.shape import Shape, Vector, from_place, norm, round_gap
from sim.shapes.solid import Solid, points_of, pose
from sim.shapes.surface import Surface, capsule_surface


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
        return Solid(pose(np.eye(3), self.centre_w), volume, gyration, point, point, r, inner_m=r)

    def surface(self) -> Surface:
        points, normals, faces = capsule_surface(self.radius_m, 0.0)
        return points + self.centre_w, normals, faces
