"""Trees of joints whose equations have parameters: numbers of a tree's arrays, as its own parameters change them.

A declared tree is made of numbers, and how these depend on its parameters is Python of whoever declares it. It is taken
as it is: the arrays are made anew at other values. For derivatives, at values around the present ones: differences of
sixth order tell the slopes, of polynomials of that degree (masses, lengths, inertias) to rounding, and equations have
the numbers themselves as parameters, in which their derivatives are exact.
"""

import copy
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from sim.multibody.symbolic import SymbolicTree
from sim.platform.values import dataclass
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.parameters import Parameter, Quantities

_SHARE = 0.01
"""Of a parameter's value, between two of the values that slopes are taken from."""
_ROUNDING = 1e-11
"""Of an entry and its slope, below which it does not change."""
_POINTS = np.arange(7.0)
_LEFT_OUT = ("limits", "limit_stiffness", "limit_damping")
"""What equations of a step do not have."""


@dataclass(frozen=True, eq=False)
class ArrayNumbers:
    """Numbers of a tree's arrays and of its loops' that are parameters of its equations."""

    places: tuple[tuple[str, int], ...]
    """(array, place in it, flat)."""
    others: tuple[bytes, ...]
    """Arrays with zeros there: what else the equations consist of."""

    def placed(self, arrays: Any, p: ca.SX) -> Any:
        """A named tuple of arrays, with entries of p at the places that are in them."""
        found = {}
        for name in arrays._fields:
            own = [(k, at) for k, (array, at) in enumerate(self.places) if array == name]
            if own:
                entries = getattr(arrays, name).astype(object)
                for k, at in own:
                    entries.flat[at] = p[k]
                found[name] = entries
        return arrays._replace(**found)


class NumberedTree(ArticulatedVehicle):
    """What `numbered` makes of a vehicle: numbers of its arrays are parameters, before its own."""

    numbers: ArrayNumbers

    def symbolic_with(self, p: ca.SX) -> tuple[SymbolicTree, Quantities]:
        place, loops = self.numbers.placed, None
        if isinstance(self, ClosedVehicle):
            loops = place(self.closure.rigid, p)
        return SymbolicTree(self.tree, place(self.tree.arrays, p), loops), self.symbols(p)


@lru_cache(maxsize=32)
def numbered(vehicle: ArticulatedVehicle) -> tuple[NumberedTree, np.ndarray]:
    """The vehicle with numbers of its arrays as parameters; and (these parameters, its own) how they change with its
    own."""
    p, made = vehicle.parameter_vector, copy.copy(vehicle)
    values, slopes = arrays_with(vehicle, p), _slopes(vehicle, p)
    places = tuple(
        (name, int(at)) for name, slope in slopes.items() for at in np.flatnonzero(slope.any(axis=1))
    )
    others = []
    for name, value in values.items():
        rest = value.copy()
        rest.flat[[at for array, at in places if array == name]] = 0
        others.append(rest.tobytes())
    vars(made)["tree"] = vehicle.tree
    vars(made).pop("symbolic", None)
    if isinstance(vehicle, ClosedVehicle):
        vars(made).update(closure=vehicle.closure, independent_gaps=vehicle.independent_gaps)
        others.append(vehicle.independent_gaps.tobytes())
    made.__class__ = _numbered_kind(type(vehicle))
    assert isinstance(made, NumberedTree)
    made.numbers = ArrayNumbers(places, tuple(others))
    first = Parameter("array_numbers", "", (0.0,) * len(places), -np.inf, np.inf, "Of arrays.")
    made.parameters, made.values = (first, *vehicle.parameters), {**vehicle.values, first.name: first.default}
    made._numbers = np.r_[[values[name].flat[at] for name, at in places], p]
    return made, np.vstack([*(slopes[name][at] for name, at in places), np.eye(len(p))])


def numbers_of_rows(
    vehicle: ArticulatedVehicle, made: NumberedTree, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of parameters (n, parameter count): (n, count) those of what `numbered` made of the vehicle, and (n,) whether its
    equations hold with them."""
    found = np.empty((len(rows), made.parameter_count))
    fits = np.empty(len(rows), bool)
    places: dict[str, list[int]] = {}
    for name, at in made.numbers.places:
        places.setdefault(name, []).append(at)
    base, limits = arrays_with(vehicle, vehicle.parameter_vector), vehicle.tree.arrays.limits
    for k, p in enumerate(rows):
        arrays = arrays_with(vehicle, p)
        found[k] = np.r_[[arrays[name].flat[at] for name, at in made.numbers.places], p]
        fits[k] = np.array_equal(vehicle.tree_with(p).arrays.limits, limits)
        for name, value in arrays.items():
            same = value.shape == base[name].shape
            fits[k] &= same and not np.delete(value.ravel() != base[name].ravel(), places.get(name, [])).any()
    return found, fits


@lru_cache(maxsize=64)
def _numbered_kind(kind: type[ArticulatedVehicle]) -> type[NumberedTree]:
    return type(kind.__name__, (NumberedTree, kind), {})


def arrays_with(vehicle: ArticulatedVehicle, p: np.ndarray) -> dict[str, np.ndarray]:
    """By name, with parameters p."""
    tree = vehicle.tree_with(p)
    found: dict[str, np.ndarray] = dict(tree.arrays._asdict())
    if isinstance(vehicle, ClosedVehicle):
        found |= type(vehicle.closure)(tree, vehicle.loops_with(p)).rigid._asdict()
    return {name: value for name, value in found.items() if name not in _LEFT_OUT}


def _slopes(vehicle: ArticulatedVehicle, p: np.ndarray) -> dict[str, np.ndarray]:
    """(entries, parameters) of each array of floats."""
    at, columns = 0, list[dict[str, np.ndarray]]()
    for q in vehicle.parameters:
        for k in range(at, at + q.size):
            columns.append({} if q.structural else _slope(vehicle, p, k, q.low, q.high))
        at += q.size
    plain = {name: value for name, value in arrays_with(vehicle, p).items() if value.dtype.kind == "f"}
    nothing = {name: np.zeros(value.size) for name, value in plain.items()}
    return {
        name: np.column_stack([column.get(name, nothing[name]) for column in columns])
        if columns
        else np.zeros((value.size, 0))
        for name, value in plain.items()
    }


def _slope(
    vehicle: ArticulatedVehicle, p: np.ndarray, k: int, low: float, high: float
) -> dict[str, np.ndarray]:
    """Of all arrays by one parameter, from values to both sides as far as its bounds allow."""
    step = min(_SHARE * max(abs(p[k]), _SHARE), (high - low) / _POINTS[-1])
    if not step > 0.0:
        return {}
    begin = float(np.clip(p[k] - 3.0 * step, low, high - 6.0 * step))
    begin = p[k] - round((p[k] - begin) / step) * step
    around = begin + step * _POINTS
    # Weights of a polynomial's slope at p[k] through the values.
    powers = np.vander((around - p[k]) / step, increasing=True).T
    weights = np.linalg.solve(powers, np.eye(len(around))[1]) / step
    weights[np.abs(weights) < 1e-9 / step] = 0.0
    now, totals = arrays_with(vehicle, p), dict[str, np.ndarray]()
    sizes: dict[str, np.ndarray] = {}
    for weight, value in zip(weights, around, strict=True):
        if not weight:
            continue
        changed = p.copy()
        changed[k] = value
        for name, array in arrays_with(vehicle, changed).items():
            if array.dtype.kind == "f" and array.shape == now[name].shape:
                flat = array.ravel()
                totals[name] = totals.get(name, 0.0) + weight * flat
                sizes[name] = sizes.get(name, 0.0) + np.abs(weight * flat)
    return {
        name: np.where(np.abs(total) > _ROUNDING * sizes[name], total, 0.0) for name, total in totals.items()
    }
