"""An upright cylinder with a foot and a top."""

from dataclasses import dataclass, replace
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.platform.toml_table import TomlTable
from sim.shapes.shape import Shape, Vector, box_distance, box_gap, from_place, length, norm, vector
from sim.shapes.solid import Solid, inset_of, pose, rings
from sim.shapes.surface import Surface, cylinder_surface

_POINT_M = 2e-3


@dataclass(frozen=True, slots=True)
class Drum(Shape):
    """An upright cylinder about its middle; on a plane a disc."""

    centre_w: Vector
    radius_m: float
    half_height_m: float
    name: str = ""
    look: str = ""

    kind = "drum"
    size = 5

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        d = x - q[:3]
        out, up = ca.sqrt(d[0] ** 2 + d[1] ** 2 + _POINT_M**2), ca.sqrt(d[2] ** 2 + _POINT_M**2)
        return box_gap(ca.vertcat(out - q[3], up - q[4])) - margin

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, self.radius_m, self.half_height_m])

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        dx, dy, dz = from_place(self.centre_w, points_w)
        return box_distance([norm(dx, dy) - self.radius_m, np.abs(dz) - self.half_height_m])

    @property
    def half_thickness_m(self) -> float:
        return min(self.radius_m, self.half_height_m)

    @property
    def across_m(self) -> float:
        return 2.0 * self.radius_m

    @property
    def core_w(self) -> np.ndarray:
        reach = max(self.half_height_m - self.radius_m, 0.0)
        return np.array(self.centre_w, float) + np.outer([-1.0, 1.0], (0.0, 0.0, reach))

    def scaled(self, factor: float) -> Self:
        return replace(self, radius_m=factor * self.radius_m, half_height_m=factor * self.half_height_m)

    def thickened(self, half_m: float) -> Self:
        return replace(
            self, radius_m=max(self.radius_m, half_m), half_height_m=max(self.half_height_m, half_m)
        )

    def on_plane(self) -> Shape:
        x, y, _ = self.centre_w
        return replace(self, centre_w=(x, y, 0.0), half_height_m=max(self.half_height_m, self.radius_m))

    def solid(self) -> Solid:
        r, half = self.radius_m, self.half_height_m
        across = r**2 / 4.0 + half**2 / 3.0
        inner, inset = min(r, half), inset_of(min(r, half))
        core = rings((inset - half, r - inset), (half - inset, r - inset))
        gyration, T_w = np.array([across, across, 0.5 * r**2]), pose(np.eye(3), self.centre_w)
        volume = 2.0 * np.pi * r**2 * half
        return Solid(T_w, volume, gyration, rings((-half, r), (half, r)), core, inner_m=inner)

    def surface(self) -> Surface:
        points, normals, faces = cylinder_surface(self.radius_m, self.half_height_m)
        return points + self.centre_w, normals, faces

    def text(self) -> dict[str, Any]:
        return {
            "centre_m": list(self.centre_w),
            "radius_m": self.radius_m,
            "half_height_m": self.half_height_m,
        }

    @classmethod
    def read(cls, table: TomlTable, name: str, look: str) -> Self:
        radius_m, half_m = length(table, "radius_m"), length(table, "half_height_m")
        return cls(vector(table, "centre_m"), radius_m, half_m, name, look)
