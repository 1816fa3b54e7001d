"""A model as arrays: one vertex table for all parts, one row of factors a material; models of shapes.

A model made of a vehicle's own shapes: spheres, capsules, ellipsoids, cylinders, boxes and meshes on its bodies.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sim.groups.numeric import turned_to
from sim.multibody.robots.robot import Geom
from sim.multibody.shapes import UNSEEN, Link
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.shapes.surface import (
    capsule_surface,
)

MAX_NODES = 64
MAX_MATERIALS = 32
"""Both as declared in shaders/models/parts.glsl."""

FINISHES = ("plain", "livery", "dial", "glass", "flame", "coat")
PAINT_FAR = 9.0


@dataclass(frozen=True, slots=True)
class ModelAsset:
    """Geometry in node frames; a node's rest pose is a shift by its pivot from the body frame."""

    vertices: np.ndarray
    """(n, 13) float32: position 3, normal 3, (open sky share, material, node), paint 4."""
    opaque: np.ndarray
    """(k, 3) uint32."""
    glass: np.ndarray
    """(k, 3) uint32, drawn blended."""
    nodes: tuple[str, ...]
    pivots: np.ndarray
    """(nodes, 3) m, body frame."""
    materials: np.ndarray
    """(materials, 4, 4) float32 rows: colour+metallic, second+roughness, accent+finish, emissive+alpha."""
    radius_m: float
    """Of the bounding sphere about the body origin, in the rest pose."""
    looks: tuple[str, ...] = ()
    """Names of the materials, where they have any."""

    def meshes(self, part: int) -> list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """What a node is made of: material, positions (n, 3), normals (n, 3), triangles (m, 3), in the node's frame."""
        triangles = np.concatenate([self.opaque, self.glass])
        owner, materials = self.vertices[:, 8].astype(int), self.vertices[:, 7].astype(int)
        mine = triangles[owner[triangles[:, 0]] == part]
        found = []
        for material in np.unique(materials[mine[:, 0]]).tolist():
            corners = mine[materials[mine[:, 0]] == material]
            used, indices = np.unique(corners, return_inverse=True)
            table = self.vertices[used]
            found.append((material, table[:, :3], table[:, 3:6], indices.reshape(-1, 3)))
        return found


_ROUGHNESS, _METALLIC = 0.42, 0.0
_CLEAR = 0.97
"""Shapes of less opacity are glass."""


def solid_asset(shapes: Sequence[Geom]) -> ModelAsset:
    """One node a body, in the body's frame. Bodies beyond the MAX_NODES largest are left out."""
    seen = [shape for shape in shapes if shape.rgba[3] > 0.0 and _drawable(shape)]
    nodes = _largest_bodies(seen)
    colours, number = _palette([shape.rgba for shape in seen])
    tables, triangles = [], {True: [np.zeros((0, 3), "u4")], False: [np.zeros((0, 3), "u4")]}
    start = 0
    for shape, material in zip(seen, number, strict=True):
        if shape.body not in nodes:
            continue
        points, normals, faces = shape.surface()
        R, x = shape.T[:3, :3], shape.T[:3, 3]
        table = np.full((len(points), 13), PAINT_FAR, "f4")
        table[:, 0:3], table[:, 3:6] = points @ R.T + x, normals @ R.T
        table[:, 6], table[:, 7], table[:, 8] = 1.0, material, nodes.index(shape.body)
        triangles[bool(colours[material, 3] >= _CLEAR)].append(faces.astype("u4") + np.uint32(start))
        tables.append(table)
        start += len(table)
    vertices = np.concatenate(tables) if tables else np.zeros((0, 13), "f4")
    return ModelAsset(
        vertices=vertices,
        opaque=np.concatenate(triangles[True]),
        glass=np.concatenate(triangles[False]),
        nodes=nodes,
        pivots=np.zeros((len(nodes), 3)),
        materials=_materials(colours),
        radius_m=float(np.linalg.norm(vertices[:, :3], axis=1).max(initial=0.1)),
    )


def shape_asset(shape: Shape, rest_w: np.ndarray, colour: tuple[float, float, float]) -> ModelAsset:
    """One node of one colour, linear RGB, in the axes that are at (4, 4) rest_w where the shape is as it says."""
    points, normals, faces = shape.surface()
    R, x = rest_w[:3, :3], rest_w[:3, 3]
    table = np.full((len(points), 13), PAINT_FAR, "f4")
    table[:, 0:3], table[:, 3:6] = (points - x) @ R, normals @ R
    table[:, 6], table[:, 7], table[:, 8] = 1.0, 0.0, 0.0
    srgb = np.array([[*np.array(colour) ** (1.0 / 2.2), 1.0]])
    return ModelAsset(
        vertices=table,
        opaque=faces.astype("u4"),
        glass=np.zeros((0, 3), "u4"),
        nodes=(shape.kind,),
        pivots=np.zeros((1, 3)),
        materials=_materials(srgb),
        radius_m=float(np.linalg.norm(table[:, :3], axis=1).max(initial=0.1)),
    )


def _drawable(shape: Geom) -> bool:
    return shape.shape != "plane" and (shape.shape != "mesh" or len(shape.faces) > 0)


def _largest_bodies(shapes: Sequence[Geom]) -> tuple[str, ...]:
    """Bodies in order; of more than MAX_NODES the largest."""
    sizes: dict[str, float] = {}
    for shape in shapes:
        sizes[shape.body] = max(sizes.get(shape.body, 0.0), float(np.max(shape.size_m)))
    kept = set(sorted(sizes, key=lambda body: -sizes[body])[:MAX_NODES])
    return tuple(body for body in sizes if body in kept)


def _palette(colours: Sequence[tuple[float, ...]]) -> tuple[np.ndarray, list[int]]:
    """(materials, 4) colours, at most MAX_MATERIALS, and which each shape has: the nearest where there are too many."""
    distinct = list(dict.fromkeys(colours))
    table = np.array(distinct[:MAX_MATERIALS] or [(0.5, 0.5, 0.5, 1.0)])
    return table, [int(np.argmin(np.abs(table - colour).sum(axis=1))) for colour in colours]


def _materials(colours: np.ndarray) -> np.ndarray:
    rows = np.zeros((len(colours), 4, 4), "f4")
    rows[:, 0, :3], rows[:, 0, 3] = np.clip(colours[:, :3], 0.0, 1.0) ** 2.2, _METALLIC
    rows[:, 1, 3] = _ROUGHNESS
    rows[:, 3, 3] = np.where(colours[:, 3] >= _CLEAR, 1.0, colours[:, 3])
    return rows


_COATED, _BARE = FINISHES.index("coat"), FINISHES.index("plain")
MATERIALS = (
    # colour, metallic, roughness, finish
    ((0.52, 0.53, 0.55), 0.9, 0.34, _COATED),
    ((0.30, 0.33, 0.37), 0.9, 0.42, _COATED),
    ((0.80, 0.55, 0.22), 1.0, 0.28, _BARE),
    ((0.72, 0.27, 0.05), 0.0, 0.50, _COATED),
    ((0.10, 0.11, 0.12), 0.0, 0.62, _BARE),
    ((0.78, 0.76, 0.70), 0.0, 0.55, _COATED),
    ((0.50, 0.31, 0.12), 0.0, 0.85, _COATED),
    ((0.42, 0.25, 0.12), 0.0, 0.78, _BARE),
)
"""By a capsule's `finish`: two steels, brass, painted, rubber, light paint, rope, wood. Coats take a lane's tint."""


def capsules_of(links: Sequence[Link], body: str) -> ModelAsset | None:
    """Those that are seen of a body, in its frame; bodies whose capsules are alike share a model. None without any."""
    own = tuple(replace(link, body="") for link in links if link.body == body and link.finish != UNSEEN)
    return _asset(own) if own else None


@lru_cache(maxsize=512)
def _asset(shapes: tuple[Link, ...]) -> ModelAsset:
    finishes = sorted({shape.finish for shape in shapes})
    tables, triangles, count = [], [], 0
    for shape in shapes:
        points, normals, faces = capsule_surface(shape.radius_m, 0.5 * shape.length_m)
        begin, end = np.array(shape.begin_b), np.array(shape.end_b)
        R = turned_to(end - begin)
        table = np.full((len(points), 13), PAINT_FAR, "f4")
        table[:, 0:3], table[:, 3:6] = points @ R.T + 0.5 * (begin + end), normals @ R.T
        table[:, 6], table[:, 7], table[:, 8] = 1.0, finishes.index(shape.finish), 0
        triangles.append(faces.astype("u4") + np.uint32(count))
        tables.append(table)
        count += len(table)
    vertices = np.concatenate(tables)
    rows = np.zeros((len(finishes), 4, 4), "f4")
    for row, finish in zip(rows, finishes, strict=True):
        colour, metallic, roughness, _ = MATERIALS[finish]
        row[0, :3], row[0, 3], row[1, 3], row[3, 3] = colour, metallic, roughness, 1.0
    return ModelAsset(
        vertices=vertices,
        opaque=np.concatenate(triangles),
        glass=np.zeros((0, 3), "u4"),
        nodes=("link",),
        pivots=np.zeros((1, 3)),
        materials=rows,
        radius_m=float(np.linalg.norm(vertices[:, :3], axis=1).max()),
    )
