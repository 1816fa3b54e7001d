"""The box with axes that stands in for a vehicle without a model."""

import numpy as np

from render.models.asset import PAINT_FAR, ModelAsset

_AXIS_COLOURS = ((0.55, 0.05, 0.04), (0.05, 0.40, 0.06), (0.03, 0.13, 0.60))


def box_asset(half_extent_m: tuple[float, float, float]) -> ModelAsset:
    """A plain box of these half extents, with a bar along each body axis (x red, y green, z blue)."""
    half = np.asarray(half_extent_m, float)
    bar = 0.06 * float(half.max())
    parts = [_box(np.zeros(3), half, 0)]
    for axis in range(3):
        size = np.full(3, bar)
        size[axis] = 0.35 * half.max() + bar
        centre = np.zeros(3)
        centre[axis] = half[axis] + size[axis] - bar
        parts.append(_box(centre, size, axis + 1))
    vertices = np.concatenate(parts).astype("f4")
    quads = np.arange(len(vertices)).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype("u4")
    return ModelAsset(
        vertices=vertices,
        opaque=triangles,
        glass=np.zeros((0, 3), "u4"),
        nodes=("box",),
        pivots=np.zeros((1, 3)),
        materials=_materials(),
        radius_m=float(np.linalg.norm(vertices[:, :3], axis=1).max()),
    )


def _materials() -> np.ndarray:
    table = np.zeros((4, 4, 4), "f4")
    for row, colour in enumerate(((0.55, 0.54, 0.50), *_AXIS_COLOURS)):
        table[row, 0, :3] = colour
        table[row, 1, 3] = 0.4
        table[row, 3, 3] = 1.0
    return table


def _box(centre: np.ndarray, half: np.ndarray, material: int) -> np.ndarray:
    rows = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (-1.0, 1.0):
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))[:: int(side)]:
                corner, normal = np.zeros(3), np.zeros(3)
                corner[axis], corner[u], corner[v], normal[axis] = side, a, b, side
                rows.append([*(centre + corner * half), *normal, 1.0, material, 0.0, *([PAINT_FAR] * 4)])
    return np.array(rows)
