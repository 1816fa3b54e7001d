"""Surfaces of simple solids as triangles: points (n, 3), outward unit normals (n, 3), faces (m, 3) anticlockwise."""

import math

import numpy as np

from sim.native.function import native

Surface = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Points, normals, faces."""

_SIDES, _RINGS = 32, 8
_CREASE = 0.8
"""Cosine of the angle to the mean of the faces about a point from which a face is sharp there."""
_BEVEL = 0.06
"""Of a cylinder's rim, as a share of the shorter of radius and half its length."""


def grid_indices(rows: int, columns: int) -> np.ndarray:
    """(m, 3) uint32 triangles of a rows x columns vertex grid; counter-clockwise where row x column points out."""
    corner = np.arange(rows * columns, dtype=np.uint32).reshape(rows, columns)
    a, b = corner[:-1, :-1], corner[1:, :-1]
    c, d = corner[1:, 1:], corner[:-1, 1:]
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)


def box_corners(half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (24, 3) about the origin, four a face, counter-clockwise from outside, and their normals (24, 3)."""
    points, normals = np.zeros((6, 4, 3)), np.zeros((6, 4, 3))
    for face in range(6):
        axis, side = face // 2, 2.0 * (face % 2) - 1.0
        u, v = (axis + 1) % 3, (axis + 2) % 3
        normals[face, :, axis] = points[face, :, axis] = side
        points[face][:, [u, v]] = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])[:: int(side)]
    return points.reshape(24, 3) * half, normals.reshape(24, 3)


def creased(points: np.ndarray, faces: np.ndarray) -> Surface:
    """A mesh with normals: smooth where its faces meet flatly, sharp at creases. Faces without area are left out."""
    corners = points[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(across, axis=1)
    kept = area > 1e-12 * max(float(area.max(initial=0.0)), 1e-30)
    faces, across, area = faces[kept], across[kept], area[kept]
    flat = across / area[:, None]
    # Points at one place count as one: files often repeat them for each face.
    _, place = np.unique(points.round(7), axis=0, return_inverse=True)
    place = place.reshape(-1)[faces]
    mean = np.zeros((int(place.max(initial=-1)) + 1, 3))
    for k, angle in enumerate(_angles(points[faces])):
        np.add.at(mean, place[:, k], angle[:, None] * flat)
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-30)
    smooth = mean[place]
    sharp = np.einsum("tkc,tc->tk", smooth, flat) < _CREASE
    normals = np.where(sharp[..., None], flat[:, None], smooth)
    return points[faces].reshape(-1, 3), normals.reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)


def _angles(corners: np.ndarray) -> np.ndarray:
    """(3, m) of triangles (m, 3, 3): by them faces count at a point, however it is cut into triangles."""
    found = []
    for k in range(3):
        a, b = corners[:, (k + 1) % 3] - corners[:, k], corners[:, (k + 2) % 3] - corners[:, k]
        found.append(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ij,ij->i", a, b)))
    return np.array(found)


def capsule_surface(radius_m: float, half_m: float) -> Surface:
    """(points (n, 3), outward unit normals (n, 3), faces (m, 3)) about z; half_m: of its length without the ends."""
    return ellipsoid_surface(np.full(3, radius_m), apart=half_m)


def ellipsoid_surface(half: np.ndarray, apart: float = 0.0) -> Surface:
    """Both halves `apart` from the middle along z."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * _RINGS + 1)
    rows = np.insert(angles, _RINGS, 0.0)
    ends = np.repeat([-apart, apart], _RINGS + 1)
    around = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    ball = np.stack(
        [
            np.cos(rows)[:, None] * np.cos(around),
            np.cos(rows)[:, None] * np.sin(around),
            np.repeat(np.sin(rows)[:, None], len(around), axis=1),
        ],
        axis=-1,
    )
    points = ball * half + ends[:, None, None] * np.array([0.0, 0.0, 1.0])
    normals = ball / half
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    faces = grid_indices(len(rows), len(around))[:, [0, 2, 1]]
    return points.reshape(-1, 3), normals.reshape(-1, 3), faces


def cylinder_surface(radius: float, half: float) -> Surface:
    """About z, with bevelled rims."""
    bevel = _BEVEL * min(radius, half)
    outline = [
        ((0.0, -half), (0.0, -1.0)),
        ((radius - bevel, -half), (0.0, -1.0)),
        ((radius, bevel - half), (1.0, 0.0)),
        ((radius, half - bevel), (1.0, 0.0)),
        ((radius - bevel, half), (0.0, 1.0)),
        ((0.0, half), (0.0, 1.0)),
    ]
    return _revolved(outline)


def cone_surface(radius: float, height: float) -> Surface:
    """About z, from its base at 0 up."""
    slope = np.array([height, radius]) / np.hypot(radius, height)
    out, up = float(slope[0]), float(slope[1])
    return _revolved(
        [
            ((0.0, 0.0), (0.0, -1.0)),
            ((radius, 0.0), (0.0, -1.0)),
            ((radius, 0.0), (out, up)),
            ((0.0, height), (out, up)),
        ]
    )


Pair = tuple[float, float]


def _revolved(outline: list[tuple[Pair, Pair]]) -> Surface:
    """(distance from z, height) and normal of each corner of an outline, from below up, all round."""
    around = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    spoke = np.column_stack([np.cos(around), np.sin(around)])

    def swept(pairs: np.ndarray) -> np.ndarray:
        flat = pairs[:, :1, None] * spoke
        up = np.repeat(pairs[:, 1:, None], len(around), axis=1)
        return np.concatenate([flat, up], axis=-1).reshape(-1, 3)

    places, normals = (np.array([row[k] for row in outline]) for k in range(2))
    faces = grid_indices(len(outline), len(around))[:, [0, 2, 1]]
    return swept(places), swept(normals), faces


def box_surface(half: np.ndarray) -> Surface:
    points, normals = box_corners(half)
    quads = np.arange(24).reshape(-1, 4)
    return points, normals, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def to_triangles(x: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(n,) distances of points (n, 3) to the nearest of triangles (m, 3, 3)."""
    corners = np.ascontiguousarray(corners, float)
    middles = corners.mean(axis=1)
    reach = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
    found = np.empty(len(x))
    _to_nearest(np.ascontiguousarray(x, float), corners, middles, reach, found)
    return found


@native
def _to_nearest(
    x: np.ndarray, corners: np.ndarray, middles: np.ndarray, reach: np.ndarray, out: np.ndarray
) -> None:
    """Triangles whose balls are farther than what was found are passed over."""
    for k in range(x.shape[0]):
        px, py, pz, least = x[k, 0], x[k, 1], x[k, 2], math.inf
        for t in range(corners.shape[0]):
            dx, dy, dz = px - middles[t, 0], py - middles[t, 1], pz - middles[t, 2]
            near = math.sqrt(dx * dx + dy * dy + dz * dz) - reach[t]
            if near < least:
                least = min(least, _to_triangle(px, py, pz, corners[t]))
        out[k] = least


@native
def _to_triangle(px: float, py: float, pz: float, c: np.ndarray) -> float:
    """Of a point to one: to its plane where it lies over the triangle, else to the nearest of its sides."""
    ux, uy, uz = c[1, 0] - c[0, 0], c[1, 1] - c[0, 1], c[1, 2] - c[0, 2]
    vx, vy, vz = c[2, 0] - c[0, 0], c[2, 1] - c[0, 1], c[2, 2] - c[0, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    over, least = True, math.inf
    for k in range(3):
        j = (k + 1) % 3
        ex, ey, ez = c[j, 0] - c[k, 0], c[j, 1] - c[k, 1], c[j, 2] - c[k, 2]
        dx, dy, dz = px - c[k, 0], py - c[k, 1], pz - c[k, 2]
        inwards = dx * (ny * ez - nz * ey) + dy * (nz * ex - nx * ez) + dz * (nx * ey - ny * ex)
        over = over and inwards >= 0.0
        s = (dx * ex + dy * ey + dz * ez) / (ex * ex + ey * ey + ez * ez)
        s = min(max(s, 0.0), 1.0)
        least = min(least, math.sqrt((dx - s * ex) ** 2 + (dy - s * ey) ** 2 + (dz - s * ez) ** 2))
    if over:
        dx, dy, dz = px - c[0, 0], py - c[0, 1], pz - c[0, 2]
        return abs(dx * nx + dy * ny + dz * nz) / math.sqrt(nx * nx + ny * ny + nz * nz)
    return least
