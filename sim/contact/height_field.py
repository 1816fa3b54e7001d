"""Reading the height field from compiled code: height, normal, first crossing of a moving point.

`frame` is (x0_m, y0_m, spacing_m, ...) of the height field; outside the field its edge goes on.
"""

import numpy as np

from sim.native.function import fastmath, inline_fastmath

_BISECTIONS = 14
_EXACT = 2.0**-14
"""Of the change of height over a piece of the way: no less exact than bisection."""
MARCH_LIMIT = 4096
"""Samples of a way; longer ones are sampled less than once a cell."""


@inline_fastmath
def surface_height(heights: np.ndarray, frame: np.ndarray, x: float, y: float) -> float:
    """Bilinear ground height [m] at world (x, y)."""
    u = min(max((x - frame[0]) / frame[2], 0.0), heights.shape[1] - 1.0)
    v = min(max((y - frame[1]) / frame[2], 0.0), heights.shape[0] - 1.0)
    i = min(int(u), heights.shape[1] - 2)
    j = min(int(v), heights.shape[0] - 2)
    u -= i
    v -= j
    low = heights[j, i] * (1.0 - u) + heights[j, i + 1] * u
    high = heights[j + 1, i] * (1.0 - u) + heights[j + 1, i + 1] * u
    return low * (1.0 - v) + high * v


@inline_fastmath
def ground_top(tops: np.ndarray, cells: float, frame: np.ndarray, x: float, y: float) -> float:
    """No ground within `cells` cells of world (x, y) is higher [m]; tops as `Terrain.tops` has them."""
    i = int(min(max((x - frame[0]) / (frame[2] * cells), 0.0), tops.shape[1] - 1.0))
    j = int(min(max((y - frame[1]) / (frame[2] * cells), 0.0), tops.shape[0] - 1.0))
    return float(tops[j, i])


@fastmath
def top_about(
    heights: np.ndarray, frame: np.ndarray, x: float, y: float, reach: float, known: np.ndarray
) -> float:
    """No ground nearer to world (x, y) than `reach` along both axes is higher [m].

    known (5,): the samples that were looked through last, as columns and rows from .. to, and the highest of them.
    """
    across, along = heights.shape[1] - 2.0, heights.shape[0] - 2.0
    u, v, cells = (x - frame[0]) / frame[2], (y - frame[1]) / frame[2], int(reach / frame[2]) + 1
    first, last = int(min(max(u - cells, 0.0), across)), int(min(max(u + cells, 0.0), across)) + 1
    low, high = int(min(max(v - cells, 0.0), along)), int(min(max(v + cells, 0.0), along)) + 1
    if known[0] == first and known[1] == last and known[2] == low and known[3] == high:
        return float(known[4])
    top = heights[low, first]
    for j in range(low, high + 1):
        for i in range(first, last + 1):
            top = max(top, heights[j, i])
    known[0], known[1], known[2], known[3], known[4] = first, last, low, high, top
    return float(top)


@fastmath
def surface_normal(heights: np.ndarray, frame: np.ndarray, x: float, y: float) -> tuple[float, float, float]:
    """Unit upward normal of the bilinear patch at world (x, y)."""
    _, nx, ny, nz = surface_patch(heights, frame, x, y)
    return nx, ny, nz


@inline_fastmath
def surface_patch(
    heights: np.ndarray, frame: np.ndarray, x: float, y: float
) -> tuple[float, float, float, float]:
    """Bilinear ground height [m] at world (x, y), and the unit upward normal of the patch there."""
    u = min(max((x - frame[0]) / frame[2], 0.0), heights.shape[1] - 1.0)
    v = min(max((y - frame[1]) / frame[2], 0.0), heights.shape[0] - 1.0)
    i = min(int(u), heights.shape[1] - 2)
    j = min(int(v), heights.shape[0] - 2)
    u -= i
    v -= j
    h00 = float(heights[j, i])
    h10 = float(heights[j, i + 1])
    h01 = float(heights[j + 1, i])
    h11 = float(heights[j + 1, i + 1])
    slope_x = ((h10 - h00) * (1.0 - v) + (h11 - h01) * v) / frame[2]
    slope_y = ((h01 - h00) * (1.0 - u) + (h11 - h10) * u) / frame[2]
    scale = 1.0 / np.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    height = (h00 * (1.0 - u) + h10 * u) * (1.0 - v) + (h01 * (1.0 - u) + h11 * u) * v
    return height, -slope_x * scale, -slope_y * scale, scale


@fastmath
def first_crossing(
    heights: np.ndarray, frame: np.ndarray, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> float:
    """Fraction 0..1 of the way (dx, dy, dz) at which a point meets the ground; 2.0 where it does not.

    The way is sampled once a cell, so a fast point does not jump through a ridge; 0 for a point that
    is already on or below the ground.
    """
    height = z - surface_height(heights, frame, x, y)
    if height <= 0.0:
        return 0.0
    pieces = min(int(max(abs(dx), abs(dy)) / frame[2]) + 1, MARCH_LIMIT)
    above = 0.0
    for k in range(1, pieces + 1):
        below = k / pieces
        depth = surface_height(heights, frame, x + below * dx, y + below * dy) - (z + below * dz)
        if depth > 0.0:
            return _crossing_between(heights, frame, x, y, z, dx, dy, dz, above, below, height, depth)
        above, height = below, -depth
    return 2.0


@fastmath
def _crossing_between(
    heights: np.ndarray,
    frame: np.ndarray,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    above: float,
    below: float,
    height: float,
    depth: float,
) -> float:
    """The fraction of the way at which it meets the ground, `height` above it at `above`, `depth` under it at `below`.

    Over one cell the height of a straight way is a polynomial of second order, which three samples tell; bisection
    finds what crosses an edge.
    """
    middle = 0.5 * (above + below)
    between = z + middle * dz - surface_height(heights, frame, x + middle * dx, y + middle * dy)
    # height - falls s + bends s^2, s from 0 to 1
    bends = 2.0 * (height - depth - 2.0 * between)
    falls = height + depth + bends
    root = falls + np.sqrt(max(falls * falls - 4.0 * bends * height, 0.0))
    if root > 0.0:
        t = above + (below - above) * min(2.0 * height / root, 1.0)
        left = z + t * dz - surface_height(heights, frame, x + t * dx, y + t * dy)
        if abs(left) <= _EXACT * (height + depth):
            return t
    for _ in range(_BISECTIONS):
        middle = 0.5 * (above + below)
        if z + middle * dz < surface_height(heights, frame, x + middle * dx, y + middle * dy):
            below = middle
        else:
            above = middle
    return above
