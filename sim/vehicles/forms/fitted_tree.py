"""Trees of joints whose equations know some of their parameters between bounds, as a plan that finds these has them.

A declared tree is made of numbers, and how these depend on its parameters is Python of whoever declares it. It is
taken as it is: arrays are made at Chebyshev's points of all these parameters together, and polynomials go through them,
of the least degrees that meet what lies between to rounding. Masses need one, lengths two or three, quotients more.
"""

import copy
from collections.abc import Mapping
from functools import lru_cache, reduce
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial.chebyshev import chebvander

from sim.multibody.symbolic import SymbolicTree
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.numbered_tree import ArrayNumbers, arrays_with
from sim.vehicles.forms.parameters import Quantities

_DEGREES = (1, 2, 3, 4, 6, 8, 12, 16)
_ROUNDING = 1e-13
"""By which a polynomial misses what lies between its points, beside the largest number of an array."""
_LOOKED_AT, _MOST = 9, 3000
"""Values between that are looked at, and declarations at most."""
_CLOSING = frozenset({"mass", "moment", "inertia", "damping", "armature", "stiffness", "rest", "gravity_w"})
"""Arrays that loops' gaps do not depend on."""
Ranges = tuple[tuple[int, float, float], ...]
"""(place in the parameters, lowest, highest)."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Polynomials of several arguments in products of Chebyshev's."""

    ranges: Ranges
    degrees: tuple[int, ...]
    numbers: ArrayNumbers
    """Places that change."""
    coefficients: np.ndarray
    """(products, places), in the order of `product` of the degrees."""

    def at(self, p: ca.SX) -> ca.SX:
        """(places,) for parameters p of the vehicle."""
        rows = []
        for (at, low, high), degree in zip(self.ranges, self.degrees, strict=True):
            s = (2 * p[at] - (low + high)) / (high - low)
            row = [ca.SX(1), s]
            for _ in range(degree - 1):
                row.append(2 * s * row[-1] - row[-2])
            rows.append(row[: degree + 1])
        powers = []
        for factors in product(*rows):
            term = ca.SX(1)
            for factor in factors:
                term *= factor
            powers.append(term)
        return ca.sparsify(ca.DM(self.coefficients.T)) @ ca.vertcat(*powers)


class FittedTree(ArticulatedVehicle):
    """What `fitted` makes of a vehicle: some of its parameters are arguments of equations and of its bodies' places."""

    fit: Fit

    def symbolic_with(self, p: ca.SX) -> tuple[SymbolicTree, Quantities]:
        numbers = self.fit.at(p)
        placed = self.fit.numbers.placed(self.tree.arrays, numbers)
        return SymbolicTree(self.tree, placed), self.symbols(p)

    def bodies(self, node: ca.SX, q: Quantities) -> dict[str, ca.SX]:
        p = ca.vertcat(*(getattr(q, parameter.name) for parameter in self.parameters))
        offsets = self.tree.offsets.astype(object)
        numbers = self.fit.at(p)
        for k, (array, at) in enumerate(self.fit.numbers.places):
            if array == "offsets":
                offsets.flat[at] = numbers[k]
        return self.bodies_of(self.symbolic_with(p)[0], offsets, node)


@lru_cache(maxsize=32)
def fitted(vehicle: ArticulatedVehicle, ranges: Ranges) -> ArticulatedVehicle:
    """The vehicle with parameters at these places between these bounds, with values in the middle of them.

    Raises InputError where its mechanics change in another way than by numbers, not smoothly, or where loops close.
    """
    middle = vehicle.parameter_vector.copy()
    for at, low, high in ranges:
        middle[at] = (low + high) / 2
    base = _numbers(vehicle, middle)
    degrees = tuple(_degree(vehicle, middle, base, *one) for one in ranges)
    while True:
        values, coefficients = _met(vehicle, middle, base, ranges, degrees)
        if coefficients is not None:
            break
        # What is smooth in each by itself may be a quotient of all.
        degrees = tuple(next((more for more in _DEGREES if more > n), n + 4) for n in degrees)
        if np.prod(np.array(degrees) + 1) > _MOST:
            raise InputError(_no_smooth_way(vehicle, ranges))
    size = np.abs(values).max(axis=0, initial=0.0)
    changed = np.flatnonzero(np.ptp(values, axis=0) > _ROUNDING * size)
    coefficients[np.abs(coefficients) < _ROUNDING * size] = 0.0
    places = [(name, i) for name, value in base.items() for i in range(value.size)]
    found = tuple(places[k] for k in changed)
    if isinstance(vehicle, ClosedVehicle) and not {name for name, _ in found} <= _CLOSING:
        named = ", ".join(_name(vehicle, at) for at, _, _ in ranges)
        raise InputError(
            f"{named} changes where loops of {vehicle.name} close, and its start is closed with one value of it; "
            "allowed: masses and frictions"
        )
    made = copy.copy(vehicle)
    for name in ("symbolic", "tree", "links"):
        vars(made).pop(name, None)
    vars(made)["tree"] = vehicle.tree_with(middle)
    made._numbers = middle
    made.__class__ = _fitted_kind(type(vehicle))
    assert isinstance(made, FittedTree)
    made.fit = Fit(ranges, degrees, ArrayNumbers(found, ()), coefficients[:, changed])
    return made


def _met(
    vehicle: ArticulatedVehicle,
    middle: np.ndarray,
    base: Mapping[str, np.ndarray],
    ranges: Ranges,
    degrees: tuple[int, ...],
) -> tuple[np.ndarray, np.ndarray | None]:
    """(values at the points (points, numbers), coefficients likewise, None where they miss what lies between)."""
    s = [_chebyshev(n) for n in degrees]
    points = [_between(low, high, x) for (_, low, high), x in zip(ranges, s, strict=True)]
    values = np.stack([_at(vehicle, middle, base, ranges, x) for x in product(*points)])
    products = reduce(np.kron, (chebvander(x, n) for x, n in zip(s, degrees, strict=True)))
    coefficients, rng = np.linalg.solve(products, values), np.random.default_rng(0)
    for _ in range(_LOOKED_AT):
        x = rng.uniform(-1.0, 1.0, len(ranges))
        looked = tuple(_between(low, high, at) for (_, low, high), at in zip(ranges, x, strict=True))
        terms = reduce(np.kron, (chebvander(at, n) for at, n in zip(x, degrees, strict=True)))
        off = np.abs(terms @ coefficients - _at(vehicle, middle, base, ranges, looked))
        if (off > _ROUNDING * np.abs(values).max(axis=0)).any():
            return values, None
    return values, coefficients


def _no_smooth_way(vehicle: ArticulatedVehicle, ranges: Ranges) -> str:
    each = ", ".join(f"{_name(vehicle, at)} between {low:g} and {high:g}" for at, low, high in ranges)
    return f"{each}: {vehicle.name} changes with it in no smooth way; allowed: a narrower range"


@lru_cache(maxsize=64)
def _fitted_kind(kind: type[ArticulatedVehicle]) -> type[FittedTree]:
    return type(kind.__name__, (FittedTree, kind), {})


def _chebyshev(degree: int) -> np.ndarray:
    return np.cos(np.pi * np.arange(degree + 1) / degree)


def _between(low: float, high: float, s: Any) -> Any:
    return (low + high) / 2 + (high - low) / 2 * s


def _numbers(vehicle: ArticulatedVehicle, p: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays of a tree, of its loops, and where bodies are on their carriers, by name."""
    return {**arrays_with(vehicle, p), "offsets": vehicle.tree_with(p).offsets}


def _at(
    vehicle: ArticulatedVehicle,
    middle: np.ndarray,
    base: Mapping[str, np.ndarray],
    ranges: Ranges,
    values: tuple[float, ...],
) -> np.ndarray:
    """All numbers in a row, with other parameters. InputError where they are others than numbers."""
    p = middle.copy()
    p[[at for at, _, _ in ranges]] = values
    found, tree = _numbers(vehicle, p), vehicle.tree_with(p)
    same = all(value.shape == base[name].shape for name, value in found.items())
    whole = [name for name, value in base.items() if value.dtype.kind != "f"]
    same = same and all(np.array_equal(found[name], base[name]) for name in whole)
    if not same or not np.array_equal(tree.arrays.limits, vehicle.tree_with(middle).arrays.limits):
        named = ", ".join(_name(vehicle, at) for at, _, _ in ranges)
        raise InputError(
            f"{named} changes how {vehicle.name} is made, or the limits of its joints; allowed: parameters of its "
            "masses, lengths, frictions and springs"
        )
    return np.concatenate([np.asarray(value, float).ravel() for value in found.values()])


def _degree(
    vehicle: ArticulatedVehicle,
    middle: np.ndarray,
    base: Mapping[str, np.ndarray],
    at: int,
    low: float,
    high: float,
) -> int:
    """The least by which one parameter is met. InputError where there is none."""
    one: Ranges = ((at, low, high),)
    looked = np.linspace(-1.0, 1.0, _LOOKED_AT)
    known = np.stack([_at(vehicle, middle, base, one, (x,)) for x in _between(low, high, looked).tolist()])
    for degree in _DEGREES:
        s = _chebyshev(degree)
        values = np.stack([_at(vehicle, middle, base, one, (x,)) for x in _between(low, high, s).tolist()])
        met = chebvander(looked, degree) @ np.linalg.solve(chebvander(s, degree), values)
        if (np.abs(met - known) <= _ROUNDING * np.abs(known).max(axis=0)).all():
            return degree
    raise InputError(_no_smooth_way(vehicle, one))


def _name(vehicle: ArticulatedVehicle, place: int) -> str:
    """Of a parameter's number."""
    at = 0
    for q in vehicle.parameters:
        if place < at + q.size:
            return q.name if isinstance(q.default, int | float) else f"{q.name}.{place - at}"
        at += q.size
    raise IndexError(place)
