"""Earth over a level rectangle: mounds, banks, dunes."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.shapes.polyhedra import Box
from sim.shapes.shape import FAR_M, LARGEST_M, Shape, Vector, box_gap, length, shifted, vector
from sim.shapes.solid import Solid
from sim.shapes.surface import Surface, creased, grid_indices, to_triangles

MOST_SAMPLES = 14
"""Along a side."""
_CONTROLS = MOST_SAMPLES + 2
_FINE = 8
"""Places along a side of a cell at which the smooth surface is held against the true one."""

Heights = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class HeightField(Shape):
    """Earth over a level rectangle by heights at a regular grid, two triangles a cell, with flat sides and foot."""

    corner_w: Vector
    """Of its foot, where x and y are least."""
    spacing_m: float
    heights_m: Heights
    """(ny, nx) above the foot; row j is y = corner + j spacing."""
    name: str = ""
    look: str = ""

    kind = "field"
    size = 7 + _CONTROLS**2
    is_wall = True
    is_body = False

    @staticmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        # Height over a slope is more than the distance from it, by no more than the steepest slope says.
        half = q[4:6] / 2
        apart = x[:2] - q[:2] - half
        beside = ca.sqrt(apart**2 + 1e-8) - half
        along = ca.fmin(ca.fmax(x[:2] - q[:2], 0), q[4:6]) / q[3]
        controls = ca.reshape(q[7:], _CONTROLS, _CONTROLS)
        height = ca.mtimes([_basis(along[0]).T, controls, _basis(along[1])])
        over = (x[2] - q[2] - height) * q[6]
        return ca.fmax(over, box_gap(ca.vertcat(beside, q[2] - x[2]))) - margin

    def numbers(self) -> np.ndarray:
        controls, slope = _smooth(self.heights_m, float(self.spacing_m))
        size = self._size_m
        return np.array(
            [*self.corner_w, self.spacing_m, *size, 1.0 / math.hypot(1.0, slope), *controls.ravel(order="F")]
        )

    def distance(self, points_w: np.ndarray) -> np.ndarray:
        x = np.asarray(points_w, float).reshape(-1, 3) - self.corner_w
        corners, size = _triangles(self.heights_m, float(self.spacing_m)), self._size_m
        least = to_triangles(x, corners)
        above = x[:, 2] - _height(np.array(self.heights_m, float), x[:, :2] / self.spacing_m)
        outside = np.column_stack([-x[:, :2], x[:, :2] - size, -x[:, 2], above]).max(axis=1)
        return np.where(outside > 0.0, least, -least)

    @property
    def _size_m(self) -> tuple[float, float]:
        """Along x and y."""
        rows, columns = _shape_of(self.heights_m)
        return (columns - 1) * float(self.spacing_m), (rows - 1) * float(self.spacing_m)

    @property
    def _top_m(self) -> float:
        return max(map(max, self.heights_m))

    @property
    def _half_m(self) -> Vector:
        x, y = self._size_m
        return 0.5 * x, 0.5 * y, 0.5 * self._top_m

    @property
    def middle_w(self) -> Vector:
        return shifted(self.corner_w, self._half_m)

    @property
    def half_thickness_m(self) -> float:
        return min(self._half_m)

    @property
    def across_m(self) -> float:
        return 2.0 * self._half_m[1]

    @property
    def core_w(self) -> np.ndarray:
        _, wide, widest = np.sort(self._half_m)
        along = (widest - wide) * np.eye(3)[int(np.argmax(self._half_m))]
        return np.array(self.middle_w) + np.outer([-1.0, 1.0], along)

    def scaled(self, factor: float) -> Self:
        """Ground keeps its size."""
        return self

    def thickened(self, half_m: float) -> Self:
        """As it is where it is thick enough; else level, as high as its top at least."""
        if self.half_thickness_m >= half_m:
            return self
        x, y, _ = self._half_m
        wider = max(1.0, half_m / min(x, y))
        top = max(self._top_m, 2.0 * half_m)
        by = ((1.0 - wider) * x, (1.0 - wider) * y, 0.0)
        level = tuple(tuple(top for _ in row) for row in self.heights_m)
        return replace(
            self, corner_w=shifted(self.corner_w, by), spacing_m=wider * self.spacing_m, heights_m=level
        )

    def moved(self, by_w: Vector, heading_rad: float | None = None) -> Self:
        return replace(self, corner_w=shifted(self.corner_w, by_w))

    def on_plane(self) -> Shape:
        x, y, _ = self.middle_w
        half = self._half_m
        return Box((x, y, 0.0), (half[0], half[1], max(half)), 0.0, self.name, self.look)

    @property
    def footprint(self) -> np.ndarray:
        return np.array([*self.middle_w[:2], *self._half_m[:2], 0.0, 0.0])

    def surface(self) -> Surface:
        corners = _triangles(self.heights_m, float(self.spacing_m)) + self.corner_w
        return creased(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))

    def solid(self) -> Solid:
        raise InputError("a field is not convex and no body; allowed: sphere, box, capsule, drum, cone, mesh")

    def text(self) -> dict[str, Any]:
        heights = [list(row) for row in self.heights_m]
        return {"corner_m": list(self.corner_w), "spacing_m": self.spacing_m, "heights_m": heights}

    @classmethod
    def read(cls, table: TomlTable, name: str, look: str) -> Self:
        rows = table.raw("heights_m") if table.has("heights_m") else []
        if not isinstance(rows, list):
            raise table.error("heights_m", "allowed: a list of rows")
        inner = table.inner("heights_m", {f"[{k}]": row for k, row in enumerate(rows)})
        heights = tuple(inner.numbers(f"[{k}]", (), low=0.0, high=LARGEST_M) for k in range(len(rows)))
        try:
            _shape_of(heights)
        except InputError as error:
            raise table.error("heights_m", str(error)) from None
        x, y, z = vector(table, "corner_m")
        return cls((x, y, max(-FAR_M, z)), length(table, "spacing_m"), heights, name, look)


def _shape_of(heights: Heights) -> tuple[int, int]:
    """(rows, columns). Raises InputError for what is no such grid."""
    rows, columns = len(heights), len(heights[0]) if heights else 0
    if not (2 <= rows <= MOST_SAMPLES and 2 <= columns <= MOST_SAMPLES):
        raise InputError(f"{rows} rows of {columns} heights; allowed: 2 to {MOST_SAMPLES} of each")
    if any(len(row) != columns for row in heights):
        raise InputError("rows of several lengths; allowed: as many heights in each")
    return rows, columns


def _basis(u: ca.SX) -> ca.SX:
    """(controls,) weights of the uniform cubic B-spline at u, where control k stands at k - 1."""
    away = ca.fabs(u - ca.DM(np.arange(_CONTROLS) - 1.0))
    return (ca.fmax(2 - away, 0) ** 3 - 4 * ca.fmax(1 - away, 0) ** 3) / 6


@lru_cache(maxsize=64)
def _smooth(heights: Heights, spacing_m: float) -> tuple[np.ndarray, float]:
    """Controls (x, y) of a spline nowhere below the triangles, padded by the last ones, and these' steepest slope."""
    H = np.array(heights, float).T
    x, y = (_interpolating(n) for n in H.shape)
    controls = x @ H @ y.T
    fine = [np.linspace(0.0, n - 1, _FINE * (n - 1) + 1) for n in H.shape]
    weights = [
        np.stack([_weights(u - k + 1.0) for k in range(n + 2)], axis=1)
        for u, n in zip(fine, H.shape, strict=True)
    ]
    at = np.stack(np.meshgrid(*fine, indexing="ij"), axis=-1)
    true = _height(H.T, at.reshape(-1, 2)).reshape(at.shape[:2])
    controls += max(float((true - weights[0] @ controls @ weights[1].T).max()), 0.0)
    pad = [(0, _CONTROLS - n) for n in controls.shape]
    # Of a triangle the slope is that of its two level sides.
    dx, dy = np.diff(H, axis=0) / spacing_m, np.diff(H, axis=1) / spacing_m
    steep = max(np.hypot(dx[:, :-1], dy[1:]).max(), np.hypot(dx[:, 1:], dy[:-1]).max())
    return np.pad(controls, pad, mode="edge"), float(steep)


def _weights(t: np.ndarray) -> np.ndarray:
    away = np.abs(t)
    return (np.maximum(2.0 - away, 0.0) ** 3 - 4.0 * np.maximum(1.0 - away, 0.0) ** 3) / 6.0


def _interpolating(n: int) -> np.ndarray:
    """(n + 2, n) from values to the controls of the spline through them that is straight at its ends."""
    rows = np.zeros((n + 2, n + 2))
    rows[0, :3] = rows[-1, -3:] = 1.0, -2.0, 1.0
    for k in range(n):
        rows[k + 1, k : k + 3] = np.array([1.0, 4.0, 1.0]) / 6.0
    return np.linalg.solve(rows, np.eye(n + 2)[:, 1:-1])


def _height(heights: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(k,) of the triangles over (ny, nx) samples, at places (k, 2) counted in samples; beyond the edge as at it."""
    rows, columns = heights.shape
    u, v = np.clip(at[:, 0], 0.0, columns - 1), np.clip(at[:, 1], 0.0, rows - 1)
    i, j = np.minimum(u.astype(int), columns - 2), np.minimum(v.astype(int), rows - 2)
    u, v = u - i, v - j
    near, far = heights[j, i], heights[j + 1, i + 1]
    x_first = near + u * (heights[j, i + 1] - near) + v * (far - heights[j, i + 1])
    y_first = near + v * (heights[j + 1, i] - near) + u * (far - heights[j + 1, i])
    found: np.ndarray = np.where(u >= v, x_first, y_first)
    return found


@lru_cache(maxsize=64)
def _triangles(heights: Heights, spacing_m: float) -> np.ndarray:
    """(m, 3, 3) of the whole surface about the corner, anticlockwise from outside."""
    H = np.array(heights, float)
    rows, columns = _shape_of(heights)
    x, y = spacing_m * np.arange(columns), spacing_m * np.arange(rows)
    top = np.stack([*np.meshgrid(x, y), H], axis=-1)
    # Rows go along y: seen from above the grid's own order is clockwise.
    faces = [top.reshape(-1, 3)[grid_indices(rows, columns)][:, ::-1]]
    foot = top * (1.0, 1.0, 0.0)
    for edge, below in ((top[0], foot[0]), (top[-1, ::-1], foot[-1, ::-1])):
        faces += [_strip(below, edge)]
    for edge, below in ((top[::-1, 0], foot[::-1, 0]), (top[:, -1], foot[:, -1])):
        faces += [_strip(below, edge)]
    corners = foot[[0, 0, -1, -1], [0, -1, -1, 0]]
    faces.append(corners[[[0, 2, 1], [0, 3, 2]]])
    found = np.concatenate(faces)
    area = np.linalg.norm(np.cross(found[:, 1] - found[:, 0], found[:, 2] - found[:, 0]), axis=1)
    return found[area > 1e-12]


def _strip(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """(m, 3, 3) triangles of a wall between two lines (n, 3) that run to the right, seen from outside."""
    first = np.stack([below[:-1], below[1:], above[1:]], axis=1)
    second = np.stack([below[:-1], above[1:], above[:-1]], axis=1)
    return np.concatenate([first, second])
