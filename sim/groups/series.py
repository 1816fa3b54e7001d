"""Even functions of a rotation angle, as functions of z = angle^2, accurate to rounding for every angle.

Closed forms lose digits near zero, power series far from it, so each function switches at an angle
of 1 rad, where both are exact to rounding.
"""

import math
from collections.abc import Callable

import casadi as ca

_SWITCH = 1.0


def _even(z: ca.SX, coefficients: list[float], closed: Callable[[ca.SX], ca.SX]) -> ca.SX:
    small = z < _SWITCH
    # Each branch gets an argument it is finite at: a derivative multiplies the unused branch by zero,
    # and zero times infinity is not a number.
    z_small, z_large = ca.if_else(small, z, 0.0), ca.if_else(small, 4.0, z)
    series = ca.SX(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        series = c + z_small * series
    return ca.if_else(small, series, closed(z_large))


def _factorial_series(first: int, count: int) -> list[float]:
    return [(-1) ** k / math.factorial(2 * k + first) for k in range(count)]


def sin_over(z: ca.SX) -> ca.SX:
    """sin(a)/a with a^2 = z."""
    return _even(z, _factorial_series(1, 10), lambda s: ca.sin(ca.sqrt(s)) / ca.sqrt(s))


def cos_of(z: ca.SX) -> ca.SX:
    """cos(a) with a^2 = z."""
    return _even(z, _factorial_series(0, 10), lambda s: ca.cos(ca.sqrt(s)))


def one_minus_cos_over(z: ca.SX) -> ca.SX:
    """(1 - cos a)/a^2."""
    return _even(z, _factorial_series(2, 10), lambda s: 2 * ca.sin(ca.sqrt(s) / 2) ** 2 / s)


def angle_minus_sin_over(z: ca.SX) -> ca.SX:
    """(a - sin a)/a^3."""
    return _even(z, _factorial_series(3, 10), lambda s: (1 - ca.sin(ca.sqrt(s)) / ca.sqrt(s)) / s)


def _bernoulli_series(count: int) -> list[float]:
    """|B_2n|/(2n)! = 2 zeta(2n)/(2 pi)^2n for n = 1..count."""

    def zeta(n: int) -> float:
        tail = 40
        return (
            sum(k**-n for k in range(1, tail))
            + tail ** (1 - n) / (n - 1)
            + tail**-n / 2
            + n * tail ** (-n - 1) / 12
        )

    exact = [1 / 12, 1 / 720, 1 / 30240, 1 / 1209600]
    return exact + [2 * zeta(2 * n) / (2 * math.pi) ** (2 * n) for n in range(5, count + 1)]


def half_cot_remainder(z: ca.SX) -> ca.SX:
    """(1 - (a/2) cot(a/2))/a^2, the coefficient of ad^2 in dexp^-1 on so(3)."""
    return _even(z, _bernoulli_series(12), lambda s: (1 - ca.sqrt(s) / 2 / ca.tan(ca.sqrt(s) / 2)) / s)


def half_cot_remainder_slope(z: ca.SX) -> ca.SX:
    """Derivative of `half_cot_remainder` by z."""
    coefficients = [k * c for k, c in enumerate(_bernoulli_series(13))][1:]

    def closed(s: ca.SX) -> ca.SX:
        half = ca.sqrt(s) / 2
        cot = 1 / ca.tan(half)
        slope = (cot - half * (1 + cot**2)) / (8 * half)
        return (-slope - (1 - half * cot) / s) / s

    return _even(z, coefficients, closed)
