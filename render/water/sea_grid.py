"""A mesh of the sea for one camera: rings about the point under the eye, dense near it, of what the camera can see.

Rings lie at d = near / r^3 with r falling evenly, so that steps grow as d^(4/3). The vertex shader makes the places.
No water is drawn inside hulls, whose half breadths are laid out here by length and height.
"""

from dataclasses import dataclass

import numpy as np

from render.frame import View
from sim.vehicle_config.hull import HullMesh

FAR_M = 11_500.0
_LEAST_NEAR_M, _MOST_NEAR_M = 0.4, 400.0
_MARGIN_RAD = 0.12
"""By which the wedge is wider than the view: waves move the water aside."""
_CORNERS = np.array([(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)])


def ring_mesh(rings: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 2) float32: ring and column, 0..1, and indices (k,) uint32 of triangles, nearest rings first."""
    ring, column = np.meshgrid(
        np.linspace(0.0, 1.0, rings + 1), np.linspace(0.0, 1.0, columns + 1), indexing="ij"
    )
    vertices = np.stack([ring.ravel(), column.ravel()], axis=1).astype("f4")
    number = np.arange((rings + 1) * (columns + 1)).reshape(rings + 1, columns + 1)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    return vertices, np.stack([a, b, c, a, c, d], axis=-1).ravel().astype("u4")


@dataclass(frozen=True, slots=True)
class Wedge:
    """Where the rings begin and between which bearings they lie."""

    near_m: float
    bearing_rad: float
    """Of the first column, from world x towards y."""
    span_rad: float


def wedge(view: View, level_m: float, deviation_m: float, columns: int) -> Wedge:
    """Of the sea at `level_m`, its height deviating so much, that a camera can see.

    A full circle where it sees what is under it.
    """
    far = (
        np.array([[*corner, 1.0, 1.0] for corner in _CORNERS]) @ np.linalg.inv(view.projection @ view.view).T
    )
    rays = far[:, :3] / far[:, 3:] - view.eye_w
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    height_m = max(abs(float(view.eye_w[2]) - level_m) - 3.0 * deviation_m, 1.0)
    steepest = float(np.abs(rays[:, 2]).max())
    near_m = float(
        np.clip(
            0.3 * height_m * np.sqrt(max(1.0 - steepest**2, 0.0)) / max(steepest, 1e-6),
            _LEAST_NEAR_M,
            _MOST_NEAR_M,
        )
    )
    middle = np.arctan2(*rays[len(rays) // 2, 1::-1])
    off = np.angle(np.exp(1j * (np.arctan2(rays[:, 1], rays[:, 0]) - middle)))
    half = float(np.abs(off).max()) + _MARGIN_RAD + np.arctan(2.5 * deviation_m / height_m)
    if half > 0.45 * np.pi or steepest > 0.9:
        return Wedge(_LEAST_NEAR_M, 0.0, 2.0 * np.pi)
    # Columns keep to fixed bearings, else the waves would swim as the camera turns.
    step = 2.0 * half / columns
    return Wedge(near_m, step * round(float(middle - half) / step), 2.0 * half)


STATIONS, WATERLINES = 64, 32


def half_breadths(hull: HullMesh) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """(WATERLINES, STATIONS) float32 [m] at the middles of cells, zero outside the hull, and where these lie in the
    body frame: least x, least z, length, height [m].
    """
    low, high = hull.vertices.min(axis=0), hull.vertices.max(axis=0)
    x = low[0] + (np.arange(STATIONS) + 0.5) / STATIONS * (high[0] - low[0])
    z = low[2] + (np.arange(WATERLINES) + 0.5) / WATERLINES * (high[2] - low[2])
    breadth = np.zeros((WATERLINES, STATIONS))
    for face in hull.vertices[hull.triangles]:
        a, b, c = face[:, [0, 2]]
        twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(twice) < 1e-12:
            continue
        columns = np.flatnonzero((x >= face[:, 0].min()) & (x <= face[:, 0].max()))
        rows = np.flatnonzero((z >= face[:, 2].min()) & (z <= face[:, 2].max()))
        if not columns.size or not rows.size:
            continue
        at_x, at_z = np.meshgrid(x[columns], z[rows])
        v = ((at_x - a[0]) * (c[1] - a[1]) - (at_z - a[1]) * (c[0] - a[0])) / twice
        w = ((b[0] - a[0]) * (at_z - a[1]) - (b[1] - a[1]) * (at_x - a[0])) / twice
        inside = (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
        reach = np.abs(face[0, 1] + v * (face[1, 1] - face[0, 1]) + w * (face[2, 1] - face[0, 1]))
        part = breadth[np.ix_(rows, columns)]
        breadth[np.ix_(rows, columns)] = np.where(inside, np.maximum(part, reach), part)
    return breadth.astype(np.float32), (float(low[0]), float(low[2]), *(high - low)[[0, 2]].tolist())
