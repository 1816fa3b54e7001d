"""What a script gives in the place of numbers, checked: a mistake is one line and not silently another number."""

import math
import sys
from typing import SupportsIndex

import numpy as np

from sim.platform.errors import InputError, quote


def numeric(value: object) -> np.ndarray:
    """Of real numbers; raises TypeError, ValueError or OverflowError for text, complex numbers and what is masked."""
    if type(value) is float:
        return np.asarray(value)
    array = np.asarray(value)
    masks = sys.modules.get("numpy.ma")  # else nothing is masked; to load it takes a start's time
    if array.dtype.kind in "USc" or (masks is not None and masks.is_masked(value)):
        raise TypeError(f"{array.dtype} is no real number")
    return np.asarray(array, float)


def numbers(what: str, value: object) -> np.ndarray:
    """Finite real ones, of any shape. Raises InputError that begins with `what`."""
    try:
        array = np.ascontiguousarray(numeric(value)) if np.ndim(value) else numeric(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} = {quote(value)} are not numeric; allowed: an array of numbers") from None
    if not np.isfinite(array).all():
        raise InputError(f"{what} have entries that are not finite; allowed: finite numbers")
    return array


def array_of(what: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    """Finite ones of that shape. Raises InputError that begins with `what`."""
    try:
        array = numeric(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} = {quote(value)} is not numeric") from None
    if array.shape != shape:
        raise InputError(f"{what} has shape {array.shape}, wanted {shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} has entries that are not finite")
    return array


def number(what: str, value: object, *, low: float = -math.inf, above: float = -math.inf) -> float:
    """A finite one, not under `low` and above `above`. Raises InputError that begins with `what`."""
    try:
        x = float(numeric(value)) if np.ndim(value) == 0 else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        x = math.nan
    if not (math.isfinite(x) and x >= low and x > above):
        bounds = (
            f"from {low:g}" if low > -math.inf else f"above {above:g}" if above > -math.inf else "a number"
        )
        raise InputError(f"{what} = {quote(value)} is refused; allowed: {bounds}")
    return x


def whole(what: str, value: object, unit: str, *, low: int = 1) -> int:
    """A whole number, not under `low`. Raises InputError that begins with `what`."""
    if isinstance(value, SupportsIndex) and not isinstance(value, bool | np.bool) and np.ndim(value) == 0:  # type: ignore[arg-type]
        try:
            count = value.__index__()
        except TypeError:
            count = low - 1
        if low <= count < 2**63:
            return count
    raise InputError(f"{what} = {quote(value)} is refused; allowed: {low} or more {unit}")
