"""A model made of a vehicle's own shapes: spheres, capsules, ellipsoids, cylinders, boxes and meshes on its bodies."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sim.models.model_asset import FINISHES, MAX_MATERIALS, MAX_NODES, PAINT_FAR, ModelAsset
from sim.multibody.robots.robot import Geom
from sim.multibody.shapes import UNSEEN, Capsule


def box_corners(half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (24, 3) about the origin, four a face, counter-clockwise from outside, and their normals (24, 3)."""
    points, normals = np.zeros((6, 4, 3)), np.zeros((6, 4, 3))
    for face in range(6):
        axis, side = face // 2, 2.0 * (face % 2) - 1.0
        u, v = (axis + 1) % 3, (axis + 2) % 3
        normals[face, :, axis] = points[face, :, axis] = side
        points[face][:, [u, v]] = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])[:: int(side)]
    return points.reshape(24, 3) * half, normals.reshape(24, 3)


_SIDES, _RINGS = 32, 8
_CREASE = 0.8
"""Cosine of the angle to the mean of the faces about a point from which a face is sharp there."""
_BEVEL = 0.06
"""Of a cylinder's rim, as a share of the shorter of radius and half its length."""
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
        points, normals, faces = _surface(shape)
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


def _surface(shape: Geom) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(points (n, 3), outward unit normals (n, 3), faces (m, 3)) in the shape's own frame."""
    a, b = float(shape.size_m[0]), float(shape.size_m[1])
    match shape.shape:
        case "sphere":
            return _ellipsoid(np.full(3, a))
        case "ellipsoid":
            return _ellipsoid(np.asarray(shape.size_m, float))
        case "capsule":
            return capsule_surface(a, b)
        case "cylinder":
            return _cylinder(a, b)
        case "box":
            return _box(np.asarray(shape.size_m, float))
        case _:
            return creased(np.asarray(shape.vertices, float), np.asarray(shape.faces, np.int64))


def _ellipsoid(half: np.ndarray, apart: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both halves `apart` from the middle along z."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * _RINGS + 1)
    rows = np.insert(angles, _RINGS, 0.0)
    ends = np.repeat([-apart, apart], _RINGS + 1)
    around = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    ball = np.stack(
        [
            np.cos(rows)[:, None] * np.cos(around),
            np.cos(rows)[:, None] * np.sin(around),
            np.repeat(np.sin(rows)[:, None], len(around), axis=1),
        ],
        axis=-1,
    )
    points = ball * half + ends[:, None, None] * np.array([0.0, 0.0, 1.0])
    normals = ball / half
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    faces = grid_indices(len(rows), len(around))[:, [0, 2, 1]]
    return points.reshape(-1, 3), normals.reshape(-1, 3), faces


def capsule_surface(radius_m: float, half_m: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(points (n, 3), outward unit normals (n, 3), faces (m, 3)) about z; half_m: of its length without the ends."""
    return _ellipsoid(np.full(3, radius_m), apart=half_m)


def _cylinder(radius: float, half: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """About z, with bevelled rims."""
    bevel = _BEVEL * min(radius, half)
    outline = [
        ((0.0, -half), (0.0, -1.0)),
        ((radius - bevel, -half), (0.0, -1.0)),
        ((radius, bevel - half), (1.0, 0.0)),
        ((radius, half - bevel), (1.0, 0.0)),
        ((radius - bevel, half), (0.0, 1.0)),
        ((0.0, half), (0.0, 1.0)),
    ]
    around = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    spoke = np.column_stack([np.cos(around), np.sin(around)])

    def swept(pairs: np.ndarray) -> np.ndarray:
        flat = pairs[:, :1, None] * spoke
        up = np.repeat(pairs[:, 1:, None], len(around), axis=1)
        return np.concatenate([flat, up], axis=-1).reshape(-1, 3)

    places, normals = (np.array([row[k] for row in outline]) for k in range(2))
    faces = grid_indices(len(outline), len(around))[:, [0, 2, 1]]
    return swept(places), swept(normals), faces


def _box(half: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    points, normals = box_corners(half)
    quads = np.arange(24).reshape(-1, 4)
    return points, normals, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def creased(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A mesh with normals: smooth where its faces meet flatly, sharp at creases. Faces without area are left out."""
    corners = points[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(across, axis=1)
    kept = area > 1e-12 * max(float(area.max(initial=0.0)), 1e-30)
    faces, across, area = faces[kept], across[kept], area[kept]
    flat = across / area[:, None]
    # Points at one place count as one: files often repeat them for each face.
    _, place = np.unique(points.round(7), axis=0, return_inverse=True)
    place = place.reshape(-1)[faces]
    mean = np.zeros((int(place.max(initial=-1)) + 1, 3))
    for k, angle in enumerate(_angles(points[faces])):
        np.add.at(mean, place[:, k], angle[:, None] * flat)
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-30)
    smooth = mean[place]
    sharp = np.einsum("tkc,tc->tk", smooth, flat) < _CREASE
    normals = np.where(sharp[..., None], flat[:, None], smooth)
    return points[faces].reshape(-1, 3), normals.reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)


def _angles(corners: np.ndarray) -> np.ndarray:
    """(3, m) of triangles (m, 3, 3): by them faces count at a point, however it is cut into triangles."""
    found = []
    for k in range(3):
        a, b = corners[:, (k + 1) % 3] - corners[:, k], corners[:, (k + 2) % 3] - corners[:, k]
        found.append(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ij,ij->i", a, b)))
    return np.array(found)


def grid_indices(rows: int, columns: int) -> np.ndarray:
    """(m, 3) uint32 triangles of a rows x columns vertex grid; counter-clockwise where row x column points out."""
    corner = np.arange(rows * columns, dtype=np.uint32).reshape(rows, columns)
    a, b = corner[:-1, :-1], corner[1:, :-1]
    c, d = corner[1:, 1:], corner[:-1, 1:]
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)


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


def capsules_of(links: Sequence[Capsule], body: str) -> ModelAsset | None:
    """Those that are seen of a body, in its frame; bodies whose capsules are alike share a model. None without any."""
    own = tuple(replace(link, body="") for link in links if link.body == body and link.finish != UNSEEN)
    return _asset(own) if own else None


@lru_cache(maxsize=512)
def _asset(shapes: tuple[Capsule, ...]) -> ModelAsset:
    finishes = sorted({shape.finish for shape in shapes})
    tables, triangles, count = [], [], 0
    for shape in shapes:
        points, normals, faces = capsule_surface(shape.radius_m, 0.5 * shape.length_m)
        begin, end = np.array(shape.begin_b), np.array(shape.end_b)
        R = _turned_to(end - begin)
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


def _turned_to(along: np.ndarray) -> np.ndarray:
    """(3, 3) a rotation that takes z to that direction."""
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return np.eye(3)
    z = along / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
