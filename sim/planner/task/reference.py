"""A motion that a plan is to keep close to, as numbers of the state over time: a take, a trajectory, a table."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from sim.platform.errors import InputError, numbers, one_of, quote
from sim.platform.values import dataclass


@dataclass(frozen=True, eq=False)
class Reference:
    """Numbers of the state, by the names of their columns, at moments; between them on straight lines.

    Raises InputError where these are none.
    """

    time_s: np.ndarray
    """(M,) growing."""
    values: Mapping[str, np.ndarray]
    """Column -> (M,)."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Column -> what the square of its miss costs a second; others are only there for functions of one's own."""

    def __post_init__(self) -> None:
        time_s = numbers("a reference's time_s", self.time_s)
        if time_s.ndim != 1 or len(time_s) < 2 or (np.diff(time_s) <= 0.0).any():
            raise InputError("a reference's time_s do not grow; allowed: two or more growing moments")
        if not isinstance(self.values, Mapping) or not self.values:
            raise InputError(
                f"a reference's values = {quote(self.values)} are refused; allowed: a dict by column"
            )
        found = {str(name): numbers(f"a reference's {name}", v) for name, v in self.values.items()}
        for name, column in found.items():
            if column.shape != time_s.shape:
                raise InputError(
                    f"a reference's {name} has {column.shape} values; allowed: one for each of {len(time_s)} moments"
                )
        if not isinstance(self.weights, Mapping):
            raise InputError(
                f"a reference's weights = {quote(self.weights)} are refused; allowed: a dict by column"
            )
        for name, weight in self.weights.items():
            if name not in found:
                raise InputError(f"a reference has no {quote(name)} to weigh; allowed: {one_of(found, name)}")
            if not float(numbers(f"the weight of {name}", weight)) >= 0.0:
                raise InputError(f"the weight of {name} is {weight}; allowed: from 0")
        object.__setattr__(self, "time_s", time_s)
        object.__setattr__(self, "values", found)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.values)

    def at(self, time_s: np.ndarray) -> np.ndarray:
        """(n, columns) at moments (n,); before the first and after the last one as there."""
        return np.stack([np.interp(time_s, self.time_s, v) for v in self.values.values()], axis=1)

    @staticmethod
    def of(motion: Any, columns: Sequence[str], *, weight: float = 1.0) -> "Reference":
        """Of a trajectory, a plan, or a take. Raises InputError for a column that its vehicle has not."""
        flown = getattr(motion, "trajectory", motion)
        if not all(hasattr(flown, name) for name in ("vehicle", "time", "nodes")):
            raise InputError(
                f"a reference of {quote(motion)} is refused; allowed: a trajectory, a plan, or a take"
            )
        names = list(flown.vehicle.space.columns)
        for name in _several(columns):
            if name not in names:
                raise InputError(f"unknown number of the state {quote(name)}; allowed: {one_of(names, name)}")
        whole = np.isfinite(flown.nodes).all(axis=1)
        values = {name: flown.nodes[whole, names.index(name)] for name in columns}
        time_s = flown.time[whole] - flown.time[0]
        return Reference(time_s, values, dict.fromkeys(columns, weight))

    @staticmethod
    def read(path: str | Path, columns: Sequence[str], *, weight: float = 1.0) -> "Reference":
        """Of a table with a first line of names, `time_s` among them, as takes write it. Raises InputError."""
        columns = _several(columns)
        try:
            with Path(path).open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{path}: no table: {error}") from None
        found: dict[str, np.ndarray] = {}
        for name in ("time_s", *columns):
            if not rows or rows[0].get(name) is None:
                known = one_of(rows[0] if rows else (), name)
                raise InputError(f"{path}: no column {quote(name)}; allowed: {known}")
            try:
                found[name] = np.array([float(row[name]) for row in rows])
            except (TypeError, ValueError):
                raise InputError(f"{path}: column {quote(name)} is not numeric; allowed: numbers") from None
        time_s = found.pop("time_s")
        return Reference(time_s - time_s[0], found, dict.fromkeys(columns, weight))


def _several(columns: Sequence[str]) -> Sequence[str]:
    """Raises InputError for one name that is not in a list: its letters are none."""
    if isinstance(columns, str):
        raise InputError(f"a reference's columns = {quote(columns)} are refused; allowed: [{quote(columns)}]")
    return columns
