"""Three-vectors, 3x3 matrices and wrenches as tuples of floats, for compiled recursions over bodies.

Tuples live in registers: a recursion written with these functions costs what one written out scalar by scalar does, and
allocates nothing. Matrices are nine numbers row by row; symmetric ones six: xx, xy, xz, yy, yz, zz. A twist is
(omega, v), a wrench (torque, force), each as two vectors.
"""

from typing import Any

from sim.compiled import compiled, part

OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "arcp"},
    "_nrt": False,
    "forceinline": True,
}
"""Divisions by zero become infinities that the callers look for. Products and sums may fuse; NaN stays NaN. Nothing
here allocates: without numba's reference counts a step of ten links costs a third. All of a step is one function in
the end: handing a tree's arrays from one to the next costs a quarter of ten links' step."""

jit = part(**OPTIONS)
"""Of functions that only others of this package call."""
entry = compiled(**OPTIONS)
"""Of those that Python calls: kept on disk with all that they use."""
_CALLED: dict[str, Any] = {**OPTIONS, "forceinline": False}
apart, entry_apart = part(**_CALLED), compiled(**_CALLED)
"""The same of those that are large and called seldom: inlined where they are called, they take a minute to compile."""


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
