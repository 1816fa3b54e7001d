"""The terrain cut into chunks at four levels of detail.

Vertices as in `render.land.mesh`. Levels 0..3 hold about 2.3 M, 0.62 M, 240 k and 80 k triangles.
Every level has the same 32 x 8 chunks over the same ground in the same order, and each chunk
carries a skirt (its border pushed inwards along the normal), so that neighbours may be drawn at
different levels without gaps. The grid that they are cut from has rows at even x; along a row the vertices are spread
by arc length, so that a vertical wall gets as many as flat ground. Steep rock is then pushed in and out along its
horizontal normal by noise of its height and place: ledges of the bedding, vertical joints, overhangs. What comes out is
no longer a height field to the eye. Do not cull back faces: skirts and overhangs show theirs.
"""

from collections.abc import Sequence

import numpy as np

from render.land.mesh import TERRAIN_FLOATS, Chunk, ChunkedMesh
from sim.native.function import native
from sim.platform.cache import cached_family, package_digest
from sim.shapes.surface import grid_indices
from sim.world import World
from sim.world.smoothing import smoothed, thinned_mean
from sim.world.terrain import for_row_bands, fractal_noise, gradient_noise, smoothstep
from sim.world.world import KERNEL_DIGEST

SHAPE = (1281, 865)
_PLATEAU_WEIGHT = 0.32
_PAD_SUNK_M = 0.3


def _columns(profile: np.ndarray, y: np.ndarray, river_y: np.ndarray) -> np.ndarray:
    """(rows, columns) y of the vertices, by arc length of the height `profile` (rows, ny) over `y`."""
    length = np.hypot(np.diff(y), smoothed(np.abs(np.diff(profile, axis=1)), (3.0, 2.0)))
    middle = 0.5 * (y[1:] + y[:-1])
    off = np.abs(middle[None, :] - river_y[:, None])
    fade = np.clip((off - 200.0) / 60.0, 0.0, 1.0)
    length *= 1.0 + fade * (_PLATEAU_WEIGHT - 1.0)
    arc = np.concatenate([np.zeros((len(profile), 1)), np.cumsum(length, axis=1)], axis=1)
    arc /= arc[:, -1:]
    even = np.linspace(0.0, 1.0, SHAPE[1])
    return np.stack([np.interp(even, row, y) for row in arc])


@native
def _cubic(p0: float, p1: float, p2: float, p3: float, t: float) -> float:
    """Catmull-Rom between p1 and p2."""
    a = p2 - p0
    b = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3
    c = 3.0 * (p1 - p2) + p3 - p0
    return p1 + 0.5 * t * (a + t * (b + t * c))


@native
def _height_rows(
    first: int,
    end: int,
    heights: np.ndarray,
    frame: np.ndarray,
    xs: np.ndarray,
    ys: np.ndarray,
    out: np.ndarray,
) -> None:
    """Smooth heights at (xs[row], ys[row, column]): local cubic, no ringing beyond two cells."""
    ny, nx = heights.shape
    window = np.empty(4)
    for row in range(first, end):
        u = min(max((xs[row] - frame[0]) / frame[2], 0.0), nx - 1.0)
        i = min(int(u), nx - 2)
        for column in range(ys.shape[1]):
            v = min(max((ys[row, column] - frame[1]) / frame[2], 0.0), ny - 1.0)
            j = min(int(v), ny - 2)
            for k in range(4):
                line = heights[min(max(j - 1 + k, 0), ny - 1)]
                window[k] = _cubic(line[max(i - 1, 0)], line[i], line[i + 1], line[min(i + 2, nx - 1)], u - i)
            out[row, column] = _cubic(window[0], window[1], window[2], window[3], v - j)


@native
def _ledge_rows(
    first: int, end: int, position: np.ndarray, gradient: np.ndarray, loose: np.ndarray, seed: int
) -> None:
    """Push steep rock along its horizontal normal, in place: bedding, joints and blocks."""
    rows, columns = loose.shape
    for row in range(first, end):
        edge = min(row, rows - 1 - row) / 4.0
        for column in range(columns):
            gx, gy = gradient[row, column, 0], gradient[row, column, 1]
            slope = np.sqrt(gx * gx + gy * gy)
            amount = smoothstep(0.8, 2.2, slope) * (1.0 - loose[row, column]) * min(edge, 1.0)
            if amount <= 0.0 or column == 0 or column == columns - 1:
                continue
            x, y, z = position[row, column]
            bed = z + 0.012 * x + 1.6 * gradient_noise(x / 80.0, y / 80.0, seed)
            push = 1.15 * gradient_noise(bed / 5.2, 0.1 * np.sin(x / 60.0), seed + 1)
            push += 0.65 * gradient_noise(bed / 2.3, 40.0, seed + 2)
            push += 0.9 * fractal_noise((x + 0.8 * y) / 11.0, (y - 0.8 * x) / 11.0 + z / 70.0, 2, seed + 3)
            push *= amount / slope
            position[row, column, 0] -= gx * push
            position[row, column, 1] -= gy * push


@native
def _normal_rows(first: int, end: int, position: np.ndarray, grid: np.ndarray) -> None:
    """Unit normals of a vertex grid, by central differences, into grid[..., 3:6]."""
    rows, columns = position.shape[0], position.shape[1]
    for row in range(first, end):
        before, after = max(row - 1, 0), min(row + 1, rows - 1)
        for column in range(columns):
            left, right = max(column - 1, 0), min(column + 1, columns - 1)
            ax = position[after, column, 0] - position[before, column, 0]
            ay = position[after, column, 1] - position[before, column, 1]
            az = position[after, column, 2] - position[before, column, 2]
            bx = position[row, right, 0] - position[row, left, 0]
            by = position[row, right, 1] - position[row, left, 1]
            bz = position[row, right, 2] - position[row, left, 2]
            nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
            size = np.sqrt(nx * nx + ny * ny + nz * nz)
            grid[row, column, 3], grid[row, column, 4], grid[row, column, 5] = nx / size, ny / size, nz / size


def _sink_under_pads(position: np.ndarray, world: World) -> None:
    """Lower the ground under the slabs, in place, so that their tops are the only surface there."""
    for pad in world.pads:
        c, s = np.cos(pad.heading_rad), np.sin(pad.heading_rad)
        dx, dy = position[..., 0] - pad.centre_w[0], position[..., 1] - pad.centre_w[1]
        under = np.maximum(np.abs(c * dx + s * dy), np.abs(c * dy - s * dx)) < 0.95 * pad.radius_m
        position[under, 2] -= _PAD_SUNK_M


def _traits(world: World, position: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """(rows, columns, 4) sky visibility, looseness, curvature, slope."""
    x, y = position[..., 0], position[..., 1]
    assert world.layers is not None
    traits = np.empty((*slope.shape, 4), np.float32)
    sample = world.terrain.sample
    traits[..., 0] = np.clip(sample(world.layers.sky_visibility, x, y), 0.0, 1.0)
    traits[..., 1] = np.clip(sample(world.layers.loose, x, y), 0.0, 1.0)
    traits[..., 2] = 0.5 + 0.5 * np.clip(sample(world.layers.curvature, x, y), -1.0, 1.0)
    traits[..., 3] = np.clip(slope / 3.0, 0.0, 1.0)
    return traits


def even_grid(world: World, stride: tuple[int, int]) -> np.ndarray:
    """Like a thinned `terrain_grid` for featureless ground: vertices at even distances, open sky."""
    terrain = world.terrain
    axes = [
        np.linspace(low, high, (n - 1) // step + 1)
        for low, high, n, step in zip(terrain.low_m, terrain.high_m, SHAPE, stride, strict=True)
    ]
    x, y = np.meshgrid(*axes, indexing="ij")
    grid = np.empty((*x.shape, TERRAIN_FLOATS), np.float32)
    position = np.stack([x, y, terrain.height(x, y)], axis=-1)
    _sink_under_pads(position, world)
    grid[..., :3], grid[..., 3:6] = position, terrain.normal(x, y)
    grid[..., 6:] = (1.0, 0.3, 0.5, 0.0)
    return grid


def terrain_grid(world: World) -> np.ndarray:
    """(*SHAPE, 10) float32 vertices of a world with layers; axis 0 runs along x, axis 1 along y."""
    terrain = world.terrain
    x = np.linspace(terrain.low_m[0], terrain.high_m[0], SHAPE[0])
    y = terrain.axes[1]
    river_y = np.zeros_like(x) if world.river is None else np.asarray(world.river.centre(x))
    columns = _columns(terrain.height(x[:, None], y[None, :]), y, river_y)
    position = np.empty((*SHAPE, 3))
    position[..., 0], position[..., 1] = x[:, None], columns
    heights = np.ascontiguousarray(terrain.heights, np.float64)
    frame = np.array([*terrain.origin_m, terrain.spacing_m])
    z = np.empty(SHAPE)
    for_row_bands(_height_rows, SHAPE[0], heights, frame, x, columns, z)
    position[..., 2] = z
    smooth = smoothed(heights, 1.2)
    slope_y, slope_x = np.gradient(smooth, terrain.spacing_m)
    gradient = np.stack(
        [terrain.sample(np.asarray(g), position[..., 0], columns) for g in (slope_x, slope_y)], axis=-1
    )
    grid = np.empty((*SHAPE, TERRAIN_FLOATS), np.float32)
    traits = grid[..., 6:] = _traits(world, position, np.linalg.norm(gradient, axis=-1))
    loose = np.ascontiguousarray(traits[..., 1], np.float64)
    for_row_bands(_ledge_rows, SHAPE[0], position, gradient, loose, 1000 * world.seed + 501)
    for_row_bands(_normal_rows, SHAPE[0], position, grid)
    _sink_under_pads(position, world)
    grid[..., :3] = position
    return grid


def thinned(grid: np.ndarray, stride: tuple[int, int]) -> np.ndarray:
    """Every stride-th vertex, with normals and traits averaged over the vertices left out."""
    if stride == (1, 1):
        return grid
    coarse = grid[:: stride[0], :: stride[1]].copy()
    coarse[..., 3:] = thinned_mean(thinned_mean(grid[..., 3:], stride[0], 0), stride[1], 1)
    coarse[..., 3:6] /= np.linalg.norm(coarse[..., 3:6], axis=-1, keepdims=True)
    return coarse


CHUNKS = (32, 8)
_DIGEST = package_digest(__file__, ("mesh", "terrain_mesh"))
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


def _mesh(cut: dict[str, np.ndarray], key: str = "") -> ChunkedMesh:
    """Of what `_cut` has made, and keeps by that key."""
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
    flat = vertices.reshape(-1, vertices.shape[2])
    return ChunkedMesh(flat, indices, chunks, places.reshape(-1, 2), size, key)


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


def load_terrain_meshes(world: World, levels: Sequence[int]) -> list[ChunkedMesh]:
    """A world's terrain at levels from 0 (finest) to 3; made once, then read from the cache folder.

    Featureless ground has the coarsest grid at every level.
    """
    if not all(0 <= level < len(STRIDES) for level in levels):
        raise ValueError(f"terrain levels {list(levels)} are not all from 0 to {len(STRIDES) - 1}")
    if world.layers is None:
        return [_mesh(_cut(even_grid(world, STRIDES[-1]), level)) for level in levels]
    names = {level: _stored_name(world, level) for level in levels}

    def make() -> dict[str, dict[str, np.ndarray]]:
        grid = terrain_grid(world)
        return {name: _cut(thinned(grid, STRIDES[level]), level) for level, name in names.items()}

    return [_mesh(cached_family("meshes", name, make), name) for name in names.values()]
