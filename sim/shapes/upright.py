"""Kinds that are round about the vertical: a pillar without ends, a drum with a foot and a top, a cone."""

from dataclasses import replace
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.groups.numeric import pose_matrix
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.shapes.shape import (
    EDGE_M,
    Shape,
    Vector,
    box_distance,
    box_gap,
    from_place,
    length,
    norm,
    round_gap,
    vector,
)
from sim.shapes.solid import Solid, inset_of, rings
from sim.shapes.surface import Surface, cone_surface, cylinder_surface

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
        gyration, T_w = np.array([across, across, 0.5 * r**2]), pose_matrix(np.eye(3), self.centre_w)
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


_ENDLESS_M = 1e5


@dataclass(frozen=True, slots=True)
class Cylinder(Shape):
    """An endless vertical pillar."""

    centre_w: Vector
    radius_m: float
    name: str = ""
    look: str = ""

    kind = "cylinder"
    size = 4
    is_body = False

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        return round_gap(x[:2], q[:2], q[3] + margin)

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, self.radius_m])

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        return norm(*from_place(self.centre_w, points_w)[:2]) - self.radius_m

    @property
    def core_w(self) -> np.ndarray:
        return np.array(self.centre_w, float) + np.outer([-1.0, 1.0], (0.0, 0.0, _ENDLESS_M))

    def between(self, low_m: float, high_m: float) -> Shape:
        x, y, _ = self.centre_w
        return Drum((x, y, 0.5 * (low_m + high_m)), self.radius_m, 0.5 * (high_m - low_m))

    def surface(self) -> Surface:
        return self.between(self.centre_w[2] - _ENDLESS_M, self.centre_w[2] + _ENDLESS_M).surface()


@dataclass(frozen=True, slots=True)
class Cone(Shape):
    """An upright cone on its base, about whose middle it is; on a plane the disc of its base."""

    centre_w: Vector
    radius_m: float
    height_m: float
    name: str = ""
    look: str = ""

    kind = "cone"
    size = 5

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        d, radius, height = x - q[:3], q[3], q[4]
        out, up = ca.sqrt(d[0] ** 2 + d[1] ** 2 + _POINT_M**2), d[2]
        slant = ca.sqrt(radius**2 + height**2)
        side, below = (height * (out - radius) + radius * up) / slant, -up
        # The nearest points of the slanted side and of the base; the nearer one is of the cone.
        s = ca.fmin(ca.fmax(((radius - out) * radius + up * height) / slant**2, 0), 1)
        to_side = (out - radius * (1 - s)) ** 2 + (up - height * s) ** 2
        to_base = ca.fmax(out - radius, 0) ** 2 + up**2
        deepest = ca.fmax(side, below)
        outside = ca.if_else(deepest > 0, ca.fmin(to_side, to_base), 0)
        inside = (deepest - ca.sqrt(deepest**2 + EDGE_M**2)) / 2
        return ca.sqrt(outside + (0.5 * EDGE_M) ** 2) + inside - margin

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, self.radius_m, self.height_m])

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        dx, dy, up = from_place(self.centre_w, points_w)
        out, radius, height = norm(dx, dy), self.radius_m, self.height_m
        slant = np.hypot(radius, height)
        deepest = np.maximum((height * (out - radius) + radius * up) / slant, -up)
        s = np.clip(((radius - out) * radius + up * height) / slant**2, 0.0, 1.0)
        to_side = norm(out - radius * (1.0 - s), up - height * s)
        to_base = norm(np.maximum(out - radius, 0.0), up)
        return np.where(deepest > 0.0, np.minimum(to_side, to_base), deepest)

    @property
    def half_thickness_m(self) -> float:
        """Radius of the ball that fits into it."""
        slant = float(np.hypot(self.radius_m, self.height_m))
        return self.radius_m * self.height_m / (self.radius_m + slant)

    @property
    def across_m(self) -> float:
        return 2.0 * self.radius_m

    @property
    def sizes_m(self) -> tuple[float, ...]:
        return self.radius_m, self.height_m

    @property
    def core_w(self) -> np.ndarray:
        x, y, z = self.centre_w
        return np.array([(x, y, z), (x, y, z + max(self.height_m - self.radius_m, 0.0))])

    def thickened(self, half_m: float) -> Self:
        return self.scaled(max(half_m / max(self.half_thickness_m, 1e-9), 1.0))

    def scaled(self, factor: float) -> Self:
        x, y, z = self.centre_w
        lower = 0.25 * self.height_m * (factor - 1.0)  # all ways about the middle of what it holds
        return replace(
            self, centre_w=(x, y, z - lower), radius_m=factor * self.radius_m, height_m=factor * self.height_m
        )

    def on_plane(self) -> Shape:
        return Cylinder((self.centre_w[0], self.centre_w[1], 0.0), self.radius_m, self.name, self.look)

    def solid(self) -> Solid:
        r, h = self.radius_m, self.height_m
        low, inner = -0.25 * h, self.half_thickness_m
        across = 3.0 / 20.0 * r**2 + 3.0 / 80.0 * h**2
        # The core is a smaller cone of the same slope about the middle of the ball that fits.
        share = 1.0 - inset_of(inner) / inner
        middle = low + inner
        core = rings((middle + share * (low - middle), share * r), (middle + share * (low + h - middle), 0.0))
        x, y, z = self.centre_w
        T_w, gyration = pose_matrix(np.eye(3), (x, y, z - low)), np.array([across, across, 0.3 * r**2])
        volume = np.pi * r**2 * h / 3.0
        return Solid(T_w, volume, gyration, rings((low, r), (low + h, 0.0)), core, inner_m=inner)

    def surface(self) -> Surface:
        points, normals, faces = cone_surface(self.radius_m, self.height_m)
        return points + self.centre_w, normals, faces

    def text(self) -> dict[str, Any]:
        return {"centre_m": list(self.centre_w), "radius_m": self.radius_m, "height_m": self.height_m}

    @classmethod
    def read(cls, table: TomlTable, name: str, look: str) -> Self:
        radius_m, height_m = length(table, "radius_m"), length(table, "height_m")
        return cls(vector(table, "centre_m"), radius_m, height_m, name, look)
