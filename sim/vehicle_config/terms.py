"""A number that a vehicle's data may tie to the vehicle: `0.3`, `"phi"`, `"-phi"`, `{ of = "wheelbase", times = 0.5 }`.

The value is plus + times * curve(scaled * product of `of` / product of `over`), kept within `limit`. Names are those of
the vehicle's parameters, controls, shape coordinates and observables; of a vector `inertia.0` is a component, `inertia`
its length. With `spin_radps` the product is multiplied by the angle that something turning at that rate has come to.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np

from sim.platform.errors import one_of, quote
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicles import Vehicle
from sim.vehicles.forms.observation import ObservationLayout, layout_of
from sim.vehicles.forms.parameters import Parameter, Value

CURVES: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "atan": math.atan,
    "sign": lambda x: math.copysign(1.0, x) if abs(x) > 0.05 else 0.0,
    "share": lambda x: x / (1.0 + x),
}
"""`share` rises from 0 to 1 and is a half at 1; `sign` is 0 up to 0.05."""
_MOST = 1e9


class Known(Protocol):
    """The names that may stand in a term."""

    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class Term:
    """See the module."""

    of: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    times: float = 1.0
    plus: float = 0.0
    scaled: float = 1.0
    curve: str = ""
    limit: tuple[float, float] = (-math.inf, math.inf)
    spin_radps: float | None = None

    def value(self, values: Mapping[str, float], time_s: float | None = None) -> float:
        """With these named values; nan where one is missing or divides by zero. `time_s`: None while nothing turns."""
        x = self.scaled
        for name in self.of:
            x *= values.get(name, math.nan)
        for name in self.over:
            below = values.get(name, 0.0)
            x = x / below if below else math.nan
        if self.curve:
            x = CURVES[self.curve](x)
        if self.spin_radps is not None:
            x *= 0.0 if time_s is None else (self.spin_radps * time_s) % math.tau
        return min(max(self.plus + self.times * x, self.limit[0]), self.limit[1])


def constant(number: float) -> Term:
    """The same whatever happens."""
    return Term(times=0.0, plus=number)


def read_term(table: TomlTable, key: str, known: Known, default: Term | None = None) -> Term:
    """The term under a key. Raises InputError for anything else, and for names that are not `known`."""
    if not table.has(key):
        if default is None:
            raise table.error(key, "is missing; allowed: a number, a name, or a table with `of`")
        return default
    return term_of(table, key, table.raw(key), known)


def read_terms(
    table: TomlTable, key: str, known: Known, count: int, default: tuple[Term, ...] | None = None
) -> tuple[Term, ...]:
    """A list of `count` terms."""
    if not table.has(key) and default is not None:
        return default
    value = table.raw(key)
    if not isinstance(value, list) or len(value) != count:
        raise table.error(
            key, f"{quote(value)} is refused; allowed: {count} numbers, names or tables with `of`"
        )
    return tuple(term_of(table, f"{key}[{k}]", item, known) for k, item in enumerate(value))


def term_of(table: TomlTable, key: str, value: Any, known: Known) -> Term:
    """A term out of what stands in TOML."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return constant(float(value))
    if isinstance(value, str):
        name = value.removeprefix("-")
        return Term(of=(_known(table, key, name, known),), times=-1.0 if value.startswith("-") else 1.0)
    if not isinstance(value, dict):
        raise table.error(key, f"{quote(value)} is refused; allowed: a number, a name, or a table with `of`")
    return _table_term(table.inner(key, value), known)


def _table_term(inner: TomlTable, known: Known) -> Term:
    low, high = inner.numbers("limit", (-math.inf, math.inf), low=-_MOST, high=_MOST, count=2)
    term = Term(
        of=_names(inner, "of", known),
        over=_names(inner, "over", known),
        times=inner.number("times", 1.0, low=-_MOST, high=_MOST),
        plus=inner.number("plus", 0.0, low=-_MOST, high=_MOST),
        scaled=inner.number("scaled", 1.0, low=-_MOST, high=_MOST),
        curve=inner.name("curve", ("", *CURVES), ""),
        limit=(low, high),
        spin_radps=inner.number("spin_radps", 0.0, low=-1e4, high=1e4) if inner.has("spin_radps") else None,
    )
    inner.finish()
    return term


def _names(table: TomlTable, key: str, known: Known) -> tuple[str, ...]:
    """One name or a list of them."""
    if not table.has(key):
        return ()
    value = table.raw(key)
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise table.error(key, f"{quote(value)} is refused; allowed: a name or a list of names")
    return tuple(_known(table, key, name, known) for name in names)


def _known(table: TomlTable, key: str, name: str, known: Known) -> str:
    if name not in known:
        raise table.error(key, f'unknown "{name}"; allowed: {one_of(known, name)}')
    return name


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
    def observed(self) -> tuple[str, ...]:
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
    def scalars(self) -> tuple[str, ...]:
        """Observables that are one number."""
        return tuple(name for name in self.observed if name in self._observables)

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
