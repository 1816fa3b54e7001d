"""A mesh of the sea for one camera: rings about the point under the eye, dense near it, of what the camera can see.

Rings lie at d = near / r^3 with r falling evenly, so that steps grow as d^(4/3). The vertex shader makes the places.
"""

from dataclasses import dataclass

import numpy as np

from render.frame import View

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
