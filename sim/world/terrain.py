"""The ground as a field of heights: how it is read between its samples, and what a picture knows of its cells.

Its raw material is seeded gradient noise on the plane. Lattice gradients come from an integer hash, so a value depends
only on (x, y, seed): any part of the world can be evaluated anywhere, in any order, on any thread.
"""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from sim.native.function import native
from sim.platform.values import dataclass
from sim.world.smoothing import smoothed

_COMPASS = np.linspace(0.0, 2.0 * np.pi, 256, endpoint=False)
_GRADIENT_X = np.cos(_COMPASS)
_GRADIENT_Y = np.sin(_COMPASS)


@native
def lattice_hash(i: int, j: int, seed: int) -> int:
    """Well-mixed 16-bit hash of a lattice point."""
    h = (i * 374761393 + j * 668265263 + seed * 2246822519) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 2246822519) & 0xFFFFFFFF
    h = ((h ^ (h >> 13)) * 3266489917) & 0xFFFFFFFF
    return (h ^ (h >> 16)) & 0xFFFF


@native(noinline=True)
def gradient_noise(x: float, y: float, seed: int) -> float:
    """Perlin noise with quintic fade, about -1..1, zero mean, wavelength 1."""
    x0 = np.floor(x)
    y0 = np.floor(y)
    i = int(x0)
    j = int(y0)
    u = x - x0
    v = y - y0
    a = u * u * u * (u * (u * 6.0 - 15.0) + 10.0)
    b = v * v * v * (v * (v * 6.0 - 15.0) + 10.0)
    g = lattice_hash(i, j, seed) & 255
    n00 = _GRADIENT_X[g] * u + _GRADIENT_Y[g] * v
    g = lattice_hash(i + 1, j, seed) & 255
    n10 = _GRADIENT_X[g] * (u - 1.0) + _GRADIENT_Y[g] * v
    g = lattice_hash(i, j + 1, seed) & 255
    n01 = _GRADIENT_X[g] * u + _GRADIENT_Y[g] * (v - 1.0)
    g = lattice_hash(i + 1, j + 1, seed) & 255
    n11 = _GRADIENT_X[g] * (u - 1.0) + _GRADIENT_Y[g] * (v - 1.0)
    low = n00 + a * (n10 - n00)
    high = n01 + a * (n11 - n01)
    return 1.5 * (low + b * (high - low))


@native
def fractal_noise(x: float, y: float, octaves: int, seed: int) -> float:
    """Sum of `octaves` of gradient noise, each rotated and doubled, amplitude halved, about -1..1."""
    total = 0.0
    amplitude = 0.5
    for k in range(octaves):
        total += amplitude * gradient_noise(x, y, seed + k)
        amplitude *= 0.5
        x, y = 1.6 * x + 1.2 * y, -1.2 * x + 1.6 * y
    return total


@native
def ridge_noise(x: float, y: float, sharpness: float, seed: int) -> float:
    """Narrow lines of 1 on a background of 0: where gradient noise crosses zero. The pattern of gullies."""
    return max(1.0 - sharpness * abs(gradient_noise(x, y, seed)), 0.0)


@native
def smoothstep(low: float, high: float, value: float) -> float:
    """0 below `low`, 1 above `high`, C1 between."""
    t = min(max((value - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@native
def _sample(field: np.ndarray, frame: np.ndarray, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """`Terrain.sample` at places x, y (n,); frame: of heights[0, 0], and the spacing [m]."""
    rows, columns = field.shape
    for k in range(x.shape[0]):
        u = min(max((x[k] - frame[0]) / frame[2], 0.0), columns - 1.0)
        v = min(max((y[k] - frame[1]) / frame[2], 0.0), rows - 1.0)
        if not (u >= 0.0 and v >= 0.0):  # it is no place
            out[k] = np.nan
            continue
        i, j = min(int(u), columns - 2), min(int(v), rows - 2)
        u, v = u - i, v - j
        low = field[j, i] * (1.0 - u) + field[j, i + 1] * u
        high = field[j + 1, i] * (1.0 - u) + field[j + 1, i + 1] * u
        out[k] = low * (1.0 - v) + high * v


_BLOCK_M = 8.0


@dataclass(frozen=True)
class Terrain:
    """Ground height on a regular grid; bilinear between the samples, constant past the edges."""

    heights: np.ndarray
    """(ny, nx) float32 [m], C-contiguous; row j is y = origin_m[1] + j * spacing_m."""
    origin_m: tuple[float, float]
    """(x, y) of heights[0, 0]."""
    spacing_m: float

    @property
    def low_m(self) -> tuple[float, float]:
        """(x, y) of the first corner."""
        return self.origin_m

    @property
    def high_m(self) -> tuple[float, float]:
        """(x, y) of the opposite corner."""
        rows, columns = self.heights.shape
        return (
            self.origin_m[0] + (columns - 1) * self.spacing_m,
            self.origin_m[1] + (rows - 1) * self.spacing_m,
        )

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """x of the columns and y of the rows [m]."""
        rows, columns = self.heights.shape
        return (
            self.origin_m[0] + self.spacing_m * np.arange(columns),
            self.origin_m[1] + self.spacing_m * np.arange(rows),
        )

    @property
    def block_cells(self) -> int:
        """Cells along a side of the blocks of `tops`."""
        return max(int(np.ceil(_BLOCK_M / self.spacing_m)), 1)

    @cached_property
    def tops(self) -> np.ndarray:
        """(my, mx) float32 [m]: by block, the greatest height in it and in the eight about it.

        No ground within a block's side of any place in it is higher.
        """
        cells, field = self.block_cells, self.heights
        for axis in (0, 1):
            begins = np.arange(0, max(field.shape[axis] - 1, 1), cells)
            # With the first sample of the next one, which is a corner of its own last cells.
            ends = np.minimum(begins + cells, field.shape[axis] - 1)
            field = np.maximum(np.maximum.reduceat(field, begins, axis), field.take(ends, axis))
        about = np.pad(field, 1, mode="edge")
        rows, columns = field.shape
        shifted = [about[j : j + rows, i : i + columns] for j in range(3) for i in range(3)]
        return np.ascontiguousarray(np.max(shifted, axis=0), np.float32)

    def sample(self, field: np.ndarray, x_m: np.ndarray | float, y_m: np.ndarray | float) -> np.ndarray:
        """Bilinear value of a per-cell field at world points; x and y broadcast."""
        if isinstance(x_m, float) and isinstance(y_m, float) and math.isfinite(x_m) and math.isfinite(y_m):
            return np.float64(self._at(field, x_m, y_m))  # type: ignore[return-value]
        x, y = np.broadcast_arrays(np.asarray(x_m, float), np.asarray(y_m, float))
        out = np.empty(x.size)
        frame = np.array([*self.origin_m, self.spacing_m])
        _sample(np.ascontiguousarray(field), frame, x.ravel(), y.ravel(), out)
        return out.reshape(x.shape)[()]

    def _at(self, field: np.ndarray, x_m: float, y_m: float) -> float:
        """`sample` at one place, which many ask for: to the bit, in a tenth of the time."""
        rows, columns = self.heights.shape
        u = min(max((x_m - self.origin_m[0]) / self.spacing_m, 0.0), columns - 1.0)
        v = min(max((y_m - self.origin_m[1]) / self.spacing_m, 0.0), rows - 1.0)
        i, j = min(int(u), columns - 2), min(int(v), rows - 2)
        u, v = u - i, v - j
        low = float(field[j, i]) * (1.0 - u) + float(field[j, i + 1]) * u
        high = float(field[j + 1, i]) * (1.0 - u) + float(field[j + 1, i + 1]) * u
        return low * (1.0 - v) + high * v

    def height(self, x_m: np.ndarray | float, y_m: np.ndarray | float) -> np.ndarray:
        """Ground z [m] at world points; x and y broadcast, a scalar gives a 0-d array."""
        return self.sample(self.heights, x_m, y_m)

    def normal(self, x_m: np.ndarray | float, y_m: np.ndarray | float) -> np.ndarray:
        """Unit upward normal (..., 3) at world points, by central differences over one spacing."""
        half = 0.5 * self.spacing_m
        if isinstance(x_m, float) and isinstance(y_m, float) and math.isfinite(x_m) and math.isfinite(y_m):
            field = self.heights
            rise_x = self._at(field, x_m + half, y_m) - self._at(field, x_m - half, y_m)
            rise_y = self._at(field, x_m, y_m + half) - self._at(field, x_m, y_m - half)
            across, along = rise_x / self.spacing_m, rise_y / self.spacing_m
            size = math.sqrt(across * across + along * along + 1.0)
            return np.array([-across / size, -along / size, 1.0 / size])
        x, y = np.broadcast_arrays(np.asarray(x_m, float), np.asarray(y_m, float))
        slope_x = (self.height(x + half, y) - self.height(x - half, y)) / self.spacing_m
        slope_y = (self.height(x, y + half) - self.height(x, y - half)) / self.spacing_m
        normal = np.stack([-slope_x, -slope_y, np.ones_like(slope_x)], axis=-1)
        return normal / np.linalg.norm(normal, axis=-1, keepdims=True)


BAND_ROWS = 64


def for_row_bands(kernel: Callable[..., None], rows: int, *arguments: object) -> None:
    """Call `kernel(first_row, end_row, *arguments)` for bands that cover `rows`.

    The kernel releases the GIL and writes only its own rows, so the result does not depend on the
    number of threads.
    """
    starts = range(0, rows, BAND_ROWS)
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, 8)) as pool:
        jobs = [pool.submit(kernel, start, min(start + BAND_ROWS, rows), *arguments) for start in starts]
        for job in jobs:
            job.result()


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


@native
def _sky_rows(first: int, end: int, heights: np.ndarray, spacing: float, out: np.ndarray) -> None:
    rows, columns = heights.shape
    steepest = np.zeros(columns)
    seen = np.zeros(columns)
    for j in range(first, end):
        seen[:] = 0.0
        for k in range(_DIRECTIONS):
            angle = 2.0 * np.pi * k / _DIRECTIONS + 0.2
            cx = np.cos(angle)
            cy = np.sin(angle)
            steepest[:] = 0.0
            reach = 1.5
            while reach < _REACH_M / spacing:
                b = int(j + cy * reach)
                if b < 0 or b >= rows:
                    break
                right = int(np.floor(cx * reach))
                away = reach * spacing
                # A whole row at once, which goes several cells at a time.
                for i in range(max(-right, 0), min(columns - right, columns)):
                    steepest[i] = max(steepest[i], (heights[b, i + right] - heights[j, i]) / away)
                if -columns <= right < 0:
                    i = -1 - right  # its place is between the first column and the edge
                    steepest[i] = max(steepest[i], (heights[b, 0] - heights[j, i]) / away)
                reach *= _STRIDE
            for i in range(columns):
                seen[i] += 1.0 / (1.0 + steepest[i] * steepest[i])
        for i in range(columns):
            out[j, i] = seen[i] / _DIRECTIONS


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
    around = smoothed(heights, 6.0 / spacing_m, wide=3.0)
    return np.clip((around - heights) / 6.0, -1.0, 1.0).astype(np.float32)
