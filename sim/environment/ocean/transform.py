"""The inverse Fourier transform in the plane, as compiled code that steps can call.

Stockham's radix-4 form (with one radix-2 pass for odd powers) along the rows, all columns at once, then the same on
the transposed array: no reordering by reversed bits, and inner loops over contiguous memory.
"""

import math

import numpy as np

from sim.compiled import compiled


def twiddles(points: int) -> np.ndarray:
    """(points,) exp(2 pi i k / points) as complex64."""
    return np.exp(2j * math.pi * np.arange(points) / points).astype(np.complex64)


@compiled(fastmath=True)
def _radix4(x: np.ndarray, y: np.ndarray, w: np.ndarray, n: int, s: int, low: int, high: int) -> None:
    """One pass: n is the length that is left, s how many transforms are interleaved; n s = points."""
    points, m = x.shape[0], n // 4
    for p in range(m):
        w1 = w[p * s]
        w2 = w[(2 * p * s) % points]
        w3 = w[(3 * p * s) % points]
        for q in range(s):
            a, b = x[q + s * p], x[q + s * (p + m)]
            c, d = x[q + s * (p + 2 * m)], x[q + s * (p + 3 * m)]
            y0, y1 = y[q + s * 4 * p], y[q + s * (4 * p + 1)]
            y2, y3 = y[q + s * (4 * p + 2)], y[q + s * (4 * p + 3)]
            for j in range(low, high):
                sum_ac, off_ac = a[j] + c[j], a[j] - c[j]
                sum_bd, off_bd = b[j] + d[j], b[j] - d[j]
                turned = np.complex64(complex(-off_bd.imag, off_bd.real))
                y0[j] = sum_ac + sum_bd
                y1[j] = w1 * (off_ac + turned)
                y2[j] = w2 * (sum_ac - sum_bd)
                y3[j] = w3 * (off_ac - turned)


@compiled(fastmath=True)
def _radix2(x: np.ndarray, y: np.ndarray, s: int, low: int, high: int) -> None:
    """The last pass, where two are left."""
    for q in range(s):
        a, b, y0, y1 = x[q], x[q + s], y[q], y[q + s]
        for j in range(low, high):
            one, other = a[j], b[j]
            y0[j] = one + other
            y1[j] = one - other


@compiled
def _along_rows(x: np.ndarray, y: np.ndarray, w: np.ndarray, low: int, high: int) -> bool:
    """Transform columns low <= j < high along axis 0 between the two arrays; whether the result is in `y`."""
    n, s = x.shape[0], 1
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


@compiled
def _transposed(x: np.ndarray, y: np.ndarray) -> None:
    """y = x', by blocks that stay in the cache."""
    points = x.shape[0]
    block = 16
    for i in range(0, points, block):
        for j in range(0, points, block):
            for a in range(i, min(i + block, points)):
                for b in range(j, min(j + block, points)):
                    y[b, a] = x[a, b]


@compiled
def inverse_transform(x: np.ndarray, work: np.ndarray, w: np.ndarray, reach: int) -> None:
    """x[i, j] = sum over (k, l) of x[k, l] exp(2 pi i (i k + j l) / points), in place, without a factor.

    x, work: (points, points) complex64, a power of two; w: `twiddles(points)`. Columns further than `reach` from the
    first one, either way round, are zero.
    """
    points = x.shape[0]
    split = min(reach + 1, points)
    rest = max(points - reach, split)
    in_work = _along_rows(x, work, w, 0, split)
    _along_rows(x, work, w, rest, points)
    if in_work:
        for i in range(points):
            work[i, split:rest] = 0.0
        _transposed(work, x)
    else:
        _transposed(x, work)
        x[:] = work
    if _along_rows(x, work, w, 0, points):
        _transposed(work, x)
    else:
        _transposed(x, work)
        x[:] = work
