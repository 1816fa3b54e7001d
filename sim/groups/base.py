"""The vocabulary that all groups share, and functions of an angle that are exact to rounding near zero and far from it.

Of even functions of a rotation angle, as functions of z = angle^2: closed forms lose digits near zero, power series far
from it, so each switches at an angle of 1 rad, where both are exact to rounding.
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import casadi as ca
import numpy as np


@lru_cache(maxsize=64)
def _turns(group: "LieGroup") -> int:
    return int(np.any(group.twist_embedding[:3], axis=1).sum())


class LieGroup(ABC):
    """A matrix Lie group whose elements are stored as flat columns.

    Sizes are class data, so that tests and integrators can loop over groups.
    """

    name: str
    """For people: whoever decides by a group asks what it is, or which one."""
    pose_dim: int
    """Length of the flat storage of an element."""
    dim: int
    """Dimension of the Lie algebra."""
    position: slice = slice(0, 0)
    """Where a flat element has its place in the world; empty: it has none."""
    columns: tuple[str, ...] = ()
    """Names of a flat element's numbers in files, with units; empty: they have none of their own."""
    velocity_columns: tuple[str, ...] = ()
    """The same of a body velocity."""
    directions: tuple[str, ...] = ()
    """The same for people, without units."""
    twist_embedding: np.ndarray
    """(6, dim): a velocity of the algebra as a body twist (angular, linear) of SE(3); momenta and wrenches likewise."""

    def __reduce__(self) -> Any:
        """In another process it is the same one again, where its module has it by name."""
        named = getattr(sys.modules[type(self).__module__], self.name, None)
        return self.name if named is self else super().__reduce__()

    @property
    def turns(self) -> int:
        """About how many axes a pose turns."""
        return _turns(self)

    @abstractmethod
    def identity(self) -> np.ndarray:
        """Flat identity, (pose_dim,)."""

    @abstractmethod
    def compose(self, g: ca.SX, k: ca.SX) -> ca.SX:
        """g k, flat."""

    @abstractmethod
    def inverse(self, g: ca.SX) -> ca.SX:
        """g^-1, flat."""

    @abstractmethod
    def exp(self, x: ca.SX) -> ca.SX:
        """Exponential map, flat."""

    @abstractmethod
    def log(self, g: ca.SX) -> ca.SX:
        """exp(log(g)) = g, rotation angle at most pi."""

    @abstractmethod
    def cay(self, x: ca.SX) -> ca.SX:
        """Cayley map (I - X/2)^-1 (I + X/2), flat."""

    @abstractmethod
    def cay_inv(self, g: ca.SX) -> ca.SX:
        """cay(cay_inv(g)) = g, rotation angle below pi."""

    @abstractmethod
    def Ad(self, g: ca.SX) -> ca.SX:
        """g exp(x) g^-1 = exp(Ad(g) x), (dim, dim)."""

    @abstractmethod
    def ad(self, x: ca.SX) -> ca.SX:
        """ad(x) y = [x, y], (dim, dim)."""

    @abstractmethod
    def dexp_inv(self, x: ca.SX) -> ca.SX:
        """Exact inverse right-trivialised tangent of exp, (dim, dim)."""

    @abstractmethod
    def dcay_inv(self, x: ca.SX) -> ca.SX:
        """Exact inverse right-trivialised tangent of cay, (dim, dim)."""

    @abstractmethod
    def dcay(self, x: ca.SX) -> ca.SX:
        """Right-trivialised tangent of cay, (dim, dim)."""

    @abstractmethod
    def left_tangent(self, g: ca.SX) -> ca.SX:
        """(pose_dim, dim): derivative of g exp(x) by x at 0."""

    def embedded(self, g: ca.SX) -> ca.SX:
        """(4, 4) pose in space, in a world frame whose z axis is up. Raises TypeError where elements are no poses."""
        raise TypeError(f"elements of {self.name} are no poses in space")

    def from_space(self, T: np.ndarray) -> np.ndarray:
        """(pose_dim,) the element whose embedding is (4, 4) `T`, but for what the group leaves out."""
        raise TypeError(f"elements of {self.name} are no poses in space")

    @abstractmethod
    def to_matrix(self, g: np.ndarray) -> np.ndarray:
        """Homogeneous matrices (..., n, n) of flat elements (..., pose_dim)."""

    @abstractmethod
    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        """Flat element (pose_dim,) of a homogeneous matrix."""

    def between(self, g: ca.SX, k: ca.SX) -> ca.SX:
        """g^-1 k, the shortest way round where the storage counts turns."""
        return self.compose(self.inverse(g), k)

    def dcay_balance(self, x: ca.SX, mu: ca.SX, given: ca.SX) -> ca.SX:
        """Zero where dcay_inv(x)' mu is what is given: some invertible combination of these rows."""
        return self.dcay_inv(x).T @ mu - given

    def tln_inv(self, x: ca.SX) -> ca.SX:
        """I - ad(x)/2: either inverse differential truncated after its linear term (TLN)."""
        return ca.SX.eye(self.dim) - self.ad(x) / 2

    def ccsk(self, x: ca.SX) -> ca.SX:
        """Canonical coordinates of the second kind, exp(x1 e1) ... exp(xn en), flat."""
        g = ca.SX(self.identity())
        for i in range(self.dim):
            axis = ca.SX.zeros(self.dim)
            axis[i] = x[i]
            g = self.compose(g, self.exp(axis))
        return g

    def dccsk_inv(self, x: ca.SX) -> ca.SX:
        """Exact inverse right-trivialised tangent of ccsk; its columns are Ad(exp(x1 e1)..exp(x_{i-1} e_{i-1})) e_i."""
        g = ca.SX(self.identity())
        columns = []
        for i in range(self.dim):
            columns.append(self.Ad(g)[:, i])
            axis = ca.SX.zeros(self.dim)
            axis[i] = x[i]
            g = self.compose(g, self.exp(axis))
        return ca.solve(ca.horzcat(*columns), ca.SX.eye(self.dim))

    def function(self, name: str) -> ca.Function:
        """One of this group's maps of a single argument as a callable on numbers, e.g. `SE3.function("exp")`."""
        return _function(self, name)


@cache
def _function(group: LieGroup, name: str) -> ca.Function:
    """Groups have no state, and there are few."""
    x = ca.SX.sym("x", group.pose_dim if name in ("inverse", "log", "cay_inv", "Ad") else group.dim)
    return ca.Function(name, [x], [getattr(group, name)(x)])


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


def _factorial_series(first: int) -> list[float]:
    return [(-1) ** k / math.factorial(2 * k + first) for k in range(10)]


def sin_over(z: ca.SX) -> ca.SX:
    """sin(a)/a with a^2 = z."""
    return _even(z, _factorial_series(1), lambda s: ca.sin(ca.sqrt(s)) / ca.sqrt(s))


def cos_of(z: ca.SX) -> ca.SX:
    """cos(a) with a^2 = z."""
    return _even(z, _factorial_series(0), lambda s: ca.cos(ca.sqrt(s)))


def one_minus_cos_over(z: ca.SX) -> ca.SX:
    """(1 - cos a)/a^2."""
    return _even(z, _factorial_series(2), lambda s: 2 * ca.sin(ca.sqrt(s) / 2) ** 2 / s)


def angle_minus_sin_over(z: ca.SX) -> ca.SX:
    """(a - sin a)/a^3."""
    return _even(z, _factorial_series(3), lambda s: (1 - ca.sin(ca.sqrt(s)) / ca.sqrt(s)) / s)


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
