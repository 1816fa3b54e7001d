"""Directions along which inputs, start and parameters change together."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.gradients.parameters import places_of, shape_of
from sim.platform.errors import InputError, quote
from sim.platform.validation import numbers
from sim.vehicles import Vehicle


@dataclass(frozen=True, eq=False)
class Directions:
    """k of them."""

    controls: np.ndarray
    """(k, N, n_controls)."""
    initial: np.ndarray
    """(k, dim)."""
    parameters: np.ndarray
    """(k, parameter count), flat."""

    def __len__(self) -> int:
        return len(self.initial)

    def part(self, begin: int, count: int) -> "Directions":
        """At most `count` of them, from one on."""
        at = slice(begin, begin + count)
        return Directions(self.controls[at], self.initial[at], self.parameters[at])

    @staticmethod
    def of_start(vehicle: Vehicle, steps: int, names: tuple[str, ...]) -> "Directions":
        """One by one: every displacement of the start, then every number of these parameters.

        Raises InputError for a name that is none.
        """
        dim, places = vehicle.space.dim, [c for name in names for c in places_of(vehicle, name)]
        count = dim + len(places)
        initial, parameters = np.zeros((count, dim)), np.zeros((count, vehicle.parameter_count))
        initial[:dim] = np.eye(dim)
        parameters[np.arange(dim, count), places] = 1.0
        return Directions(np.zeros((count, steps, len(vehicle.controls))), initial, parameters)


def given_directions(
    vehicle: Vehicle,
    steps: int,
    controls: np.ndarray | None,
    initial: np.ndarray | None,
    parameters: Mapping[str, object],
) -> tuple[Directions, bool]:
    """Those of `Rollout.forward`, and whether one was given alone. Raises InputError for shapes that do not fit."""
    if not isinstance(parameters, Mapping):
        raise InputError(
            f"parameters = {quote(parameters)} are refused; allowed: a dict of names and numbers"
        )
    shapes = {"controls": (steps, len(vehicle.controls)), "initial": (vehicle.space.dim,)}
    ends = {
        name: numbers(f"directions of {name}", v)
        for name, v in (("controls", controls), ("initial", initial))
        if v is not None
    }
    for name in parameters:
        places_of(vehicle, name)
    values = {name: numbers(f"directions of {name}", v) for name, v in parameters.items()}
    given = {name: _rows(value, shapes[name], name) for name, value in ends.items()}
    named = {name: _rows(value, shape_of(vehicle, name), name) for name, value in values.items()}
    counts = {len(rows) for rows in (*given.values(), *named.values())}
    if len(counts) > 1:
        raise InputError(
            f"directions of {', '.join(map(str, sorted(counts)))} rows; allowed: as many of each"
        )
    count = counts.pop() if counts else 1
    single = all(value.shape == shapes[name] for name, value in ends.items()) and all(
        value.shape == shape_of(vehicle, name) for name, value in values.items()
    )
    flat = np.zeros((count, vehicle.parameter_count))
    for name, rows in named.items():
        flat[:, list(places_of(vehicle, name))] = rows.reshape(count, -1)
    none = {name: np.zeros((count, *shape)) for name, shape in shapes.items()}
    found = Directions(given.get("controls", none["controls"]), given.get("initial", none["initial"]), flat)
    return found, single


def _rows(value: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """(k, *shape). Raises InputError."""
    if value.shape == shape:
        return np.ascontiguousarray(value[None])
    if value.ndim == len(shape) + 1 and value.shape[1:] == shape and len(value):
        return np.ascontiguousarray(value)
    raise InputError(f"directions of {name} are {value.shape}; allowed: {shape} or (k, *{shape})")
