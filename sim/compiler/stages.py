"""What the stages of a method do, recorded while the method's own step is carried out: calls and sums on arrays.

Methods for what a group moves are arithmetic on a flow. Where the flow is this one, each of its maps becomes a call of
a generated function, each sum of stages a loop, and every state a stretch of one array: nothing is written out a
second time for the copies of a thing or for the stages of a method.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from sim.integrators.flow import Flow


@dataclass(frozen=True)
class Scaled:
    """factor * h^power, the step as a number of a combination."""

    factor: float = 1.0

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Combination):
            return Combination(
                other.size, {(at, power + 1): self.factor * c for (at, power), c in other.terms.items()}
            )
        return Scaled(self.factor * other)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> "Scaled":
        return Scaled(self.factor / other)


@dataclass(frozen=True)
class Combination:
    """A sum of stretches of the array: (start, power of h) -> coefficient."""

    size: int
    terms: Mapping[tuple[int, int], float] = field(default_factory=dict)

    def __add__(self, other: "Combination") -> "Combination":
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            terms[key] = terms.get(key, 0.0) + coefficient
        return Combination(self.size, terms)

    def __mul__(self, factor: float) -> "Combination":
        return Combination(self.size, {key: factor * c for key, c in self.terms.items()})

    __rmul__ = __mul__

    def __neg__(self) -> "Combination":
        return -1.0 * self

    def __sub__(self, other: "Combination") -> "Combination":
        return self + -other

    def __truediv__(self, divisor: float) -> "Combination":
        return (1.0 / divisor) * self

    @property
    def start(self) -> int | None:
        """Where it stands as it is; None: it is a sum yet to be made."""
        ((at, power), coefficient), *more = self.terms.items()
        return at if not more and power == 0 and coefficient == 1.0 else None


@dataclass(frozen=True)
class Call:
    """A map of what stands at places of the array; the last one is the result's."""

    name: str
    places: tuple[int, ...]
    row: int | None = None
    """Where its row of controls begins, of the rate."""


@dataclass(frozen=True)
class Sum:
    """A combination, made at a place of the array."""

    out: int
    value: Combination


class StagedFlow(Flow):
    """Records what a step does."""

    def __init__(self, points: int, algebra: int, controls: int, samples: tuple[float, ...]) -> None:
        """Sizes of a point, of the algebra, of a row of controls; moments of the rows, none where one is held."""
        self.dim, self.steps = algebra, list[Call | Sum]()
        self.maps: set[str] = set()
        """Names of the generated functions that are called."""
        self._points, self._controls, self._samples = points, controls, samples
        self._made: dict[tuple[object, ...], Combination] = {}
        self.used = 0
        self.y: Any = self.new(points)

    node = start = free_velocity = ca.SX(0, 1)

    def new(self, size: int) -> Combination:
        """A stretch of its own."""
        at, self.used = self.used, self.used + size
        return Combination(size, {(at, 0): 1.0})

    def place(self, value: Combination) -> int:
        """Where it stands, made where it is a sum."""
        if value.start is not None:
            return value.start
        key = ("sum", *sorted(value.terms.items()))
        return self._once(key, value.size, lambda out: Sum(out, value))

    def _once(self, key: tuple[object, ...], size: int, step: Callable[[int], Call | Sum]) -> int:
        """What two products share is made once."""
        if key not in self._made:
            self._made[key] = made = self.new(size)
            assert made.start is not None
            self.steps.append(step(made.start))
        start = self._made[key].start
        assert start is not None
        return start

    def _called(self, name: str, size: int, *values: Combination, row: int | None = None) -> Combination:
        places = tuple(self.place(value) for value in values)
        self.maps.add(name)
        at = self._once((name, *places, row), size, lambda out: Call(name, (*places, out), row))
        return Combination(size, {(at, 0): 1.0})

    def rate(self, y: Any, moment: float) -> Any:
        rows = self._samples
        k = min(range(len(rows)), key=lambda i: abs(rows[i] - moment)) if rows else 0
        return self._called("rate", self.dim, y, row=k * self._controls)

    def moved(self, y: Any, x: Any) -> Any:
        return self._called("moved", self._points, y, x)

    def tangent(self, y: Any, x: Any) -> Any:
        return self._called("tangent", self._points, y, x)

    def dexp_inv(self, sigma: Any, x: Any) -> Any:
        return self._called("dexp_inv", self.dim, sigma, x)

    def rolled(self, y: Any, x: Any) -> Any:
        return self._called("rolled", self._points, y, x)

    def dcay_inv(self, sigma: Any, x: Any) -> Any:
        return self._called("dcay_inv", self.dim, sigma, x)

    def bracket(self, x: Any, z: Any) -> Any:
        return self._called("bracket", self.dim, x, z)

    def apart(self, lower: Any, end: Any) -> Any:
        return self._called("apart", self.dim, lower, end)

    def estimate(self, end: Any, x: Any) -> Any:
        """In the algebra itself (mechanics survey, section 4.1)."""
        return x
