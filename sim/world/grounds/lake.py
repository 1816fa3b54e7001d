"""A lake on a level ground: still water with a sandy shore."""

from dataclasses import dataclass

import numpy as np

from sim.compiled import compiled
from sim.world.bands import for_row_bands
from sim.world.noise import fractal_noise, smoothstep

_WOBBLE_M = 9.0
"""By which its shore strays from a rectangle."""
_SEED_OFFSET = 21


@dataclass(frozen=True, slots=True)
class Lake:
    """Water over a level ground, whose bed is dug out of that."""

    centre_m: tuple[float, float]
    half_m: tuple[float, float]
    """Half extents along x and y of where the ground begins to fall."""
    level_m: float
    """z of the water surface."""
    depth_m: float
    """Of the bed below the ground around it."""
    shore_m: float
    """Distance over which the bed falls."""

    def dug(self, heights: np.ndarray, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        """(len(y), len(x)) float32: heights with the bed in them."""
        dug = np.array(heights, float)
        shape = np.array([*self.centre_m, *self.half_m, self.depth_m, self.shore_m])
        for_row_bands(_bed_rows, len(y), x, y, shape, seed, dug)
        return dug.astype(np.float32)


@compiled
def _bed_rows(
    first: int, end: int, xs: np.ndarray, ys: np.ndarray, shape: np.ndarray, seed: int, heights: np.ndarray
) -> None:
    """Lower rows first..end of heights (len(ys), len(xs)); shape: centre, half extents, depth, shore."""
    for j in range(first, end):
        for i in range(xs.shape[0]):
            x, y = xs[i], ys[j]
            out_x, out_y = abs(x - shape[0]) - shape[2], abs(y - shape[1]) - shape[3]
            away = np.sqrt(max(out_x, 0.0) ** 2 + max(out_y, 0.0) ** 2) + min(max(out_x, out_y), 0.0)
            away += _WOBBLE_M * fractal_noise(x / 34.0, y / 34.0, 3, seed + _SEED_OFFSET)
            heights[j, i] -= shape[4] * smoothstep(0.0, shape[5], -away)
