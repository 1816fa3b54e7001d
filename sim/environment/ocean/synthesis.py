"""The surface of all tiles at one time, from the waves' complex heights.

Linear theory of deep water: where the height is Re a exp(i theta), a particle of the surface is moved along the wave
by Re i a exp(i theta), its choppiness' share of which is taken, and moves with the time derivative of both.
"""

import math

import numpy as np

from sim.compiled import compiled
from sim.environment.ocean.transform import inverse_transform

HEIGHT, EAST, NORTH, RISE, SPEED_EAST, SPEED_NORTH = range(6)
"""What a grid tells of a particle: its height, its displacement along world x and y [m], and their rates [m/s]."""
FIELDS = 6


@compiled(fastmath=True)
def _spread_out(
    place: np.ndarray,
    number: np.ndarray,
    heights: np.ndarray,
    choppiness: float,
    time_s: float,
    out: np.ndarray,
) -> int:
    """Fourier transforms of the six real fields, in three complex arrays (3, points, points).

    Returns the greatest column of a wave, counted from the middle.
    """
    points = out.shape[1]
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
        row, column = place[m, 0], place[m, 1]
        out[0, row, column] = height + 1j * (east * moved)
        out[1, row, column] = north * moved + 1j * rise
        out[2, row, column] = east * moving + 1j * (north * moving)
        # What is real has the conjugate there.
        row, column = place[m, 2], place[m, 3]
        out[0, row, column] = np.conj(height) + 1j * (east * np.conj(moved))
        out[1, row, column] = north * np.conj(moved) + 1j * np.conj(rise)
        out[2, row, column] = east * np.conj(moving) + 1j * (north * np.conj(moving))
        reach = max(reach, min(column, points - column))
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
    """Write the fields of all tiles at a time, out (tiles, points, points, FIELDS) float32.

    start, place, number: of `Waves`; heights (n, 2) complex64 of waves and opposites [m]; w: `twiddles(points)`;
    work (4, points, points) complex64. The grid's point [tile, j, i] is the particle that rests at
    (i, j) edge / points.
    """
    points = out.shape[1]
    for tile in range(out.shape[0]):
        a, b = start[tile], start[tile + 1]
        reach = _spread_out(place[a:b], number[a:b], heights[a:b], choppiness, time_s, work[:3])
        for pair in range(3):
            inverse_transform(work[pair], work[3], w, reach)
        grid = out[tile]
        for j in range(points):
            for i in range(points):
                one, two, three = work[0, j, i], work[1, j, i], work[2, j, i]
                grid[j, i, HEIGHT] = one.real
                grid[j, i, EAST] = one.imag
                grid[j, i, NORTH] = two.real
                grid[j, i, RISE] = two.imag
                grid[j, i, SPEED_EAST] = three.real
                grid[j, i, SPEED_NORTH] = three.imag
