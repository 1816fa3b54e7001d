"""Triangles that plans are drawn with. Numpy only."""

import numpy as np

from sim.shapes import Sphere
from sim.shapes.surface import Surface

Corners = tuple[np.ndarray, np.ndarray]
"""(3 n, 3) corners [m] and unit normals of n triangles."""

_ROUND = 28


def corners(surface: Surface) -> Corners:
    """Of each triangle of a surface."""
    points, normals, faces = surface
    return points[faces].reshape(-1, 3), normals[faces].reshape(-1, 3)


def sphere(centre: np.ndarray, radius_m: float) -> Corners:
    """A ball."""
    x, y, z = np.asarray(centre, float).tolist()
    return corners(Sphere((x, y, z), radius_m).surface())


def ring(centre: np.ndarray, inner_m: float, outer_m: float) -> Corners:
    """A flat ring."""
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * _ROUND + 1)
    out = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    rows = np.stack([centre + inner_m * out, centre + outer_m * out])
    return _grid(rows, np.broadcast_to([0.0, 0.0, 1.0], rows.shape))


def ribbon(left_w: np.ndarray, right_w: np.ndarray, up_w: np.ndarray) -> Corners:
    """The band between two edges (n, 3), with normals (n, 3)."""
    return _grid(np.stack([left_w, right_w]), np.stack([up_w, up_w]))


def joined(*parts: Corners) -> Corners:
    """Several bodies as one."""
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _grid(points: np.ndarray, normals: np.ndarray) -> Corners:
    """Two triangles for each cell of a grid (rows, columns, 3)."""

    def cells(a: np.ndarray) -> np.ndarray:
        p, q, r, s = a[:-1, :-1], a[:-1, 1:], a[1:, :-1], a[1:, 1:]
        return np.stack([p, q, s, p, s, r], axis=2).reshape(-1, 3)

    return cells(points), cells(normals)
