"""Meshes of boulders, and their placements as they are drawn.

Vertices (n, 6) float32: position 3, normal 3, about 1 m in radius around the origin. Normals are
those of the faces, softened, so that edges catch the light and nothing looks like an egg.
"""

import numpy as np

from render.geometry.mesh import Mesh
from render.geometry.scatter import Scatter, by_cell, scatter_of
from sim.world import World
from sim.world.boulders import SEED, VARIANTS, boulder_instances, boulder_shape, stopping


def _boulder(variant: int, detail: int, seed: int) -> Mesh:
    points, faces = boulder_shape(variant, detail, seed)
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    flat = np.cross(b - a, c - a)
    smooth = np.zeros_like(points)
    for corner in range(3):
        np.add.at(smooth, faces[:, corner], flat)
    smooth /= np.linalg.norm(smooth, axis=1, keepdims=True)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    normal = 0.8 * np.repeat(flat[:, None], 3, axis=1) + 0.2 * smooth[faces]
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    vertices = np.concatenate([points[faces], normal], axis=-1).reshape(-1, 6)
    return Mesh(vertices.astype(np.float32), np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3))


def boulder_meshes(variants: int = VARIANTS, detail: int = 2, seed: int = SEED) -> tuple[Mesh, ...]:
    """Different boulders of 20 * 4^detail triangles; the same shapes at every detail."""
    return tuple(_boulder(k, detail, seed) for k in range(variants))


def place_boulders(world: World, variants: int = VARIANTS, seed: int = SEED) -> tuple[Scatter, ...]:
    """One Scatter for each variant of the mesh, the largest of each cell first."""
    kinds = [by_cell(placed, placed[:, 3]) for placed in boulder_instances(world, variants, seed)]
    return tuple(scatter_of(placed, stopping(world, placed, k, seed)) for k, placed in enumerate(kinds))
