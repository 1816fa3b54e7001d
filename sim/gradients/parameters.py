"""Where parameters stand in the flat vector, and what stands there."""

import numpy as np

from sim.platform.errors import InputError, one_of, quote
from sim.vehicles import Vehicle
from sim.vehicles.forms.parameters import Value


def places_of(vehicle: Vehicle, name: str) -> range:
    """Where a parameter stands in the flat vector. Raises InputError for a name that is none."""
    at = 0
    for q in vehicle.parameters:
        if q.name == name:
            return range(at, at + q.size)
        at += q.size
    allowed = one_of((q.name for q in vehicle.parameters), name)
    raise InputError(f"vehicle {vehicle.name!r}: unknown parameter {quote(name)}; allowed: {allowed}")


def shape_of(vehicle: Vehicle, name: str) -> tuple[int, ...]:
    """Of a parameter's value: () for one number."""
    value = vehicle.values.get(name)
    return () if value is None or isinstance(value, int | float) else (len(value),)


def by_name(vehicle: Vehicle, flat: np.ndarray) -> dict[str, Value]:
    """The entries of a flat vector, as values of parameters are."""
    found: dict[str, Value] = {}
    for q in vehicle.parameters:
        part = flat[list(places_of(vehicle, q.name))]
        scalar = isinstance(q.default, int | float)
        found[q.name] = float(part[0]) if scalar else tuple(part.tolist())
    return found
