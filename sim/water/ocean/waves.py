"""The waves of a sea: three square tiles that repeat, each with the waves of its own band of lengths.

A wave of wave number k has the height Re a exp(i (k . x - omega t)). Its complex number a is normal with the variance
that the spectrum gives, drawn by the wave's own place in a counted stream (Philox), so that it depends neither on the
size of the grids nor on the other waves; as the sea changes, the same numbers are scaled.
"""

import math
from dataclasses import dataclass

import numpy as np

from sim.compiled import compiled
from sim.water.ocean.sea import GRAVITY_MPS2
from sim.water.ocean.spectrum import wave_variances

TILES_M = (311.0, 73.0, 17.3)
"""Edges of the tiles: no common multiple within sight."""
_LONGEST_SHARE = 5.5
"""A tile has no waves longer than its edge over this: the tile before has them."""
MOST_POINTS = 512
LEAST_POINTS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """The waves of all tiles, tile after tile, each with its opposite: what does not change with the sea."""

    start: np.ndarray
    """(tiles + 1,) where each tile's waves begin."""
    place: np.ndarray
    """(n, 4) int32: row and column in the tile's transform, and those of the opposite wave."""
    number: np.ndarray
    """(n, 4) float64: omega [rad/s], unit vector of the wave number, edge of its cell in the plane of those [rad/m]."""
    drawn: np.ndarray
    """(n, 2) complex128 of the wave and its opposite, variance one."""

    @staticmethod
    def of(seed: int, points: int) -> "Waves":
        """As many as grids of that many points can have: wave numbers in a disc."""
        starts, places, numbers, draws = [0], [], [], []
        cuts = [2 * math.pi / edge * _LONGEST_SHARE for edge in TILES_M[1:]]
        for tile, (edge, least, most) in enumerate(
            zip(TILES_M, [0.0, *cuts], [*cuts, math.inf], strict=True)
        ):
            index = np.arange(points) - points // 2
            iy, ix = (a.ravel() for a in np.meshgrid(index, index, indexing="ij"))
            dk, size = 2 * math.pi / edge, np.hypot(ix, iy)
            half = (iy > 0) | ((iy == 0) & (ix > 0))
            inside = half & (size < points // 2) & (dk * size >= least) & (dk * size < most)
            iy, ix, size = iy[inside], ix[inside], size[inside]
            drawn = draw(seed, tile, points)
            places.append(np.stack([iy % points, ix % points, -iy % points, -ix % points], axis=1))
            omega = np.sqrt(GRAVITY_MPS2 * dk * size)
            numbers.append(np.stack([omega, ix / size, iy / size, np.full(len(ix), dk)], axis=1))
            draws.append(np.stack([drawn[iy, ix], drawn[-iy, -ix]], axis=1))
            starts.append(starts[-1] + len(ix))
        return Waves(
            np.array(starts),
            np.concatenate(places).astype(np.int32),
            np.concatenate(numbers),
            np.concatenate(draws),
        )


def draw(seed: int, tile: int, points: int) -> np.ndarray:
    """(points, points) complex, each part normal with variance one half; row and column count waves as FFTs do.

    Row iy, column ix is the wave number 2 pi / edge (ix, iy), the upper half negative.
    """
    # Rings about the longest wave, counted outwards: more points only add rings.
    half = points // 2
    raw = np.random.Philox(key=[seed, tile]).random_raw(2 * points * points)
    uniform = ((raw >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    radius, turn = np.sqrt(-np.log(uniform[0::2])), 2 * math.pi * uniform[1::2]
    drawn = radius * np.exp(1j * turn)
    index = np.arange(points) - half
    iy, ix = np.meshgrid(index, index, indexing="ij")
    out = np.empty((points, points), complex)
    out[iy % points, ix % points] = drawn[_place(ix, iy)]
    return out


def _place(ix: np.ndarray, iy: np.ndarray) -> np.ndarray:
    """Where a wave's numbers stand in the stream: rings -r <= ix, iy < r one after the other."""
    ring = np.maximum(np.maximum(ix + 1, -ix), np.maximum(iy + 1, -iy))
    inside = (2 * (ring - 1)) ** 2
    low, high = -ring, ring - 1
    side = 2 * ring
    along = np.where(
        iy == low,
        ix - low,
        np.where(
            iy == high,
            side + ix - low,
            np.where(ix == low, 2 * side + iy - low - 1, 3 * side - 2 + iy - low - 1),
        ),
    )
    return inside + along


@compiled
def raise_waves(number: np.ndarray, drawn: np.ndarray, sea: np.ndarray, out: np.ndarray) -> None:
    """Write the complex heights `a` [m] of waves and opposites (n, 2); sea (4,) as in `spectrum`."""
    for m in range(len(number)):
        omega, east, north, dk = number[m]
        k = omega * omega / GRAVITY_MPS2
        ahead, back = wave_variances(k * east, k * north, sea)
        out[m, 0] = drawn[m, 0] * (dk * math.sqrt(2.0 * ahead))
        out[m, 1] = drawn[m, 1] * (dk * math.sqrt(2.0 * back))


@compiled
def mean_wave_numbers(start: np.ndarray, number: np.ndarray, heights: np.ndarray, out: np.ndarray) -> None:
    """Write each tile's mean wave number [rad/m], by the energy of motion: how fast its motion fades below."""
    for tile in range(len(out)):
        total = weighted = 0.0
        for m in range(start[tile], start[tile + 1]):
            k = number[m, 0] ** 2 / GRAVITY_MPS2
            energy = k * (abs(heights[m, 0]) ** 2 + abs(heights[m, 1]) ** 2)
            total += energy
            weighted += energy * k
        out[tile] = weighted / total if total > 0.0 else 0.0
