"""What the picture needs to know of each cell besides its height."""

from dataclasses import dataclass

import numpy as np

from sim.compiled import compiled
from sim.world.bands import for_row_bands

_DIRECTIONS = 12
_REACH_M = 190.0
_STRIDE = 1.32


@dataclass(frozen=True, slots=True)
class TerrainLayers:
    """Per-cell fields, each (ny, nx) float32 like the heights."""

    sky_visibility: np.ndarray
    """0..1: cosine-weighted part of the sky that is seen, 1 in the open."""
    loose: np.ndarray
    """0..1: talus, sand and sediment rather than rock."""
    curvature: np.ndarray
    """-1..1: positive in hollows, negative on edges."""


@compiled
def _sky_rows(first: int, end: int, heights: np.ndarray, spacing: float, out: np.ndarray) -> None:
    rows, columns = heights.shape
    for j in range(first, end):
        for i in range(columns):
            seen = 0.0
            for k in range(_DIRECTIONS):
                angle = 2.0 * np.pi * k / _DIRECTIONS + 0.2
                cx = np.cos(angle)
                cy = np.sin(angle)
                steepest = 0.0
                reach = 1.5
                while reach < _REACH_M / spacing:
                    a = int(i + cx * reach)
                    b = int(j + cy * reach)
                    if a < 0 or b < 0 or a >= columns or b >= rows:
                        break
                    steepest = max(steepest, (heights[b, a] - heights[j, i]) / (reach * spacing))
                    reach *= _STRIDE
                seen += 1.0 / (1.0 + steepest * steepest)
            out[j, i] = seen / _DIRECTIONS


def sky_visibility(heights: np.ndarray, spacing_m: float) -> np.ndarray:
    """Cosine-weighted sky visibility 0..1 of a height field, (ny, nx) float32.

    Horizons in 12 directions; a direction whose horizon stands at elevation e contributes
    1 - sin(e)^2 = 1 / (1 + tan(e)^2).
    """
    out = np.empty_like(heights, dtype=np.float32)
    for_row_bands(_sky_rows, heights.shape[0], np.ascontiguousarray(heights, np.float32), spacing_m, out)
    return out


def curvature(heights: np.ndarray, spacing_m: float) -> np.ndarray:
    """Height of the 6 m neighbourhood over the cell, / 6 m, clipped to -1..1: positive in hollows."""
    from scipy.ndimage import gaussian_filter  # takes a while, and grown worlds are kept

    around = gaussian_filter(heights, 6.0 / spacing_m, truncate=3.0)
    return np.clip((around - heights) / 6.0, -1.0, 1.0).astype(np.float32)
