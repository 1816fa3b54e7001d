"""The points of a sweep: every combination of some axes, or rows that are given."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sim.platform.errors import InputError, quote


@dataclass(frozen=True, eq=False)
class Grid:
    """Points by number, made when they are asked for."""

    axes: Mapping[str, Any]
    """Name -> (k,) values."""
    paired: bool = False
    """The k-th point has the k-th value of every axis; else there is a point for every combination, the last axis
    running fastest."""

    def __post_init__(self) -> None:
        """Raises InputError for axes that are empty, no list, or differ in length where they are paired."""
        if not isinstance(self.axes, Mapping):
            raise InputError(f"over = {quote(self.axes)} is refused; allowed: a dict of axes, or a Grid")
        axes = {}
        for name, values in self.axes.items():
            try:
                array = np.asarray(values)
            except ValueError:  # lists of several lengths
                array = np.empty(0)
            if array.ndim != 1 or not array.size or array.dtype.kind not in "biufU":
                raise InputError(
                    f"axis {quote(name)} = {quote(values)} is refused; allowed: numbers or names in a list"
                )
            axes[name] = array
        if not axes:
            raise InputError("a sweep over nothing; allowed: one axis or more")
        lengths = {len(array) for array in axes.values()}
        if self.paired and len(lengths) > 1:
            raise InputError(
                f"paired axes of {', '.join(map(str, sorted(lengths)))} values; allowed: as many on each"
            )
        object.__setattr__(self, "axes", axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Values on each axis; of pairs their number."""
        sizes = tuple(len(array) for array in self.axes.values())
        return sizes[:1] if self.paired else sizes

    def __len__(self) -> int:
        """How many points there are."""
        return math.prod(self.shape)

    def columns(self, begin: int, end: int) -> dict[str, np.ndarray]:
        """Name -> (end - begin,) values of these points."""
        numbers = np.arange(begin, end)
        if self.paired:
            return {name: array[numbers] for name, array in self.axes.items()}
        places = np.unravel_index(numbers, self.shape)
        return {name: array[at] for (name, array), at in zip(self.axes.items(), places, strict=True)}

    @cached_property
    def digest(self) -> str:
        """Of names and values: tells whether results belong to these points."""
        told = hashlib.sha256(repr((tuple(self.axes), self.paired)).encode())
        for array in self.axes.values():
            told.update(str(array.dtype).encode() + array.tobytes())
        return told.hexdigest()[:16]
