"""Desert shrubs: leaf cards over a few lobes, the leaves on them, and where they grow.

Shrub vertices (n, 8) float32: position 3, normal 3, uv 2 into the leaf atlas. A shrub is about 1 m
in radius with its base at z = 0; normals blend lobe, crown and chance, so that it shades as a bush, not as a ball.
"""

import numpy as np

import render.geometry.scatter
import sim.world.boulders
from render.geometry.leaves import leaf_atlas
from render.geometry.mesh import Mesh, quad_indices
from render.geometry.scatter import INSTANCE_FLOATS, Scatter, by_cell, scatter_of
from sim.world import World
from sim.world.boulders import kept_free, sites
from sim.world.props import Grounds
from sim.world.store import cached_arrays, source_digest

__all__ = ["leaf_atlas", "place_shrubs", "shrub_mesh"]

_DIGEST = source_digest(__file__, render.geometry.scatter.__file__, sim.world.boulders.__file__)
_LOBES = 7
_TILES = 2
_CANDIDATES = 330_000
_CLEAR_OF_PADS_M = 15.0


def _directions(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 3) unit vectors, even over the sphere with some chance."""
    z = 1.0 - 2.0 * (np.arange(n) + 0.5) / n
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(n)
    r = np.sqrt(1.0 - z * z)
    d = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1) + 0.35 * rng.normal(size=(n, 3))
    return d / np.linalg.norm(d, axis=1, keepdims=True)


def shrub_mesh(quads: int = 96, seed: int = 5) -> Mesh:
    """A shrub of `quads` leaf cards; fewer cards are larger, so that the bush keeps its bulk."""
    if quads < 1:
        raise ValueError("a shrub needs at least one card")
    rng = np.random.default_rng([seed, 303])
    turn = rng.uniform(0.0, 2.0 * np.pi) + np.arange(_LOBES) * 2.4
    spread = np.where(np.arange(_LOBES) == 0, 0.0, rng.uniform(0.42, 0.68, _LOBES))
    height = np.where(np.arange(_LOBES) == 0, 0.72, rng.uniform(0.30, 0.62, _LOBES))
    centres = np.stack([spread * np.cos(turn), spread * np.sin(turn), height], axis=1)
    radii = rng.uniform(0.30, 0.44, _LOBES)
    lobe = np.arange(quads) % _LOBES
    out = _directions(quads, rng)
    out[:, 2] = np.where(out[:, 2] < -0.3, -out[:, 2], out[:, 2])
    centre = centres[lobe] + radii[lobe, None] * out * rng.uniform(0.55, 1.0, (quads, 1))
    size = 0.21 * (96.0 / quads) ** 0.36 * rng.uniform(0.8, 1.25, quads)
    facing = out + 0.6 * rng.normal(size=(quads, 3))
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    side = np.cross(facing, [0.0, 0.0, 1.0]) + 1e-6
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(side, facing)
    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    span = corners[None, :, :1] * side[:, None] + corners[None, :, 1:] * up[:, None]
    position = centre[:, None] + size[:, None, None] * span
    position[..., 2] = np.maximum(position[..., 2], 0.0)
    crown = centre - [0.0, 0.0, 0.15]
    crown /= np.linalg.norm(crown, axis=1, keepdims=True)
    normal = 0.5 * out + 0.7 * crown + 0.25 * rng.normal(size=(quads, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    tile = rng.integers(0, _TILES, (quads, 2))
    uv = (tile[:, None, :] + 0.5 + 0.49 * corners[None]) / _TILES
    normals = np.repeat(normal[:, None], 4, axis=1)
    vertices = np.concatenate([position, normals, uv], axis=2).reshape(-1, 8)
    return Mesh(vertices.astype(np.float32), quad_indices(quads))


def place_shrubs(world: World, seed: int = 5) -> Scatter:
    """Shrubs where there is soil: thick along the river, in hollows and on benches, sparse on the plateau."""
    name = f"shrubs-{world.key}-{seed}-{_DIGEST}"
    return scatter_of(cached_arrays("meshes", name, lambda: {"shrubs": _shrubs(world, seed)})["shrubs"])


def _shrubs(world: World, seed: int) -> np.ndarray:
    """(k, 8) instances by cell."""
    rng = np.random.default_rng([world.seed, seed, 404])
    at = sites(world, _CANDIDATES, rng)
    bank = np.exp(-(((at.above_river_m - 3.0) / 4.5) ** 2)) * (at.above_river_m > 0.7)
    patches = 0.5 + 0.5 * np.sin(at.x / 23.0 + 2.0 * np.sin(at.y / 31.0)) * np.sin(
        at.y / 19.0 + 2.0 * np.sin(at.x / 37.0)
    )
    chance = 0.95 * bank * patches**1.5 + 0.7 * (at.above_river_m > 1.5) * (
        0.10 + 0.30 * np.clip(at.hollow, 0.0, 1.0) + 0.12 * at.loose * patches
    )
    chance *= np.clip((at.upright - 0.62) / 0.25, 0.0, 1.0)
    chance *= np.where(at.above_river_m > 150.0, 0.55, 1.0)
    chance *= kept_free(world, at, _CLEAR_OF_PADS_M)
    keep = rng.random(_CANDIDATES) < chance
    moist = (bank * patches)[keep]
    n = int(keep.sum())
    instances = np.empty((n, INSTANCE_FLOATS))
    size = rng.lognormal(np.log(0.62), 0.38, n) * (1.0 + 1.3 * moist)
    instances[:, 0], instances[:, 1], instances[:, 3] = at.x[keep], at.y[keep], size
    instances[:, 2] = at.z[keep] - 0.08 * size
    dry, green = np.array([0.150, 0.140, 0.070]), np.array([0.062, 0.094, 0.033])
    mix = np.clip(0.15 + 0.9 * moist + 0.2 * rng.normal(size=n), 0.0, 1.0)[:, None]
    instances[:, 4:7] = (dry + mix * (green - dry)) * rng.uniform(0.75, 1.25, (n, 1))
    instances[:, 7] = rng.uniform(0.0, 2.0 * np.pi, n)
    if world.grounds is not None:
        planted = _planted(world.grounds, rng)
        instances = np.concatenate([instances, planted])
        size = np.concatenate([size, planted[:, 3]])
        n = len(size)
    return by_cell(instances, size * rng.uniform(0.3, 1.0, n))


def _planted(grounds: Grounds, rng: np.random.Generator) -> np.ndarray:
    """(k, 8) instances in the earth of planters."""
    rows = []
    for bed in (block for block in grounds.blocks if block.material == "soil"):
        count = max(int(5.0 * 4.0 * bed.half_m[0] * bed.half_m[1]), 3)
        place = rng.uniform(-0.8, 0.8, (count, 2)) * bed.half_m + bed.centre_m
        size = rng.uniform(0.28, 0.55, count)
        tint = np.array([0.075, 0.105, 0.036]) * rng.uniform(0.7, 1.4, (count, 1))
        height, yaw = np.full(count, bed.height_m - 0.05), rng.uniform(0.0, 2.0 * np.pi, count)
        rows.append(np.column_stack([place, height, size, tint, yaw]))
    return np.concatenate(rows) if rows else np.zeros((0, INSTANCE_FLOATS))
