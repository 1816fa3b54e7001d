"""The land around the map, out to the horizon: plateau, mesas, and the canyon going on at both ends; or the desert.

Vertices and chunks as in `render.land.mesh`. The same landform that the map was grown from,
uneroded, on a grid that coarsens outwards and leaves the map out. Along the seam it takes the map's
own heights and eases back to the landform; a lip that dips under the map closes what gaps remain.
"""

from itertools import pairwise, product

import numpy as np

from render.land.mesh import ChunkedMesh, Mesh, joined
from sim.platform.cache import cached_arrays, package_digest
from sim.shapes.surface import grid_indices
from sim.world import Terrain, World
from sim.world.canyon import canyon_rows
from sim.world.hall import desert_field
from sim.world.terrain import for_row_bands
from sim.world.world import KERNEL_DIGEST

REACH_M = 8000.0
_DIGEST = package_digest(__file__, ("far_field", "mesh"))
_SPACING_M = ((4.0, 14.0), (8.0, 30.0))
_FAR_SPACING_M = ((40.0, 40.0), (120.0, 120.0))
"""Around a map that reaches to where hills are small."""
_GROWTH = (1.09, 1.15)
_EASE_M = 45.0
_CHUNK_CELLS = (32, 16)
"""Along each side, by level: little of the far land is seen from within a canyon, and only chunks in view are drawn."""
_LIP_M = 8.0
_LIP_DROP_M = 5.0
_CANYON_M = 330.0
_NO_SITES = np.full((1, 2), 1e9)


def _outwards(step_m: float, growth: float) -> np.ndarray:
    """Distances from the seam: the lip (negative), the seam, then growing steps to the horizon."""
    steps = [-_LIP_M, 0.0, step_m]
    while steps[-1] < REACH_M:
        step_m *= growth
        steps.append(steps[-1] + step_m)
    return np.array(steps)


def _axis(low: float, high: float, inner: np.ndarray, step_m: float, growth: float) -> np.ndarray:
    """Grid lines of one axis: horizon, lip around `low`, `inner`, lip around `high`, horizon."""
    out = _outwards(step_m, growth)
    inner = inner[(inner > low + _LIP_M + 1.0) & (inner < high - _LIP_M - 1.0)]
    return np.concatenate([low - out[::-1], inner, high + out])


def _landform(world: World, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Uneroded heights and looseness, each (len(y), len(x)), from the map's own seed."""
    if world.grounds is not None:
        return desert_field(world.grounds.half_m, x, y, world.seed)
    if world.far_desert:
        return desert_field(world.terrain.high_m, x, y, world.seed)
    assert world.river is not None
    heights, loose = np.empty((len(y), len(x))), np.empty((len(y), len(x)))
    for_row_bands(canyon_rows, len(y), x, y, world.river.coefficients, _NO_SITES, world.seed, heights, loose)
    return heights, loose


def _ground(world: World, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Heights and looseness (len(y), len(x)): landform outside, the map's height at the seam, a lip below it."""
    terrain: Terrain = world.terrain
    (x_low, y_low), (x_high, y_high) = terrain.low_m, terrain.high_m
    heights, loose = _landform(world, x, y)
    seam_x, seam_y = np.clip(x, x_low, x_high), np.clip(y, y_low, y_high)
    off = np.hypot((x - seam_x)[None, :], (y - seam_y)[:, None])
    at_seam = terrain.height(seam_x[None, :], seam_y[:, None])
    grown = at_seam - _landform(world, seam_x, seam_y)[0]
    heights += grown * np.exp(-((off / _EASE_M) ** 2))
    inside = off == 0.0
    depth = np.minimum.reduce(
        [
            np.broadcast_to(x - x_low, off.shape),
            np.broadcast_to(x_high - x, off.shape),
            np.broadcast_to((y - y_low)[:, None], off.shape),
            np.broadcast_to((y_high - y)[:, None], off.shape),
        ]
    )
    heights[inside] = (at_seam - _LIP_DROP_M * np.clip(depth, 0.0, 1.0))[inside]
    return heights, loose


def _vertices(world: World, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(len(x), len(y), 10) float32; axis 0 along x so that triangles face up."""
    z, loose = (field.T for field in _ground(world, x, y))
    slope_x = np.gradient(z, x, axis=0)
    slope_y = np.gradient(z, y, axis=1)
    slope = np.hypot(slope_x, slope_y)
    vertices = np.empty((*z.shape, 10), np.float32)
    vertices[..., 0], vertices[..., 1], vertices[..., 2] = x[:, None], y[None, :], z
    normal = np.stack([-slope_x, -slope_y, np.ones_like(z)], axis=-1)
    vertices[..., 3:6] = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    in_canyon = np.zeros_like(z)
    if world.river is not None:
        off_river = np.abs(y[None, :] - np.asarray(world.river.centre(x))[:, None])
        in_canyon = np.clip(1.0 - off_river / 260.0, 0.0, 1.0)
    vertices[..., 6] = 1.0 - in_canyon * 0.6 * np.clip(1.0 - z / 165.0, 0.0, 1.0) - 0.1 * np.clip(slope, 0, 1)
    vertices[..., 7] = loose
    vertices[..., 8] = 0.5
    vertices[..., 9] = np.clip(slope / 3.0, 0.0, 1.0)
    return vertices


def _blocks(world: World, level: int) -> dict[str, np.ndarray]:
    """Vertices of the grid and the grid lines at which the map begins and ends."""
    fine, coarse = _SPACING_M[level] if not world.far_desert else _FAR_SPACING_M[level]
    growth = _GROWTH[level]
    (x_low, y_low), (x_high, y_high) = world.terrain.low_m, world.terrain.high_m
    x = _axis(x_low, x_high, np.arange(x_low, x_high, coarse), coarse, growth)
    outer = np.arange(y_low, y_high, coarse)
    y_inner = np.union1d(outer[np.abs(outer) > _CANYON_M], np.arange(-_CANYON_M, _CANYON_M, fine))
    y = _axis(y_low, y_high, y_inner, coarse, growth)
    edges = [
        np.searchsorted(x, (x_low + _LIP_M, x_high - _LIP_M)),
        np.searchsorted(y, (y_low + _LIP_M, y_high - _LIP_M)),
    ]
    return {"vertices": _vertices(world, x, y), "edges": np.array(edges)}


def load_far_field(world: World, level: int) -> ChunkedMesh:
    """Level 0 (about 130 k triangles) or 1 (about 30 k) of the land around a map, in chunks."""
    if world.river is None and world.grounds is None and not world.far_desert:
        raise ValueError(f"world {world.name!r} has no land to go on")
    name = f"far-{world.key}-{_DIGEST}-{KERNEL_DIGEST}-{level}"
    blocks = cached_arrays("meshes", name, lambda: _blocks(world, level))
    vertices, ((x0, x1), (y0, y1)) = blocks["vertices"], blocks["edges"]
    nx, ny = vertices.shape[:2]
    parts = []
    for (a, b), (c, d) in product(_cut((0, x0, x1, nx - 1), level), _cut((0, y0, y1, ny - 1), level)):
        if x0 <= a < x1 and y0 <= c < y1:
            continue
        block = vertices[a : b + 1, c : d + 1]
        parts.append(Mesh(block.reshape(-1, block.shape[-1]), grid_indices(*block.shape[:2])))
    return joined(parts)


def _cut(lines: tuple[int, ...], level: int) -> list[tuple[int, int]]:
    """First and last grid line of each chunk along an axis; chunks end at these lines."""
    ends = [
        end
        for first, last in pairwise(lines)
        for end in np.linspace(
            first, last, max(round((last - first) / _CHUNK_CELLS[level]), 1), endpoint=False
        )
    ]
    return list(pairwise([*map(int, ends), lines[-1]]))
