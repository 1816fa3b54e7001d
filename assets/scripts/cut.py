"""Cutting a mesh along the zero line of a field on its vertices, and the 2-D distances such
fields are made of.
"""

from collections.abc import Sequence

import numpy as np

from assets.scripts.mesh import FloatArray, Mesh


def split(mesh: Mesh, field: FloatArray) -> tuple[Mesh, Mesh]:
    """(part where `field` (n,) < 0, part where it is > 0), cut along straight lines within the triangles."""
    return _keep(mesh, field), _keep(mesh, -field)


def _keep(mesh: Mesh, field: FloatArray) -> Mesh:
    field = np.where(np.abs(field) < 1e-6, 1e-6, field)
    data = np.hstack([mesh.positions, mesh.normals, mesh.paint])
    inside = (field < 0)[mesh.triangles]
    count = inside.sum(axis=1)
    faces = [mesh.triangles[count == 3]]
    extra: list[FloatArray] = []
    cuts: dict[tuple[int, int], int] = {}

    def crossing(a: int, b: int) -> int:
        key = (min(a, b), max(a, b))
        if key not in cuts:
            share = field[key[0]] / (field[key[0]] - field[key[1]])
            cuts[key] = len(data) + len(extra)
            extra.append(data[key[0]] + share * (data[key[1]] - data[key[0]]))
        return cuts[key]

    for face, sides in zip(
        mesh.triangles[(count == 1) | (count == 2)], inside[(count == 1) | (count == 2)], strict=True
    ):
        lone = int(np.flatnonzero(sides if sides.sum() == 1 else ~sides)[0])
        a, b, c = (int(face[(lone + k) % 3]) for k in range(3))
        ab, ac = crossing(a, b), crossing(a, c)
        kept = [[a, ab, ac]] if sides.sum() == 1 else [[ab, b, c], [ab, c, ac]]
        faces.append(np.array(kept))
    everything = np.vstack([data, *extra]) if extra else data
    triangles = np.concatenate(faces).astype(int)
    used, inverse = np.unique(triangles, return_inverse=True)
    out = everything[used]
    normals = out[:, 3:6] / np.linalg.norm(out[:, 3:6], axis=1, keepdims=True)
    return Mesh(out[:, :3], normals, inverse.reshape(-1, 3), out[:, 6:])


def polygon(points: FloatArray, corners: Sequence[Sequence[float]], *, rounding: float = 0.0) -> FloatArray:
    """Signed distance (negative inside) of (n, 2) points to a polygon with rounded corners."""
    points = np.asarray(points, float)
    ring = _inset(np.asarray(corners, float), rounding)
    distance = np.full(len(points), np.inf)
    winding = np.zeros(len(points), int)
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        edge, offset = b - a, points - a
        share = np.clip(offset @ edge / (edge @ edge), 0, 1)
        distance = np.minimum(distance, np.linalg.norm(offset - share[:, None] * edge, axis=1))
        left = edge[0] * offset[:, 1] - edge[1] * offset[:, 0] > 0
        winding += np.where((a[1] <= points[:, 1]) & (b[1] > points[:, 1]) & left, 1, 0)
        winding -= np.where((a[1] > points[:, 1]) & (b[1] <= points[:, 1]) & ~left, 1, 0)
    return np.where(winding != 0, -distance, distance) - rounding


def _inset(ring: FloatArray, amount: float) -> FloatArray:
    """Convex polygon shrunk by `amount`, so that rounding grows it back to its size."""
    if amount <= 0:
        return ring
    area = np.sum(ring[:, 0] * np.roll(ring[:, 1], -1) - ring[:, 1] * np.roll(ring[:, 0], -1))
    ring = ring if area > 0 else ring[::-1]
    edges = np.roll(ring, -1, axis=0) - ring
    inward = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1, keepdims=True)
    before = np.roll(inward, 1, axis=0)
    bisector = inward + before
    return ring + amount * bisector * (2 / np.sum(bisector * bisector, axis=1, keepdims=True))
