"""The desert around a level ground: flat where vehicles drive, then dunes and scrub, mesas at the horizon."""

import numpy as np

from sim.native.function import native
from sim.world.noise import fractal_noise, ridge_noise, smoothstep
from sim.world.props import Grounds
from sim.world.terrain import Terrain, TerrainLayers, curvature, for_row_bands, sky_visibility

HALF_EXTENT_M = (360.0, 243.0)
SPACING_M = 1.0
_SEED_STRIDE = 1000


@native
def _mesa(x: float, y: float, away: float, seed: int) -> float:
    """Table mountains in two tiers with slopes of scree below their walls."""
    field = fractal_noise(x / 560.0, y / 560.0, 4, seed + 91) + 0.03 * fractal_noise(
        x / 45.0, y / 45.0, 3, seed + 95
    )
    field = field * smoothstep(60.0, 260.0, away) + 0.03 * smoothstep(300.0, 1500.0, away)
    tall = 1.0 + 0.8 * smoothstep(500.0, 2500.0, away)
    steps = 30.0 * smoothstep(0.13, 0.138, field) + 26.0 * smoothstep(0.22, 0.227, field)
    return tall * (steps + 34.0 * smoothstep(0.02, 0.13, field))


@native
def desert_point(x: float, y: float, half_x: float, half_y: float, seed: int) -> tuple[float, float]:
    """Height [m] and looseness 0..1 at (x, y): exactly level within the half extents."""
    seed = seed * _SEED_STRIDE
    out_x, out_y = max(abs(x) - half_x, 0.0), max(abs(y) - half_y, 0.0)
    away = np.sqrt(out_x * out_x + out_y * out_y)
    if away <= 0.0:
        return 0.0, 0.9
    swell = 3.2 * fractal_noise(x / 85.0, y / 85.0, 3, seed + 7) + 0.5 * fractal_noise(
        x / 14.0, y / 14.0, 3, seed + 9
    )
    wash = 1.2 * ridge_noise(x / 70.0, y / 60.0, 3.0, seed + 13)
    mesa = _mesa(x, y, away, seed)
    z = smoothstep(0.0, 50.0, away) * (swell - wash + 0.9) + mesa
    loose = 0.85 * smoothstep(16.0, 4.0, mesa) + 0.1
    return z, loose


@native
def desert_rows(
    first: int,
    end: int,
    xs: np.ndarray,
    ys: np.ndarray,
    half: np.ndarray,
    seed: int,
    heights: np.ndarray,
    loose: np.ndarray,
) -> None:
    """Fill rows first..end of heights and loose, both (len(ys), len(xs))."""
    for j in range(first, end):
        for i in range(xs.shape[0]):
            heights[j, i], loose[j, i] = desert_point(xs[i], ys[j], half[0], half[1], seed)


def desert_field(grounds: Grounds, x: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Heights and looseness, each (len(y), len(x)), anywhere."""
    heights, loose = np.empty((len(y), len(x))), np.empty((len(y), len(x)))
    for_row_bands(desert_rows, len(y), x, y, np.array(grounds.half_m), seed, heights, loose)
    return heights, loose


def grow_desert(grounds: Grounds, seed: int) -> tuple[Terrain, TerrainLayers]:
    """The map of a seed around a level ground: the same bytes on every run."""
    x, y = (np.arange(-half, half + 0.5 * SPACING_M, SPACING_M, dtype=float) for half in HALF_EXTENT_M)
    rough, loose = desert_field(grounds, x, y, seed)
    heights = rough.astype(np.float32)
    if grounds.lake is not None:
        heights = grounds.lake.dug(heights, x, y, seed * _SEED_STRIDE)
    layers = TerrainLayers(
        sky_visibility(heights, SPACING_M), loose.astype(np.float32), curvature(heights, SPACING_M)
    )
    return Terrain(heights, (float(x[0]), float(y[0])), SPACING_M), layers
