"""The terrain cut into chunks at four levels of detail.

Vertices as in `render.geometry.mesh`. Levels 0..3 hold about 2.3 M, 0.62 M, 240 k and 80 k triangles.
Every level has the same 32 x 8 chunks over the same ground in the same order, and each chunk
carries a skirt (its border pushed inwards along the normal), so that neighbours may be drawn at
different levels without gaps. Do not cull back faces: skirts and overhangs show theirs.
"""

from collections.abc import Sequence

import numpy as np

from render.geometry.mesh import Chunk, ChunkedMesh
from render.geometry.terrain_grid import even_grid, terrain_grid, thinned
from sim.models.solids import grid_indices
from sim.world import World
from sim.world.store import KERNEL_DIGEST, cached_family, package_digest

CHUNKS = (32, 8)
_DIGEST = package_digest(__file__, ("mesh", "terrain_grid", "terrain_mesh"))
STRIDES = ((1, 1), (2, 2), (4, 3), (8, 6))
_SKIRT_M = (1.0, 2.0, 3.5, 7.0)


def _border(rows: int, columns: int) -> np.ndarray:
    """Vertex numbers once around a grid, counter-clockwise seen from outside."""
    corner = np.arange(rows * columns).reshape(rows, columns)
    return np.concatenate([corner[:-1, 0], corner[-1, :-1], corner[:0:-1, -1], corner[0, :0:-1]])


def _cut(grid: np.ndarray, level: int) -> dict[str, np.ndarray]:
    """Vertices (chunks, n, floats) of all chunks at once: they are cut alike, each with its skirt behind its own.

    Besides the boxes around them, and the (2,) size of the grid.
    """
    rows, columns = _rows_columns(grid.shape[:2])
    i, j = _sources(rows, columns)
    vertices = np.ascontiguousarray(grid)[i, j]
    vertices[:, rows * columns :, :3] -= _SKIRT_M[level] * vertices[:, rows * columns :, 3:6]
    low, high = vertices[..., :3].min(axis=1), vertices[..., :3].max(axis=1)
    return {"vertices": vertices, "low": low, "high": high, "size": np.array(grid.shape[:2])}


def _mesh(cut: dict[str, np.ndarray]) -> ChunkedMesh:
    """Of what `_cut` has made."""
    vertices, size = cut["vertices"], (int(cut["size"][0]), int(cut["size"][1]))
    rows, columns = _rows_columns(size)
    border = _border(rows, columns)
    lower = np.arange(len(border)) + rows * columns
    ahead, lower_ahead = np.roll(border, -1), np.roll(lower, -1)
    band = np.stack([border, lower, ahead, ahead, lower, lower_ahead], axis=-1).reshape(-1, 3)
    triangles = np.concatenate([grid_indices(rows, columns), band.astype(np.uint32)])
    along = [np.linspace(0.0, 1.0, count, dtype=vertices.dtype) for count in size]
    i, j = _sources(rows, columns)
    places = np.stack([along[0][i], along[1][j]], axis=-1)
    count = triangles.size
    boxes = zip(cut["low"], cut["high"], strict=True)
    chunks = tuple(Chunk(k * count, count, low, high) for k, (low, high) in enumerate(boxes))
    first = np.arange(len(chunks), dtype=np.uint32)[:, None, None] * np.uint32(vertices.shape[1])
    indices = (triangles + first).reshape(-1, 3)
    return ChunkedMesh(vertices.reshape(-1, vertices.shape[2]), indices, chunks, places.reshape(-1, 2), size)


def _rows_columns(size: tuple[int, ...]) -> tuple[int, int]:
    """Of a chunk."""
    return (size[0] - 1) // CHUNKS[0] + 1, (size[1] - 1) // CHUNKS[1] + 1


def _sources(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """(chunks, n) row and column of the grid that each vertex comes from."""
    corner = np.stack(np.divmod(np.arange(CHUNKS[0] * CHUNKS[1]), CHUNKS[1]), axis=-1) * (
        rows - 1,
        columns - 1,
    )
    own = np.stack(np.divmod(np.r_[: rows * columns, _border(rows, columns)], columns), axis=-1)
    i, j = np.moveaxis(corner[:, None] + own, -1, 0)
    return i, j


def _stored_name(world: World, level: int) -> str:
    return f"terrain-{world.key}-{_DIGEST}-{KERNEL_DIGEST}-{level}"


def chunk_errors_m(meshes: Sequence[ChunkedMesh]) -> np.ndarray:
    """(levels, chunks) root mean square distance [m] of the finest vertices of a chunk from what each level draws for
    them; levels as `load_terrain_mesh` makes them, finest first. No level is better than a finer one.
    """
    finest = _surfaces(meshes[0])
    errors = [np.zeros(len(finest))]
    for mesh in meshes[1:]:
        drawn = _surfaces(mesh)
        for axis in (1, 2):
            drawn = _stretched(drawn, axis, finest.shape[axis])
        errors.append(np.sqrt(((drawn - finest) ** 2).sum(axis=3).mean(axis=(1, 2))))
    return np.maximum.accumulate(errors, axis=0)


def _surfaces(mesh: ChunkedMesh) -> np.ndarray:
    """(chunks, rows, columns, 3) positions without skirts."""
    rows, columns = _rows_columns(mesh.grid)
    own = mesh.vertices.reshape(len(mesh.chunks), -1, mesh.vertices.shape[1])
    return own[:, : rows * columns, :3].reshape(-1, rows, columns, 3)


def _stretched(grid: np.ndarray, axis: int, count: int) -> np.ndarray:
    """With `count` places along an axis, linear between those that there are."""
    at = np.linspace(0.0, grid.shape[axis] - 1.0, count, dtype=np.float32)
    low = np.minimum(at.astype(int), grid.shape[axis] - 2)
    part = (at - low).reshape([-1 if k == axis else 1 for k in range(grid.ndim)])
    below, above = (np.take(grid, low + k, axis) for k in (0, 1))
    return below + part * (above - below)


def load_terrain_mesh(world: World, level: int) -> ChunkedMesh:
    """Level 0 (finest) to 3 of a world's terrain; made once, then read from the cache folder.

    Featureless ground has the coarsest grid at every level.
    """
    if not 0 <= level < len(STRIDES):
        raise ValueError(f"terrain level {level} is not from 0 to {len(STRIDES) - 1}")
    if world.layers is None:
        return _mesh(_cut(even_grid(world, STRIDES[-1]), level))
    names = [_stored_name(world, k) for k in range(len(STRIDES))]

    def make() -> dict[str, dict[str, np.ndarray]]:
        grid = terrain_grid(world)
        return {name: _cut(thinned(grid, STRIDES[k]), k) for k, name in enumerate(names)}

    return _mesh(cached_family("meshes", names[level], make))
