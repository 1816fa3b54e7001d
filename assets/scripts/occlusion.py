"""Ambient occlusion per vertex, by marching rays through a grid of the model's own surface."""

from collections.abc import Sequence

import numpy as np

from assets.scripts.mesh import FloatArray, Mesh
from sim.native.function import native

_BURIED = 0.03
"""Share below which a vertex is taken to lie inside another part."""


def surface_grid(meshes: Sequence[Mesh], cell_m: float) -> tuple[FloatArray, FloatArray]:
    """(occupied cells (nx, ny, nz) bool, origin (3,)): every cell that a triangle passes through."""
    corners = np.concatenate([mesh.positions[mesh.triangles] for mesh in meshes])
    origin = corners.min(axis=(0, 1)) - 3 * cell_m
    shape = np.ceil((corners.max(axis=(0, 1)) + 3 * cell_m - origin) / cell_m).astype(int)
    cells = np.zeros(shape, bool)
    size = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    count = np.ceil(size / (0.6 * cell_m)).astype(int) + 1
    for steps in np.unique(count):
        chosen = corners[count == steps]
        u, v = np.meshgrid(np.arange(steps + 1) / steps, np.arange(steps + 1) / steps, indexing="ij")
        u, v = u[u + v <= 1 + 1e-9], v[np.add.outer(np.arange(steps + 1), np.arange(steps + 1)) <= steps]
        weights = np.stack([1 - u - v, u, v], axis=1)
        points = np.einsum("wk,tkc->twc", weights, chosen).reshape(-1, 3)
        cells[tuple(((points - origin) / cell_m).astype(int).T)] = True
    return cells, origin


def sky_visibility(
    mesh: Mesh, cells: FloatArray, origin: FloatArray, cell_m: float, *, reach_m: float = 1.6, rays: int = 56
) -> FloatArray:
    """(n,) share of the hemisphere about each normal that sees out, 1 = open; far hits count less."""
    directions = _cosine_directions(rays)
    start = mesh.positions + mesh.normals * (1.8 * cell_m)
    tangent = np.cross(
        mesh.normals, np.where(np.abs(mesh.normals[:, :1]) < 0.8, [[1.0, 0, 0]], [[0, 1.0, 0]])
    )
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    other = np.cross(mesh.normals, tangent)
    steps = int(reach_m / cell_m)
    ways = np.arange(steps) * cell_m
    shares = np.array([*((step / steps) ** 1.5 for step in range(steps)), 1.0])
    first, light = np.empty(len(start), int), np.zeros(len(start))
    for a, b, c in directions:
        ray = a * tangent + b * other + c * mesh.normals
        _march(start, ray, cells, origin, cell_m, ways, first)
        light += shares[first]
    return _spread(mesh, _unburied(mesh, light / len(directions)))


@native
def _march(
    start: np.ndarray,
    ray: np.ndarray,
    cells: np.ndarray,
    origin: np.ndarray,
    cell_m: float,
    ways: np.ndarray,
    first: np.ndarray,
) -> None:
    """Into `first` (n,): at which of `ways` along it each ray from `start`, both (n, 3), is in an occupied cell."""
    for i in range(len(first)):
        first[i] = len(ways)
        for k in range(len(ways)):
            x = int((start[i, 0] + ray[i, 0] * ways[k] - origin[0]) / cell_m)
            y = int((start[i, 1] + ray[i, 1] * ways[k] - origin[1]) / cell_m)
            z = int((start[i, 2] + ray[i, 2] * ways[k] - origin[2]) / cell_m)
            inside = 0 <= x < cells.shape[0] and 0 <= y < cells.shape[1] and 0 <= z < cells.shape[2]
            if inside and cells[x, y, z]:  # around the grid nothing is
                first[i] = k
                break


def _unburied(mesh: Mesh, value: FloatArray) -> FloatArray:
    """Vertices inside another part take the mean of their neighbours outside: else faces that come out of it darken."""
    buried = value < _BURIED
    both = _neighbours(mesh)
    light = both[~buried[both[:, 1]]]
    count = np.bincount(light[:, 0], minlength=len(value))
    mean = np.bincount(light[:, 0], value[light[:, 1]], len(value)) / np.maximum(count, 1)
    return np.where(buried & (count > 0), mean, value)


def _neighbours(mesh: Mesh) -> FloatArray:
    """(k, 2) pairs of vertices that share an edge, in both orders."""
    edges = np.concatenate([mesh.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    return np.concatenate([edges, edges[:, ::-1]])


def _spread(mesh: Mesh, value: FloatArray, *, rounds: int = 3) -> FloatArray:
    """Mean over neighbours, which hides the grain of the grid."""
    both = _neighbours(mesh)
    degree = np.bincount(both[:, 0], minlength=len(value)) + 1.0
    for _ in range(rounds):
        value = (value + np.bincount(both[:, 0], value[both[:, 1]], len(value))) / degree
    return value


def _cosine_directions(count: int) -> FloatArray:
    """Fixed, evenly spread, cosine-weighted directions about +z."""
    k = np.arange(count) + 0.5
    radius, angle = np.sqrt(k / count), k * 2.399963229728653 + 0.1234
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.sqrt(1 - radius**2)])
