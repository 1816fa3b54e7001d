"""Named numbers of a vehicle: unit, range and default, checked, changed in a copy, handed to kernels as one vector.

Panels, checks and docs are made from them.
"""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.platform.errors import InputError, numeric, one_of, quote
from sim.platform.values import dataclass

Value = float | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One physical constant of a vehicle, scalar or a short vector, in SI units."""

    name: str
    unit: str
    default: Value
    low: float
    high: float
    doc: str
    optional: bool = False
    """While zero, the effect is left out of the generated code altogether and costs nothing."""
    structural: bool = False
    """A whole number by which the system is another one, with other states: how many links it has, say."""
    per: str = ""
    """Name of a structural one: there is a number for each; where one is given it is that of all."""
    body: str = ""
    """The body of which it is a property, with which it is shown; empty: of the whole vehicle."""

    def sized(self, counts: Mapping[str, int]) -> "Parameter":
        """As it is where there are that many."""
        n = counts.get(self.per, 1)
        return replace(self, default=(float(np.ravel(self.default)[0]),) * n) if n > 1 else self

    def spread(self, value: object) -> object:
        """One number for each, where one number is given for all; of a single one the number itself."""
        if self.per and self.size > 1 and np.ndim(value) == 0:  # type: ignore[arg-type]
            return (value,) * self.size
        return value[0] if self.per and np.shape(value) == (1,) else value  # type: ignore[call-overload, index]

    @property
    def size(self) -> int:
        """Number of scalars."""
        return 1 if isinstance(self.default, (int, float)) else len(self.default)

    @property
    def allowed(self) -> str:
        """The range in words."""
        shape = "" if isinstance(self.default, (int, float)) else f"{self.size} numbers, each "
        whole = "whole numbers, " if self.structural else ""
        return f"{shape}{whole}{self.low:g} to {self.high:g} {self.unit}".rstrip()

    def checked(self, value: object, where: str) -> Value:
        """`value` as float or tuple.

        Raises InputError naming `where`, the parameter and its range for a wrong shape, a value out of range, NaN.
        """
        try:
            array = numeric(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{where}: {self.name} = {quote(value)} is not a number; allowed: {self.allowed}"
            ) from None
        scalar = isinstance(self.default, (int, float))
        if (array.shape != ()) if scalar else (array.shape != (self.size,)):
            raise InputError(
                f"{where}: {self.name} = {quote(value)} has the wrong length; allowed: {self.allowed}"
            )
        broken = self.structural and np.any(array != np.round(array))
        if not np.all(np.isfinite(array)) or np.any(array < self.low) or np.any(array > self.high) or broken:
            raise InputError(
                f"{where}: {self.name} = {quote(value)} is out of range; allowed: {self.allowed}"
            )
        return float(array) if scalar else tuple(float(a) for a in array)


@dataclass(frozen=True, slots=True)
class Control:
    """One input of a vehicle and the range that pilots and planners keep to."""

    name: str
    unit: str
    low: float
    high: float
    doc: str
    neutral: float = 0.0
    only: tuple[str, int] | None = None
    """A structural parameter and the value of it with which there is this control; None: always."""


@dataclass(frozen=True, slots=True)
class ShapeCoordinate:
    """One internal coordinate, e.g. a wheel's roll angle."""

    name: str
    unit: str
    doc: str
    low: float = -math.inf
    high: float = math.inf

    @property
    def limited(self) -> bool:
        """It has a stop on either side or both."""
        return math.isfinite(self.low) or math.isfinite(self.high)


def named(items: Sequence[Parameter], name: str) -> Parameter | None:
    """The item of that name."""
    return next((item for item in items if item.name == name), None)


_OF_THE_STRUCTURE = ("node_layout", "space", "action", "symbolic")
"""What a vehicle keeps that depends on its structural parameters."""


class Quantities(SimpleNamespace):
    """A vehicle's parameters by name, each an SX column: `q.mass`, `q.inertia`."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"q has no {name!r}, only the parameters: {', '.join(vars(self)) or 'none'}")


def _of_size(numbers: np.ndarray, size: int) -> Value:
    """The numbers for another count: the last one goes on."""
    if size == 1:
        return float(numbers[0])
    return tuple(float(x) for x in numbers[np.minimum(np.arange(size), len(numbers) - 1)])


class Parametrised:
    """Keyword arguments set parameters; anything else raises InputError with one line."""

    name: str
    parameters: tuple[Parameter, ...] = ()

    def __init__(self, **values: object) -> None:
        self.values: dict[str, Value] = {q.name: q.default for q in self.parameters}
        self._set(values)

    def __repr__(self) -> str:
        """With what is not as it is by itself."""
        return f"<vehicle {self.name}{''.join(f', {name} = {quote(value)}' for name, value in self.changed.items())}>"

    def __getstate__(self) -> dict[str, object]:
        """Without what is found again from its structure: actions hold functions, which no other process could read."""
        return {name: value for name, value in vars(self).items() if name not in _OF_THE_STRUCTURE}

    def _set(self, values: Mapping[str, object]) -> None:
        """Structural ones first: they say how many numbers the others have."""
        where, declared = f"vehicle {self.name!r}", type(self).parameters
        for key in values:
            self._parameter(key)
        for q in declared:
            if q.structural and q.name in values:
                self.values[q.name] = q.checked(values[q.name], where)
        if any(q.per for q in declared):
            self.parameters = tuple(q.sized(self.counts) for q in declared)
        for q in self.parameters:
            if q.name in values and not q.structural:
                self.values[q.name] = q.checked(q.spread(values[q.name]), where)
            elif np.size(self.values[q.name]) != q.size:
                self.values[q.name] = _of_size(np.ravel(self.values[q.name]), q.size)
        parts = [np.ravel(self.values[q.name]) for q in self.parameters]
        self._numbers = np.concatenate(parts).astype(float) if parts else np.zeros(0)
        self.check()

    @property
    def counts(self) -> dict[str, int]:
        """What makes it another system than others of its class, by name."""
        structural = (q.name for q in type(self).parameters if q.structural)
        return {name: int(np.ravel(self.values[name])[0]) for name in structural}

    def check(self) -> None:
        """Raises InputError in one line where the declaration does not hold together with these parameter values."""

    def _parameter(self, key: str) -> Parameter:
        parameter = named(self.parameters, key)
        if parameter is None:
            allowed = one_of((q.name for q in self.parameters), key)
            raise InputError(f"vehicle {self.name!r}: unknown parameter {quote(key)}; allowed: {allowed}")
        return parameter

    def with_parameters(self, **values: object) -> Self:
        """The same vehicle with some parameters changed, checked like the constructor's."""
        new = copy.copy(self)
        new.values = dict(self.values)
        if any(q.structural and q.name in values for q in self.parameters):
            for known in _OF_THE_STRUCTURE:
                vars(new).pop(known, None)
        new._set(values)
        return new

    @property
    def changed(self) -> dict[str, Value]:
        """Values that are not those that it has by itself."""
        usual = {q.name: q.default for q in type(self).parameters}
        return {name: value for name, value in self.values.items() if value != usual[name]}

    @property
    def parameter_vector(self) -> np.ndarray:
        """All parameters one after the other, as the compiled kernels take them."""
        return self._numbers.copy()

    @property
    def parameter_count(self) -> int:
        return sum(q.size for q in self.parameters)

    @property
    def absent(self) -> tuple[str, ...]:
        """Optional parameters that are zero: their effects are no part of the equations."""
        return tuple(q.name for q in self.parameters if q.optional and not np.any(self.values[q.name]))

    @property
    def structural(self) -> tuple[Value, ...]:
        """The values by which it is another system than others of its class."""
        return tuple(self.values[q.name] for q in self.parameters if q.structural)

    def symbols(self, p: ca.SX) -> Quantities:
        """Parameters by name out of the flat symbolic vector; optional ones that are zero become the number 0."""
        out, at, absent = {}, 0, self.absent
        for q in self.parameters:
            out[q.name] = ca.SX(q.size, 1) if q.name in absent else p[at : at + q.size]
            at += q.size
        return Quantities(**out)
