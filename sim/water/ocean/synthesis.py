"""The surface of all tiles at one time, from the waves' complex heights by an inverse Fourier transform in the plane.

Linear theory: where the height is Re a exp(i theta), a particle of the surface is moved along the wave by
Re i a coth(k d) exp(i theta), d being the depth, its choppiness' fraction of which is taken, and moves with the time
derivative of both.

The transform is compiled code that steps can call: Stockham's radix-4 form (with one radix-2 pass for odd powers) along
the rows, all columns at once, then the same on the transposed array: no reordering by reversed bits. Real and imaginary
parts are arrays of their own, and each inner loop writes one row of one part: so the compiler can tell that rows do not
overlap, and takes eight numbers at a time.
"""

import math

import numpy as np

from sim.native.function import native, unordered


def twiddles(points: int) -> np.ndarray:
    """(points, 2) float32: real and imaginary part of exp(2 pi i k / points)."""
    turn = 2.0 * math.pi * np.arange(points) / points
    return np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)


@unordered
def _add(out: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
    for j in range(len(out)):
        out[j] = (a[j] + c[j]) + (b[j] + d[j])


@unordered
def _turn(
    out: np.ndarray,
    u: np.float32,
    v: np.float32,
    ar: np.ndarray,
    br: np.ndarray,
    cr: np.ndarray,
    dr: np.ndarray,
    ai: np.ndarray,
    bi: np.ndarray,
    ci: np.ndarray,
    di: np.ndarray,
) -> None:
    """out = u (re a - re b + re c - re d) + v (the same of the imaginary parts)."""
    for j in range(len(out)):
        out[j] = u * ((ar[j] + cr[j]) - (br[j] + dr[j])) + v * ((ai[j] + ci[j]) - (bi[j] + di[j]))


@unordered
def _quarter(
    out: np.ndarray,
    u: np.float32,
    v: np.float32,
    s: np.float32,
    ar: np.ndarray,
    br: np.ndarray,
    cr: np.ndarray,
    dr: np.ndarray,
    ai: np.ndarray,
    bi: np.ndarray,
    ci: np.ndarray,
    di: np.ndarray,
) -> None:
    """out = u re z + v im z where z = (a - c) + s i (b - d)."""
    for j in range(len(out)):
        re = (ar[j] - cr[j]) - s * (bi[j] - di[j])
        im = (ai[j] - ci[j]) + s * (br[j] - dr[j])
        out[j] = u * re + v * im


@unordered
def _radix4(x: np.ndarray, y: np.ndarray, w: np.ndarray, n: int, s: int, low: int, high: int) -> None:
    """One pass: n is the length that is left, s how many transforms are interleaved; n s = points."""
    points, m = x.shape[1], n // 4
    one = np.float32(1.0)
    for p in range(m):
        w1 = w[p * s]
        w2 = w[(2 * p * s) % points]
        w3 = w[(3 * p * s) % points]
        for q in range(s):
            i, step, k = q + s * p, s * m, q + s * 4 * p
            ar, br = x[0, i, low:high], x[0, i + step, low:high]
            cr, dr = x[0, i + 2 * step, low:high], x[0, i + 3 * step, low:high]
            ai, bi = x[1, i, low:high], x[1, i + step, low:high]
            ci, di = x[1, i + 2 * step, low:high], x[1, i + 3 * step, low:high]
            _add(y[0, k, low:high], ar, br, cr, dr)
            _add(y[1, k, low:high], ai, bi, ci, di)
            _quarter(y[0, k + s, low:high], w1[0], -w1[1], one, ar, br, cr, dr, ai, bi, ci, di)
            _quarter(y[1, k + s, low:high], w1[1], w1[0], one, ar, br, cr, dr, ai, bi, ci, di)
            _turn(y[0, k + 2 * s, low:high], w2[0], -w2[1], ar, br, cr, dr, ai, bi, ci, di)
            _turn(y[1, k + 2 * s, low:high], w2[1], w2[0], ar, br, cr, dr, ai, bi, ci, di)
            _quarter(y[0, k + 3 * s, low:high], w3[0], -w3[1], -one, ar, br, cr, dr, ai, bi, ci, di)
            _quarter(y[1, k + 3 * s, low:high], w3[1], w3[0], -one, ar, br, cr, dr, ai, bi, ci, di)


@unordered
def _radix2(x: np.ndarray, y: np.ndarray, s: int, low: int, high: int) -> None:
    """The last pass, where two are left."""
    for part in range(2):
        for q in range(s):
            a, b = x[part, q, low:high], x[part, q + s, low:high]
            y0, y1 = y[part, q, low:high], y[part, q + s, low:high]
            for j in range(len(a)):
                y0[j] = a[j] + b[j]
            for j in range(len(a)):
                y1[j] = a[j] - b[j]


@native
def _along_rows(x: np.ndarray, y: np.ndarray, w: np.ndarray, low: int, high: int) -> bool:
    """Transform columns low <= j < high along the rows between the two arrays; whether the result is in `y`."""
    n, s = x.shape[1], 1
    in_y = False
    while n > 1:
        source, target = (y, x) if in_y else (x, y)
        if n >= 4:
            _radix4(source, target, w, n, s, low, high)
            n //= 4
            s *= 4
        else:
            _radix2(source, target, s, low, high)
            n //= 2
            s *= 2
        in_y = not in_y
    return in_y


_BLOCK = 16


@native
def _transposed(x: np.ndarray, y: np.ndarray) -> None:
    """y = x' of both parts, by blocks that stay in the cache."""
    points = x.shape[1]
    for part in range(2):
        for i in range(0, points, _BLOCK):
            for j in range(0, points, _BLOCK):
                for b in range(j, min(j + _BLOCK, points)):
                    for a in range(i, min(i + _BLOCK, points)):
                        y[part, b, a] = x[part, a, b]


@native
def inverse_transform(x: np.ndarray, work: np.ndarray, w: np.ndarray, reach: int) -> bool:
    """z[i, j] = sum over (k, l) of z[k, l] exp(2 pi i (i k + j l) / points), without a factor.

    x, work: (2, points, points) float32, real and imaginary part, a power of two; w: `twiddles(points)`. Columns
    further than `reach` from the first one, either way round, are zero. What comes is transposed, z[j, i]: it is in
    `work` where that returns true, else in `x`; the other holds nothing of use.
    """
    points = x.shape[1]
    split = min(reach + 1, points)
    rest = max(points - reach, split)
    in_work = _along_rows(x, work, w, 0, split)
    _along_rows(x, work, w, rest, points)
    first, second = (work, x) if in_work else (x, work)
    first[:, :, split:rest] = 0.0
    _transposed(first, second)
    in_first = _along_rows(second, first, w, 0, points)
    return in_first == in_work


HEIGHT, EAST, NORTH, RISE, SPEED_EAST, SPEED_NORTH = range(6)
"""What a grid tells of a particle: its height, its displacement along world x and y [m], and their rates [m/s]."""
FIELDS = 6


@unordered
def _put(
    out: np.ndarray,
    row: int,
    column: int,
    opposite_row: int,
    opposite_column: int,
    a: float,
    a_imag: float,
    b: float,
    b_imag: float,
) -> None:
    """Coefficients of two real fields as those of one complex field, out (2, points, points)."""
    out[0, row, column] = a - b_imag
    out[1, row, column] = a_imag + b
    # What is real has the conjugate there.
    out[0, opposite_row, opposite_column] = a + b_imag
    out[1, opposite_row, opposite_column] = b - a_imag


@unordered
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
        omega, level = number[m, 0], choppiness * number[m, 4]
        east, north = level * number[m, 1], level * number[m, 2]
        turn = omega * time_s
        c, s = 0.5 * math.cos(turn), 0.5 * math.sin(turn)
        # Half of the height times exp(-i omega t), and the conjugate of the opposite's.
        along, along_imag = heights[m, 0] * c + heights[m, 1] * s, heights[m, 1] * c - heights[m, 0] * s
        against, against_imag = heights[m, 2] * c + heights[m, 3] * s, heights[m, 2] * s - heights[m, 3] * c
        height, height_imag = along + against, along_imag + against_imag
        rise, rise_imag = omega * (along_imag - against_imag), omega * (against - along)
        row, column, far_row, far_column = place[m]
        # A motion along the wave is i coth(k d) times the height: its parts are (-imaginary, real).
        _put(
            out[0],
            column,
            row,
            far_column,
            far_row,
            height,
            height_imag,
            -east * height_imag,
            east * height,
        )
        _put(out[1], column, row, far_column, far_row, -north * height_imag, north * height, rise, rise_imag)
        if pairs > 2:
            _put(
                out[2],
                column,
                row,
                far_column,
                far_row,
                -east * rise_imag,
                east * rise,
                -north * rise_imag,
                north * rise,
            )
        reach = max(reach, min(row, points - row))
    return reach


@native
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

    start, place, number: of `Waves`; heights (n, 4) float32 as `raise_waves` writes them [m]; w: `twiddles(points)`;
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
