"""What has parameters: named numbers that are checked, changed in a copy, and handed to kernels as one vector."""

import copy
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Self

import casadi as ca
import numpy as np

from sim.platform.errors import InputError, one_of, quote
from sim.vehicles.parameter import Parameter, Value, named

_OF_THE_STRUCTURE = ("node_layout", "space", "action")
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
    def parameter_vector(self) -> np.ndarray:
        """All parameters one after the other, as the compiled kernels take them."""
        parts = [np.atleast_1d(np.asarray(self.values[q.name], float)) for q in self.parameters]
        return np.concatenate(parts) if parts else np.zeros(0)

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
