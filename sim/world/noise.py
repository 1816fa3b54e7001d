"""Seeded gradient noise on the plane, compiled: the raw material of every landform.

Lattice gradients come from an integer hash, so a value depends only on (x, y, seed): any part of
the world can be evaluated anywhere, in any order, on any thread.
"""

import numpy as np

from sim.native.function import native

_DIRECTIONS = np.linspace(0.0, 2.0 * np.pi, 256, endpoint=False)
_GRADIENT_X = np.cos(_DIRECTIONS)
_GRADIENT_Y = np.sin(_DIRECTIONS)


@native
def lattice_hash(i: int, j: int, seed: int) -> int:
    """Well-mixed 16-bit hash of a lattice point."""
    h = (i * 374761393 + j * 668265263 + seed * 2246822519) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 2246822519) & 0xFFFFFFFF
    h = ((h ^ (h >> 13)) * 3266489917) & 0xFFFFFFFF
    return (h ^ (h >> 16)) & 0xFFFF


@native
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
