"""What the terms of a vehicle's data may name, and the present values of it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np

from sim.vehicles import Vehicle
from sim.vehicles.observation import ObservationLayout, layout_of
from sim.vehicles.parameter import Parameter, Value

Declared = Vehicle | type[Vehicle]
"""A vehicle or its class: what it calls its numbers."""


class Names:
    """All names that terms may use; those of observables are found out where they are asked for: that takes symbols."""

    def __init__(self, vehicle: Declared | None, more: tuple[str, ...] = ()) -> None:
        """`more`: that are known besides. Without a vehicle there are no others."""
        self._vehicle, self._more = vehicle, more
        self._declared = _declared(vehicle)

    def __contains__(self, name: object) -> bool:
        return name in self._declared or name in self._more or name in self._observables

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._declared, *self._observables, *self._more)))

    def and_also(self, *more: str) -> "Names":
        """These and more."""
        return Names(self._vehicle, (*self._more, *more))

    @cached_property
    def _observables(self) -> tuple[str, ...]:
        return () if self._vehicle is None else tuple(_layout(self._vehicle).observables)

    @cached_property
    def told(self) -> tuple[str, ...]:
        """Observables, columns by their components."""
        if self._vehicle is None:
            return ()
        sizes = {name: at.stop - at.start for name, at in _layout(self._vehicle).observables.items()}
        return tuple(
            component
            for name, size in sizes.items()
            for component in ([name] if size == 1 else [f"{name}.{k}" for k in range(size)])
        )

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Names of the vehicle's bodies."""
        return () if self._vehicle is None else tuple(_layout(self._vehicle).bodies)


def _declared(vehicle: Declared | None) -> tuple[str, ...]:
    if vehicle is None:
        return ()
    names = [r.name for r in vehicle.shape_coordinates] + [c.name for c in vehicle.controls]
    for q in vehicle.parameters:
        names += [q.name, *(f"{q.name}.{k}" for k in range(q.size) if q.size > 1)]
    return tuple(dict.fromkeys(names))


@lru_cache(maxsize=4)
def _layout(vehicle: Declared) -> ObservationLayout:
    return layout_of(vehicle() if isinstance(vehicle, type) else vehicle)


def named_values(
    vehicle: Declared | None,
    *,
    controls: Sequence[float] | np.ndarray = (),
    shape: Sequence[float] | np.ndarray = (),
    parameters: Mapping[str, Value] | None = None,
    observables: Mapping[str, float | np.ndarray] | None = None,
    finite: bool = False,
) -> dict[str, float]:
    """Name -> value; parameters that are not given have their defaults. `finite`: 0 stands for what is not."""
    values: dict[str, float] = {} if vehicle is None else dict(_defaults(vehicle.parameters))
    if finite and vehicle is not None:
        values.update({c.name: 0.0 for c in vehicle.controls})
        values.update({r.name: 0.0 for r in vehicle.shape_coordinates})
    for name, value in (parameters or {}).items():
        _put(values, name, value)
    values.update({name: float(v) for name, v in (observables or {}).items() if np.ndim(v) == 0})
    if vehicle is not None:
        # A shape coordinate before a control of the same name.
        values.update(zip((c.name for c in vehicle.controls), map(float, controls), strict=False))
        values.update(zip((r.name for r in vehicle.shape_coordinates), map(float, shape), strict=False))
    if finite:
        return {name: value if math.isfinite(value) else 0.0 for name, value in values.items()}
    return values


@lru_cache(maxsize=64)
def _defaults(parameters: tuple[Parameter, ...]) -> dict[str, float]:
    values: dict[str, float] = {}
    for q in parameters:
        _put(values, q.name, q.default)
    return values


def _put(values: dict[str, float], name: str, value: Value) -> None:
    if isinstance(value, int | float):
        values[name] = float(value)
        return
    values[name] = math.sqrt(sum(v * v for v in value))
    values.update({f"{name}.{k}": float(v) for k, v in enumerate(value)})
