"""The surface of all tiles at one time, from the waves' complex heights.

Linear theory of deep water: where the height is Re a exp(i theta), a particle of the surface is moved along the wave
by Re i a exp(i theta), its choppiness' share of which is taken, and moves with the time derivative of both.
"""

import math

import numpy as np

from sim.compiled import compiled
from sim.water.ocean.transform import inverse_transform

HEIGHT, EAST, NORTH, RISE, SPEED_EAST, SPEED_NORTH = range(6)
"""What a grid tells of a particle: its height, its displacement along world x and y [m], and their rates [m/s]."""
FIELDS = 6


@compiled(fastmath=True)
def _put(
    out: np.ndarray, row: int, column: int, opposite_row: int, opposite_column: int, a: complex, b: complex
) -> None:
    """Coefficients a and b of two real fields as those of one complex field, out (2, points, points)."""
    out[0, row, column] = a.real - b.imag
    out[1, row, column] = a.imag + b.real
    # What is real has the conjugate there.
    out[0, opposite_row, opposite_column] = a.real + b.imag
    out[1, opposite_row, opposite_column] = b.real - a.imag


@compiled(fastmath=True)
def _spread_out(
    place: np.ndarray,
    number: np.ndarray,
    heights: np.ndarray,
    choppiness: float,
    time_s: float,
    out: np.ndarray,
) -> int:
    """Fourier transforms of the first real fields, two in each complex one, out (pairs, 2, points, points) transposed.

    Returns the greatest row of a wave, counted from the middle.
    """
    pairs, points = out.shape[0], out.shape[2]
    out[:] = 0.0
    reach = 0
    for m in range(len(place)):
        omega, east, north = number[m, 0], choppiness * number[m, 1], choppiness * number[m, 2]
        turn = omega * time_s
        wave = complex(math.cos(turn), -math.sin(turn))
        along, against = 0.5 * heights[m, 0] * wave, 0.5 * np.conj(heights[m, 1] * wave)
        height = along + against
        off = along - against
        rise = complex(omega * off.imag, -omega * off.real)
        moved, moving = complex(-height.imag, height.real), complex(-rise.imag, rise.real)
        row, column, opposite_row, opposite_column = place[m]
        _put(out[0], column, row, opposite_column, opposite_row, height, east * moved)
        _put(out[1], column, row, opposite_column, opposite_row, north * moved, rise)
        if pairs > 2:
            _put(out[2], column, row, opposite_column, opposite_row, east * moving, north * moving)
        reach = max(reach, min(row, points - row))
    return reach


@compiled
def synthesise(
    start: np.ndarray,
    place: np.ndarray,
    number: np.ndarray,
    heights: np.ndarray,
    choppiness: float,
    time_s: float,
    w: np.ndarray,
    work: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write fields of all tiles at a time, out (tiles, points, points, FIELDS or the first 4 of them) float32.

    start, place, number: of `Waves`; heights (n, 2) complex64 of waves and opposites [m]; w: `twiddles(points)`;
    work (pairs + 1, 2, points, points) float32, pairs: half the fields. The grid's point [tile, j, i] is the particle
    that rests at (i, j) edge / points.
    """
    points, pairs = out.shape[1], out.shape[3] // 2
    for tile in range(out.shape[0]):
        a, b = start[tile], start[tile + 1]
        reach = _spread_out(place[a:b], number[a:b], heights[a:b], choppiness, time_s, work[:pairs])
        for pair in range(pairs):
            in_last = inverse_transform(work[pair], work[pairs], w, reach)
            found = work[pairs] if in_last else work[pair]
            for j in range(points):
                for i in range(points):
                    out[tile, j, i, 2 * pair] = found[0, j, i]
                    out[tile, j, i, 2 * pair + 1] = found[1, j, i]
