"""Three-vectors, 3x3 matrices and wrenches as tuples of floats, for compiled recursions over bodies.

Tuples live in registers: a recursion written with these functions costs what one written out scalar by scalar does, and
allocates nothing. Matrices are nine numbers row by row; symmetric ones six: xx, xy, xz, yy, yz, zz. A twist is
(omega, v), a wrench (torque, force), each as two vectors.
"""

import math
from typing import Any

from sim.native.function import native

OPTIONS: dict[str, Any] = {
    "fastmath": ("arcp", "contract", "nsz"),
    "forceinline": True,
    "scalar": True,
}
"""Divisions by zero become infinities that the callers look for. Products and sums may fuse; NaN stays NaN. Nothing
here allocates. All of a step is one function in the end: handing a tree's arrays from one to the next costs a quarter
of ten links' step."""

jit = entry = native(**OPTIONS)
"""Of functions that only others of this package call, and of those that Python calls."""
apart = entry_apart = native(**{**OPTIONS, "forceinline": False})
"""The same of those that are large and called seldom: inlined where they are called, they take a minute to compile."""
entry_loops = native(**{**OPTIONS, "scalar": False})
"""Of functions that Python calls and whose own loops over all coordinates take a good part of their time: LLVM may make
vectors of these."""
aside = native(**{**OPTIONS, "forceinline": False, "noinline": True})
"""Of large functions that are never inlined, not even where there is one caller alone: compiling them within a step
takes longer than calling them."""


@jit
def row3(a, i, j):
    """Three numbers of row i of an array, from column j."""
    return (a[i, j], a[i, j + 1], a[i, j + 2])


@jit
def row6(a, i, j):
    return (a[i, j], a[i, j + 1], a[i, j + 2], a[i, j + 3], a[i, j + 4], a[i, j + 5])


@jit
def row9(a, i, j):
    return (
        a[i, j],
        a[i, j + 1],
        a[i, j + 2],
        a[i, j + 3],
        a[i, j + 4],
        a[i, j + 5],
        a[i, j + 6],
        a[i, j + 7],
        a[i, j + 8],
    )


@jit
def put3(a, i, j, x):
    a[i, j] = x[0]
    a[i, j + 1] = x[1]
    a[i, j + 2] = x[2]


@jit
def put_pair(a, i, x, y):
    """A twist, a wrench or another pair of vectors into the first six numbers of row i."""
    put3(a, i, 0, x)
    put3(a, i, 3, y)


@jit
def clear(a):
    """Zeros in a row of numbers."""
    for k in range(a.shape[0]):
        a[k] = 0.0


@jit
def clear_pairs(a):
    """Zeros in the first six numbers of every row."""
    for i in range(a.shape[0]):
        for k in range(6):
            a[i, k] = 0.0


@jit
def copy(source, to):
    """One row of numbers into another."""
    for k in range(to.shape[0]):
        to[k] = source[k]


@jit
def add(x, y):
    return (x[0] + y[0], x[1] + y[1], x[2] + y[2])


@jit
def sub(x, y):
    return (x[0] - y[0], x[1] - y[1], x[2] - y[2])


@jit
def times(k, x):
    return (k * x[0], k * x[1], k * x[2])


@jit
def dot(x, y):
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@jit
def length_of(x):
    """Its size, never zero."""
    return math.sqrt(dot(x, x) + 1e-30)


@jit
def larger(a, b):
    return max(a, b)


@jit
def cross(x, y):
    return (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])


@jit
def rotate(R, x):
    """R x."""
    return (
        R[0] * x[0] + R[1] * x[1] + R[2] * x[2],
        R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
        R[6] * x[0] + R[7] * x[1] + R[8] * x[2],
    )


@jit
def unrotate(R, x):
    """R' x."""
    return (
        R[0] * x[0] + R[3] * x[1] + R[6] * x[2],
        R[1] * x[0] + R[4] * x[1] + R[7] * x[2],
        R[2] * x[0] + R[5] * x[1] + R[8] * x[2],
    )


@jit
def sym(S, x):
    """S x of a symmetric matrix."""
    return (
        S[0] * x[0] + S[1] * x[1] + S[2] * x[2],
        S[1] * x[0] + S[3] * x[1] + S[4] * x[2],
        S[2] * x[0] + S[4] * x[1] + S[5] * x[2],
    )


@jit
def product(a, b):
    """a b of two matrices."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@jit
def product_transposed(a, b):
    """a b' of two matrices."""
    return (
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
        a[0] * b[3] + a[1] * b[4] + a[2] * b[5],
        a[0] * b[6] + a[1] * b[7] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[1] + a[5] * b[2],
        a[3] * b[3] + a[4] * b[4] + a[5] * b[5],
        a[3] * b[6] + a[4] * b[7] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[1] + a[8] * b[2],
        a[6] * b[3] + a[7] * b[4] + a[8] * b[5],
        a[6] * b[6] + a[7] * b[7] + a[8] * b[8],
    )


@jit
def full(S):
    """The nine entries of a symmetric matrix."""
    return (S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5])


@jit
def turned_sym(R, S):
    """R S R' of a symmetric S, as six numbers."""
    k = product(R, full(S))
    return (
        k[0] * R[0] + k[1] * R[1] + k[2] * R[2],
        k[0] * R[3] + k[1] * R[4] + k[2] * R[5],
        k[0] * R[6] + k[1] * R[7] + k[2] * R[8],
        k[3] * R[3] + k[4] * R[4] + k[5] * R[5],
        k[3] * R[6] + k[4] * R[7] + k[5] * R[8],
        k[6] * R[6] + k[7] * R[7] + k[8] * R[8],
    )


@jit
def cross_columns(p, b):
    """[p]x b of a matrix b."""
    return (
        p[1] * b[6] - p[2] * b[3],
        p[1] * b[7] - p[2] * b[4],
        p[1] * b[8] - p[2] * b[5],
        p[2] * b[0] - p[0] * b[6],
        p[2] * b[1] - p[0] * b[7],
        p[2] * b[2] - p[0] * b[8],
        p[0] * b[3] - p[1] * b[0],
        p[0] * b[4] - p[1] * b[1],
        p[0] * b[5] - p[1] * b[2],
    )


@jit
def sum9(a, b):
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
    )


@jit
def inverse_sym(S):
    """Inverse of a symmetric matrix, as six numbers; not finite where it is singular."""
    a, b, c, d, e, f = S
    c00, c01, c02 = d * f - e * e, c * e - b * f, b * e - c * d
    k = 1.0 / (a * c00 + b * c01 + c * c02)
    return (k * c00, k * c01, k * c02, k * (a * f - c * c), k * (b * c - a * e), k * (a * d - b * b))


@jit
def row_of(d, b):
    return (d[b], d[b + 1], d[b + 2])


_WHOLE = 1.5 * 2.0**52
"""Added and taken off, it leaves the nearest whole number."""


@jit
def tangent(x):
    """tan(x); of small angles, as of half a joint's increment in a step, by its series: a third of the library's time.

    The first term that is left out is below 4e-17 of the whole.
    """
    if abs(x) > 0.15:
        return math.tan(x)
    y = x * x
    y2 = y * y
    low = 1.0 / 3.0 + y * (2.0 / 15.0)
    middle = 17.0 / 315.0 + y * (62.0 / 2835.0)
    high = 1382.0 / 155925.0 + y * (21844.0 / 6081075.0)
    return x + x * y * (low + y2 * (middle + y2 * (high + y2 * (929569.0 / 638512875.0))))


@jit
def cos_sin(x):
    """(cos x, sin x) by their series within a quarter turn, of eight angles as well as of one: without branches.

    The first terms that are left out are below 2e-18; half turns are taken off in two parts (Cody and Waite).
    """
    k = (x * (1.0 / math.pi) + _WHOLE) - _WHOLE
    half = (k * 0.5 + _WHOLE) - _WHOLE
    odd = k - 2.0 * half
    sign = 1.0 - 2.0 * odd * odd
    x = (x - k * 3.14159265346825122833) - k * 1.21542010130123844986e-10
    y = x * x
    s = y * (1.0 / 51090942171709440000.0) - 1.0 / 121645100408832000.0
    s = y * s + 1.0 / 355687428096000.0
    s = y * s - 1.0 / 1307674368000.0
    s = y * s + 1.0 / 6227020800.0
    s = y * s - 1.0 / 39916800.0
    s = y * s + 1.0 / 362880.0
    s = y * s - 1.0 / 5040.0
    s = y * s + 1.0 / 120.0
    s = y * s - 1.0 / 6.0
    c = y * (-1.0 / 1124000727777607680000.0) + 1.0 / 2432902008176640000.0
    c = y * c - 1.0 / 6402373705728000.0
    c = y * c + 1.0 / 20922789888000.0
    c = y * c - 1.0 / 87178291200.0
    c = y * c + 1.0 / 479001600.0
    c = y * c - 1.0 / 3628800.0
    c = y * c + 1.0 / 40320.0
    c = y * c - 1.0 / 720.0
    c = y * c + 1.0 / 24.0
    c = y * c - 0.5
    return sign * (1.0 + y * c), sign * (x + x * y * s)


@jit
def rodrigues_compose(a, b):
    """Rodrigues vector (axis times tan of half the angle) of R(a) R(b)."""
    k = 1.0 / (1.0 - dot(a, b))
    c = cross(a, b)
    return (k * (a[0] + b[0] + c[0]), k * (a[1] + b[1] + c[1]), k * (a[2] + b[2] + c[2]))


@jit
def rodrigues_turn(u, x):
    """R(u) x - x."""
    return quaternion_turn(1.0, u, x)


@jit
def quaternion_turn(w, u, x):
    """R x - x by the quaternion (w, u) of any length."""
    k = 2.0 / (w * w + dot(u, u))
    c = cross(u, x)
    return times(k, add(times(w, c), cross(u, c)))


@jit
def quaternion_step(w, x, y, z, t):
    """Unit quaternion of R(w, x, y, z) R(t), t a Rodrigues vector."""
    a, b, c = t
    qw, qx = w - x * a - y * b - z * c, x + w * a + y * c - z * b
    qy, qz = y + w * b + z * a - x * c, z + w * c + x * b - y * a
    k = 1.0 / (qw * qw + qx * qx + qy * qy + qz * qz) ** 0.5
    return (qw * k, qx * k, qy * k, qz * k)


@jit
def quaternion_matrix(w, x, y, z):
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )
