"""Rotations as Rodrigues vectors, axis times tan of half the angle, and as quaternions: for compiled recursions."""

import math

from sim.multibody.spatial import add, cross, dot, jit, times

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
