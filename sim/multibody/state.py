"""Where a tree's motion is at a node, and numbers for joints as users give them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sim.platform.errors import InputError, one_of, quote
from sim.platform.validation import numeric

Given = ArrayLike | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class TreeState:
    """A node: coordinates q (nq,) and velocities v (nv,) of the joints."""

    q: np.ndarray
    v: np.ndarray


def numbers(what: str, given: Given, names: tuple[str, ...], rest: np.ndarray | None = None) -> np.ndarray:
    """(len(names),) finite numbers: a copy of those given, or by name, the others as in `rest` (zero without it).

    Raises InputError in one line, beginning with `what`.
    """
    try:
        if isinstance(given, Mapping):
            row = np.zeros(len(names)) if rest is None else rest.copy()
            for name, value in given.items():
                if name not in names:
                    raise InputError(f"{what}: unknown joint {quote(name)}; allowed: {one_of(names, name)}")
                row[names.index(name)] = value
        else:
            row = numeric(given).copy()
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} is not numeric") from None
    if row.shape != (len(names),):
        raise InputError(f"{what} is {row.shape}; allowed: ({len(names)},) for {one_of(names)}")
    if not np.isfinite(row).all():
        raise InputError(f"{what} has entries that are not finite")
    return row
