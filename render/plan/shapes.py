"""Triangles of the simple bodies that plans are drawn with. Numpy only."""

import numpy as np

Corners = tuple[np.ndarray, np.ndarray]
"""(3 n, 3) corners [m] and unit normals of n triangles."""

_ROUND = 28


def sphere(centre: np.ndarray, radius_m: float) -> Corners:
    """A ball."""
    return capsule(centre, centre, radius_m)


def capsule(start: np.ndarray, end: np.ndarray, radius_m: float) -> Corners:
    """All points within a radius of a segment."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    x, y, z = _axes(end - start)
    latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 17)
    middle = np.where(latitude < 0.0, 0.0, 1.0)
    latitude, middle = np.insert(latitude, 8, 0.0), np.insert(middle, 8, 0.0)
    angle = np.linspace(0.0, 2.0 * np.pi, _ROUND + 1)
    ring = np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * y
    normals = np.cos(latitude)[:, None, None] * ring + np.sin(latitude)[:, None, None] * z
    centres = start + middle[:, None] * (end - start)
    return _grid(centres[:, None] + radius_m * normals, normals)


def tube(centre: np.ndarray, radius_m: float, low_m: float, high_m: float) -> Corners:
    """The side of an upright cylinder, and its lid."""
    angle = np.linspace(0.0, 2.0 * np.pi, _ROUND + 1)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    foot = np.array([centre[0], centre[1], 0.0])
    rows = np.stack([foot + radius_m * ring + [0.0, 0.0, z] for z in (low_m, high_m)])
    side = _grid(rows, np.stack([ring, ring]))
    up = np.broadcast_to([0.0, 0.0, 1.0], (2, _ROUND + 1, 3))
    lid = np.stack([np.broadcast_to([foot[0], foot[1], high_m], ring.shape), rows[1]])
    return joined(side, _grid(lid, up))


def ring(centre: np.ndarray, inner_m: float, outer_m: float) -> Corners:
    """A flat ring."""
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * _ROUND + 1)
    out = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    rows = np.stack([centre + inner_m * out, centre + outer_m * out])
    return _grid(rows, np.broadcast_to([0.0, 0.0, 1.0], rows.shape))


def box(centre: np.ndarray, half_m: np.ndarray, heading_rad: float) -> Corners:
    """A block turned about the vertical."""
    c, s = np.cos(heading_rad), np.sin(heading_rad)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    parts = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            n = sign * np.eye(3)[axis]
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            rows = np.array([[n - u - v, n + u - v], [n - u + v, n + u + v]]) * half_m
            parts.append(_grid(centre + rows @ R.T, np.broadcast_to(R @ n, rows.shape)))
    return joined(*parts)


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


def _axes(along: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right-handed unit axes, the third along a vector; upright where there is none."""
    size = np.linalg.norm(along)
    z = along / size if size > 1e-9 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, [0.0, 0.0, 1.0] if abs(z[2]) < 0.9 else [1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    return x, np.cross(z, x), z
