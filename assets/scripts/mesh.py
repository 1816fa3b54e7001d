"""Triangle meshes as arrays, and the few operations that every model is made with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

FloatArray = np.ndarray
PAINT_FAR = 9.0
"""Signed distance that means: no line or edge anywhere near."""
ACCENT_HALF_M = 0.03
"""Half width at which the shader draws an accent stripe; other widths scale the distance."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """Indexed triangles, counter-clockwise seen from outside.

    `paint` holds per vertex what the finish of the material draws with: signed distances [m] for a livery
    (window edge, panel line, second colour, middle of the accent), face coordinates for a dial.
    """

    positions: FloatArray
    """(n, 3) m."""
    normals: FloatArray
    """(n, 3) unit."""
    triangles: FloatArray
    """(t, 3) int."""
    paint: FloatArray
    """(n, 4)."""

    def moved(self, offset: Sequence[float]) -> "Mesh":
        return replace(self, positions=self.positions + np.asarray(offset, float))

    def transformed(self, matrix: FloatArray) -> "Mesh":
        """Under a rigid or mirroring (3, 3) or (4, 4) matrix; a mirror turns the winding too."""
        linear = np.asarray(matrix, float)[:3, :3]
        shift = np.asarray(matrix, float)[:3, 3] if np.shape(matrix) == (4, 4) else np.zeros(3)
        normals = self.normals @ np.linalg.inv(linear)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        triangles = self.triangles if np.linalg.det(linear) > 0 else self.triangles[:, ::-1]
        return Mesh(self.positions @ linear.T + shift, normals, triangles, self.paint)

    def flipped(self) -> "Mesh":
        """Inside out, for linings."""
        return Mesh(self.positions, -self.normals, self.triangles[:, ::-1], self.paint)

    def painted(self, paint: FloatArray) -> "Mesh":
        return replace(self, paint=np.asarray(paint, float))


def from_triangles(positions: FloatArray, triangles: FloatArray, *, crease_deg: float = 35.0) -> Mesh:
    """Mesh with smooth normals, split where faces meet at more than `crease_deg`."""
    positions = np.asarray(positions, float)
    corners = positions[triangles].reshape(-1, 3)
    keep = _areas(corners) > 1e-10
    corners = corners.reshape(-1, 3, 3)[keep].reshape(-1, 3)
    faces = np.cross(corners[1::3] - corners[0::3], corners[2::3] - corners[0::3])
    unit = faces / np.linalg.norm(faces, axis=1, keepdims=True)
    weight = _corner_angles(corners.reshape(-1, 3, 3)).reshape(-1)
    unit = np.repeat(unit, 3, axis=0)
    normals = _creased_sum(corners, unit, weight, np.cos(np.radians(crease_deg)))
    return _indexed(corners, normals)


def join(meshes: Sequence[Mesh]) -> Mesh:
    """All meshes as one."""
    offsets = np.cumsum([0, *(len(mesh.positions) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.positions for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.triangles + offset for mesh, offset in zip(meshes, offsets, strict=False)]),
        np.concatenate([mesh.paint for mesh in meshes]),
    )


def mirrored_y(mesh: Mesh) -> Mesh:
    """The part on the other side of the plane y = 0."""
    return mesh.transformed(np.diag([1.0, -1.0, 1.0]))


def both_sides(mesh: Mesh) -> Mesh:
    """The part and its mirror image in y."""
    return join([mesh, mirrored_y(mesh)])


def no_paint(count: int) -> FloatArray:
    return np.full((count, 4), PAINT_FAR)


def _areas(corners: FloatArray) -> FloatArray:
    return np.linalg.norm(np.cross(corners[1::3] - corners[0::3], corners[2::3] - corners[0::3]), axis=1)


def _corner_angles(faces: FloatArray) -> FloatArray:
    """(t, 3) angle of each face at each of its corners."""
    ahead = np.roll(faces, -1, axis=1) - faces
    behind = np.roll(faces, 1, axis=1) - faces
    sine = np.linalg.norm(np.cross(ahead, behind), axis=2)
    return np.arctan2(sine, np.einsum("tkc,tkc->tk", ahead, behind))


def _creased_sum(corners: FloatArray, unit: FloatArray, weight: FloatArray, cosine: float) -> FloatArray:
    """For each corner: angle-weighted normal over the faces that meet there within the crease angle."""
    group = np.unique(np.round(corners, 5), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(group.max() + 1))
    count = np.bincount(group)
    total = np.zeros_like(corners)
    for rank in range(int(count.max())):
        has = count[group] > rank
        other = order[(start[group] + rank)[has]]
        near = np.einsum("kc,kc->k", unit[has], unit[other]) > cosine
        total[np.flatnonzero(has)[near]] += unit[other[near]] * weight[other[near], None]
    return total / np.linalg.norm(total, axis=1, keepdims=True)


def _indexed(corners: FloatArray, normals: FloatArray) -> Mesh:
    """Welds corners that agree in position and normal."""
    key = np.round(np.hstack([corners, normals]), 5) + 0.0
    _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return Mesh(corners[first], normals[first], inverse.reshape(-1, 3), no_paint(len(first)))
