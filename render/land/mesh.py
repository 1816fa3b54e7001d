"""Meshes as plain arrays.

Terrain vertices (n, 10) float32: position 3, normal 3, traits 4 = sky visibility 0..1 (1 open sky),
looseness 0..1 (talus, sand), curvature 0..1 (0.5 flat, more in hollows), slope 0..1 = min(|grad| / 3, 1).
Other vertices: see the module that makes them. Indices (m, 3) uint32, counter-clockwise from outside.
All positions in metres, z up.
"""

from itertools import pairwise

import numpy as np

from sim.groups.numeric import upright
from sim.platform.values import dataclass
from sim.world import Pad

TERRAIN_FLOATS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles over vertices of one format."""

    vertices: np.ndarray
    indices: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """A run of a mesh's indices and the box around what it draws."""

    first: int
    """In indices, three a triangle."""
    count: int
    low: np.ndarray
    """(3,) m."""
    high: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class ChunkedMesh(Mesh):
    """A mesh that can be drawn chunk by chunk."""

    chunks: tuple[Chunk, ...]
    places: np.ndarray | None = None
    """(n, 2) of each vertex in the grid that it was cut from, along rows and columns, 0..1; None: there is none."""
    grid: tuple[int, int] = (0, 0)
    """Rows and columns of that grid."""
    key: str = ""
    """Names what it was made of, and how; empty where it was put together by hand."""


def quad_indices(quads: int) -> np.ndarray:
    """(2 quads, 3) uint32 triangles of separate quads of four vertices each, in order around them."""
    first = 4 * np.arange(quads, dtype=np.uint32)[:, None, None]
    return (first + np.array([[0, 1, 2], [0, 2, 3]], np.uint32)).reshape(-1, 3)


def joined(parts: list[Mesh]) -> ChunkedMesh:
    """One mesh with a chunk for every part."""
    chunks, indices = [], []
    vertex = first = 0
    for part in parts:
        position = part.vertices[:, :3]
        chunks.append(Chunk(first, part.indices.size, position.min(axis=0), position.max(axis=0)))
        indices.append(part.indices + np.uint32(vertex))
        vertex += len(part.vertices)
        first += part.indices.size
    vertices = np.concatenate([part.vertices for part in parts])
    return ChunkedMesh(vertices, np.concatenate(indices), tuple(chunks))


_BEVEL_M = 0.12
_EDGE_M = 0.03
"""How far down the slab's side is to be seen."""
_APRON_M, _FALL_M, _DEPTH_M = (2.0, 4.0), (0.06, 0.30), 0.6
"""How far the earth about it reaches out and down, first gently, and how deep it ends: the drawn ground is sunk under
the slab, and between its vertices there would be a trench beside it."""


def _ring(half_m: float, z_m: float) -> np.ndarray:
    """Corners of a square, counter-clockwise seen from above, (4, 3)."""
    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * half_m
    return np.column_stack([corners, np.full(4, z_m)])


def _quad(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (4, 3) and the face normal repeated."""
    normal = np.cross(corners[1] - corners[0], corners[3] - corners[0])
    return corners, np.repeat(normal[None, :] / np.linalg.norm(normal), 4, axis=0)


def pad_mesh(pad: Pad) -> Mesh:
    """A bevelled square slab of half side `pad.radius_m`, its top at the pad's centre height, in its apron."""
    rings = [
        _ring(pad.radius_m + _APRON_M[1], -_DEPTH_M),
        _ring(pad.radius_m + _APRON_M[1], -_FALL_M[1]),
        _ring(pad.radius_m + _APRON_M[0], -_FALL_M[0]),
        _ring(pad.radius_m, -_EDGE_M),
        _ring(pad.radius_m - _BEVEL_M, 0.0),
    ]
    faces = [_quad(rings[-1])]
    for low, high in pairwise(rings):
        for k in range(4):
            ahead = (k + 1) % 4
            faces.append(_quad(np.array([low[k], low[ahead], high[ahead], high[k]])))
    local = np.concatenate([corners for corners, _ in faces])
    normals = np.concatenate([normal for _, normal in faces])
    R = upright(pad.heading_rad)
    vertices = np.hstack([local @ R.T + pad.centre_w, normals @ R.T, local[:, :2]])
    return Mesh(vertices.astype(np.float32), quad_indices(len(faces)))
