"""Kinds with flat sides: a block turned about the vertical, and the convex hull of points (ramps, wedges, gables)."""

import math
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.groups.numeric import pose_matrix, upright
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.shapes.shape import (
    EDGE_M,
    FAR_M,
    Oriented,
    Shape,
    Vector,
    box_distance,
    box_gap,
    from_place,
    shifted,
)
from sim.shapes.solid import Solid, polytope
from sim.shapes.surface import Surface, box_surface, creased, to_triangles

MOST_SIDES = 24
_FLAT = 1e-6


@dataclass(frozen=True, slots=True)
class ConvexMesh(Shape):
    """The convex hull of points; on a plane the prism over what is seen of it from above. What plans go round, and what
    files tell, has few flat sides."""

    points_w: tuple[Vector, ...]
    name: str = ""
    look: str = ""

    kind = "mesh"
    size = 4 * MOST_SIDES
    is_wall = True

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        # Over a corner the farthest side is nearer than the corner: what keeps from the one keeps from the other.
        sides = ca.reshape(q, 4, MOST_SIDES)
        over = sides[:3, :].T @ x - sides[3, :].T
        deepest = ca.mmax(over)
        steep = np.log(MOST_SIDES) / EDGE_M
        return deepest + (ca.log(ca.sum1(ca.exp(steep * (over - deepest)))) / steep - EDGE_M) - margin

    def numbers(self) -> np.ndarray:
        """Raises InputError for what is flat or has more than MOST_SIDES."""
        sides = self._sides
        if len(sides) > MOST_SIDES:
            raise InputError(f"the hull has {len(sides)} flat sides; allowed: {MOST_SIDES}")
        return np.concatenate([sides, np.repeat(sides[-1:], MOST_SIDES - len(sides), axis=0)]).ravel()

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        x = np.asarray(points_w, float).reshape(-1, 3)
        deepest = (x @ self._sides[:, :3].T - self._sides[:, 3]).max(axis=1)
        outside = np.flatnonzero(deepest > 0.0)
        found = deepest.copy()
        found[outside] = to_triangles(x[outside], self._corners)
        return found

    @property
    def _sides(self) -> np.ndarray:
        """(k, 4) outward unit normals, and how far along them each side is."""
        return _hull(_plain(self.points_w))[0]

    @property
    def _corners(self) -> np.ndarray:
        """(m, 3, 3) of triangles, counter-clockwise from outside."""
        return _hull(_plain(self.points_w))[1]

    @property
    def middle_w(self) -> Vector:
        x, y, z = np.mean(self.points_w, axis=0).tolist()
        return x, y, z

    @property
    def half_thickness_m(self) -> float:
        reach = np.array(self.points_w, float) @ self._sides[:, :3].T
        return 0.5 * float((reach.max(axis=0) - reach.min(axis=0)).min())

    @property
    def across_m(self) -> float:
        return float(np.ptp(np.array(self.points_w, float)[:, 1]))

    @property
    def core_w(self) -> np.ndarray:
        points = np.array(self.points_w, float)
        _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
        along = (points - points.mean(axis=0)) @ axes.T
        reach = np.abs(along).max(axis=0)
        return points.mean(axis=0) + np.outer([-1.0, 1.0], max(reach[0] - reach[1], 0.0) * axes[0])

    def thickened(self, half_m: float) -> Self:
        """Grown about its middle."""
        return self.scaled(max(half_m / max(self.half_thickness_m, 1e-9), 1.0))

    def scaled(self, factor: float) -> Self:
        middle = np.array(self.middle_w)
        grown = middle + factor * (np.array(self.points_w, float) - middle)
        return replace(self, points_w=tuple((x, y, z) for x, y, z in grown.tolist()))

    def moved(self, by_w: Vector, heading_rad: float | None = None) -> Self:
        return replace(self, points_w=tuple(shifted(point, by_w) for point in self.points_w))

    def on_plane(self) -> Shape:
        points = np.array(self.points_w, float)
        tall = float(np.ptp(points, axis=0).max())
        prism = [(x, y, z) for x, y, _ in points.tolist() for z in (-tall, tall)]
        return replace(self, points_w=tuple(prism))

    @property
    def footprint(self) -> np.ndarray:
        """The smallest rectangle around it: along one of its edges."""
        flat = np.array(self.points_w, float)[:, :2]
        along = (np.roll(self._corners, -1, axis=1) - self._corners)[..., :2].reshape(-1, 2)
        along = along[np.linalg.norm(along, axis=1) > _FLAT]
        best = np.full(6, np.inf)
        for heading in np.unique(np.arctan2(along[:, 1], along[:, 0]).round(9)):
            turn = upright(heading)[:2, :2]
            own = flat @ turn
            low, high = own.min(axis=0), own.max(axis=0)
            half, middle = 0.5 * (high - low), 0.5 * (high + low) @ turn.T
            if half.prod() < best[2] * best[3]:
                best = np.array([*middle, *half, heading, 0.0])
        return best

    def solid(self) -> Solid:
        # Tetrahedra between the origin and each triangle: volume, centre and second moments.
        sides, corners = _hull(_plain(self.points_w))
        six = np.linalg.det(corners)
        volume, sums = float(six.sum() / 6.0), corners.sum(axis=1)
        centre = (six[:, None] * sums).sum(axis=0) / (24.0 * volume)
        second = np.einsum("t,tki,tkj->ij", six, corners, corners) + np.einsum("t,ti,tj->ij", six, sums, sums)
        second = second / (120.0 * volume) - np.outer(centre, centre)
        moments, R = np.linalg.eigh(np.trace(second) * np.eye(3) - second)
        R = R * np.sign(np.linalg.det(R))
        points = (np.unique(corners.reshape(-1, 3), axis=0) - centre) @ R
        own = np.column_stack([sides[:, :3] @ R, sides[:, 3] - sides[:, :3] @ centre])
        return polytope(points, own, volume, moments, pose_matrix(R, centre))

    def surface(self) -> Surface:
        corners = self._corners
        return creased(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))

    def text(self) -> dict[str, Any]:
        return {"points_m": [list(point) for point in self.points_w]}

    @classmethod
    def read(cls, table: TomlTable, name: str, look: str) -> Self:
        rows = table.raw("points_m") if table.has("points_m") else []
        if not isinstance(rows, list) or len(rows) < 4:
            raise table.error("points_m", "allowed: a list of four points [x, y, z] or more")
        inner = table.inner("points_m", {f"[{k}]": row for k, row in enumerate(rows)})
        points = [inner.numbers(f"[{k}]", (), low=-FAR_M, high=FAR_M, count=3) for k in range(len(rows))]
        mesh = cls(tuple((x, y, z) for x, y, z in points), name, look)
        try:
            mesh.numbers()
        except InputError as error:
            raise table.error("points_m", str(error)) from None
        return mesh


def _plain(points_w: object) -> tuple[Vector, ...]:
    return tuple((float(x), float(y), float(z)) for x, y, z in points_w)  # type: ignore[attr-defined]


@lru_cache(maxsize=256)
def _hull(points_w: tuple[Vector, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Sides (k, 4) and triangles (m, 3, 3). Raises InputError for what is flat."""
    from scipy.spatial import ConvexHull, QhullError  # takes a while, and few scenes have meshes

    points = np.array(points_w)
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        raise InputError("the points lie in a plane; allowed: some that enclose room") from None
    sides = hull.equations * (1.0, 1.0, 1.0, -1.0)
    same = np.abs(sides[:, None] - sides).max(axis=-1) <= _FLAT * max(1.0, np.ptp(points))
    kept: list[int] = []
    for k in range(len(sides)):
        if not same[k, kept].any():
            kept.append(k)
    corners = points[hull.simplices]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = np.einsum("ij,ij->i", across, sides[:, :3]) < 0.0
    corners[inwards] = corners[inwards][:, ::-1]
    return sides[kept], corners


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
        T_w = pose_matrix(upright(self.heading_rad), self.centre_w)
        return polytope(points, sides, 8.0 * float(half.prod()), gyration, T_w)

    def surface(self) -> Surface:
        return self.placed(box_surface(np.array(self.half_m, float)))
