"""Local refinement: triangles near a line are quartered, their neighbours closed, so that no gap opens."""

from collections.abc import Callable

import numpy as np

from assets.scripts.mesh import FloatArray, Mesh, no_paint


def refine(mesh: Mesh, distance: Callable[[FloatArray], FloatArray], *, within_m: float, passes: int) -> Mesh:
    """Halves the edges of triangles within `within_m` of the zero line of `distance`, `passes` times."""
    for _ in range(passes):
        corners = distance(mesh.positions)[mesh.triangles]
        crossed = (corners.min(axis=1) < 0) & (corners.max(axis=1) > 0)
        mesh = _quartered(mesh, crossed | (np.abs(corners).min(axis=1) < within_m))
        within_m *= 0.6
    return mesh


def _quartered(mesh: Mesh, marked: FloatArray) -> Mesh:
    triangles = mesh.triangles
    edges = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2), axis=2)  # (t, 3, 2)
    unique, inverse = np.unique(edges.reshape(-1, 2), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1, 3)
    halved = np.zeros(len(unique), bool)
    halved[inverse[marked]] = True
    middle = np.full(len(unique), -1)
    middle[halved] = len(mesh.positions) + np.arange(halved.sum())
    ends = unique[halved]
    positions = np.vstack([mesh.positions, mesh.positions[ends].mean(axis=1)])
    normals = np.vstack([mesh.normals, mesh.normals[ends].mean(axis=1)])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    faces: list[list[int]] = []
    for corners, mids in zip(triangles.tolist(), middle[inverse].tolist(), strict=True):
        faces.extend(_pieces(corners, mids))
    return Mesh(positions, normals, np.array(faces), no_paint(len(positions)))


def _pieces(corners: list[int], mids: list[int]) -> list[list[int]]:
    """What a triangle falls into; mids[k] halves the edge from corner k, -1 where it is whole."""
    count = sum(mid >= 0 for mid in mids)
    if count == 0:
        return [corners]
    if count == 3:
        (a, b, c), (ab, bc, ca) = corners, mids
        return [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    first = next(k for k in range(3) if (mids[k] >= 0) == (count == 1))
    a, b, c = (corners[(first + k) % 3] for k in range(3))
    ab, bc, ca = (mids[(first + k) % 3] for k in range(3))
    if count == 1:
        return [[a, ab, c], [ab, b, c]]
    return [[a, b, bc], [a, bc, ca], [ca, bc, c]]
