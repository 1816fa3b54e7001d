"""What a vehicle tells about its numbers: name, unit, range, default. Panels, checks and docs are made from it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.platform.errors import InputError, quote
from sim.platform.validation import numeric

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
