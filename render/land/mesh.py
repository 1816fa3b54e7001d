"""Meshes as plain arrays.

Terrain vertices (n, 10) float32: position 3, normal 3, traits 4 = sky visibility 0..1 (1 open sky),
looseness 0..1 (talus, sand), curvature 0..1 (0.5 flat, more in hollows), slope 0..1 = min(|grad| / 3, 1).
Other vertices: see the module that makes them. Indices (m, 3) uint32, counter-clockwise from outside.
All positions in metres, z up.
"""

from dataclasses import dataclass

import numpy as np

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
