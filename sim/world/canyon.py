"""The canyon, grown from its seed: landform, erosion, levelled pads, layers."""

import numpy as np

from sim.world.bands import for_row_bands
from sim.world.erosion import erode
from sim.world.landform import canyon_point, canyon_rows
from sim.world.layers import TerrainLayers, curvature, sky_visibility
from sim.world.pad import Pad, level_ground
from sim.world.river import River
from sim.world.terrain import Terrain

ORIGIN_M = (-60.0, -432.0)
SHAPE = (865, 1681)
SPACING_M = 1.0
_DROPLETS = 420_000
_PAD_X_M = (("start", 70.0), ("landing", 1470.0))
_PAD_OFF_RIVER_M = 34.0
_PAD_HALF_M = 8.0
_NO_SITES = np.full((1, 2), 1e9)


def _site(x_near: float, river: River, seed: int) -> tuple[float, float]:
    """(x, y) of the building site near x, on either bank, whose natural surroundings are lowest."""
    angle = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    options = []
    for x in x_near + np.arange(-40.0, 41.0, 20.0):
        for side in (1.0, -1.0):
            y = float(river.centre(x)) + side * _PAD_OFF_RIVER_M * float(np.hypot(1.0, river.slope(x)))
            ring = [
                canyon_point(x + r * np.cos(a), y + r * np.sin(a), river.coefficients, _NO_SITES, seed)[0]
                for a in angle
                for r in (22.0, 45.0)
            ]
            options.append((float(np.mean(ring)), float(x), y))
    return min(options)[1:]


def _rough_canyon(river: River, sites: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Heights and looseness (ny, nx) float64 before erosion."""
    ys = ORIGIN_M[1] + SPACING_M * np.arange(SHAPE[0])
    xs = ORIGIN_M[0] + SPACING_M * np.arange(SHAPE[1])
    heights, loose = np.empty(SHAPE), np.empty(SHAPE)
    for_row_bands(canyon_rows, SHAPE[0], xs, ys, river.coefficients, sites, seed, heights, loose)
    return heights, loose


def _eroded(heights: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Heights after erosion and what was deposited where [m]."""
    from scipy.ndimage import gaussian_filter  # takes a while, and grown canyons are kept

    rng = np.random.default_rng([seed, 202])
    room = np.array([SHAPE[1] - 8, SHAPE[0] - 8], float)
    sediment = np.zeros(SHAPE)
    erode(heights, sediment, 3.0 + rng.random((_DROPLETS, 2)) * room, 0.2)
    return 0.85 * heights + 0.15 * gaussian_filter(heights, 1.0), gaussian_filter(sediment, 1.0)


def _build_pads(heights: np.ndarray, loose: np.ndarray, sites: np.ndarray, river: River) -> tuple[Pad, ...]:
    """Level the ground at the sites, in place."""
    xs = ORIGIN_M[0] + SPACING_M * np.arange(SHAPE[1])
    ys = ORIGIN_M[1] + SPACING_M * np.arange(SHAPE[0])
    pads = []
    for (name, _), site in zip(_PAD_X_M, sites, strict=True):
        near = np.hypot(xs[None, :] - site[0], ys[:, None] - site[1]) < 16.0
        z = float(np.float32(np.clip(np.median(heights[near]), 2.2, 4.5)))
        weight = level_ground(heights, xs, ys, site, z)
        np.maximum(loose, weight, out=loose)
        heading = float(np.arctan(river.slope(site[0])))
        pads.append(Pad(name, np.array([site[0], site[1], z]), _PAD_HALF_M, heading))
    return tuple(pads)


def grow_canyon(seed: int) -> tuple[Terrain, TerrainLayers, River, tuple[Pad, ...]]:
    """Build the canyon of a seed: the same bytes on every run. Takes seconds; `load_world` caches it."""
    river = River.meandering(seed)
    sites = np.array([_site(x, river, seed) for _, x in _PAD_X_M])
    heights, loose = _rough_canyon(river, sites, seed)
    heights, sediment = _eroded(heights, seed)
    slope = np.hypot(*np.gradient(heights, SPACING_M))
    loose = np.clip(np.maximum(loose, 0.8 * sediment * (slope < 1.1)), 0.0, 1.0)
    pads = _build_pads(heights, loose, sites, river)
    heights = heights.astype(np.float32)
    layers = TerrainLayers(
        sky_visibility(heights, SPACING_M), loose.astype(np.float32), curvature(heights, SPACING_M)
    )
    return Terrain(heights, ORIGIN_M, SPACING_M), layers, river, pads
