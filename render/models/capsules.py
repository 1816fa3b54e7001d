"""The capsules of one body as a model, for programs that know meshes alone."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from render.models.model_asset import FINISHES, PAINT_FAR, ModelAsset
from render.models.solids import capsule_surface
from sim.trees.shapes import UNSEEN, Capsule

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
