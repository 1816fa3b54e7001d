"""Products of spaces, with the names of their parts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import casadi as ca
import numpy as np

from sim.spaces.base import Space


@dataclass(frozen=True)
class Product(Space):
    """Parts one after the other; slices of different parts have different names."""

    parts: tuple[Space, ...]

    def __post_init__(self) -> None:
        names = [name for part in self.parts for name in part.slices]
        assert len(names) == len(set(names)), f"names of a product's parts are given twice: {names}"

    @property
    def size(self) -> int:  # type: ignore[override]
        return sum(part.size for part in self.parts)

    @property
    def dim(self) -> int:  # type: ignore[override]
        return sum(part.dim for part in self.parts)

    @cached_property
    def slices(self) -> Mapping[str, slice]:  # type: ignore[override]
        bounds = _bounds(part.size for part in self.parts)
        return {
            name: slice(begin + at.start, begin + at.stop)
            for part, begin in zip(self.parts, bounds, strict=False)
            for name, at in part.slices.items()
        }

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column for part in self.parts for column in part.columns)

    def origin(self) -> np.ndarray:
        return np.concatenate([part.origin() for part in self.parts])

    def points(self, a: ca.SX) -> list[ca.SX]:
        """Of the parts."""
        bounds = _bounds(part.size for part in self.parts)
        return [a[i:j] for i, j in pairwise(bounds)]

    def defect(self, a: ca.SX) -> ca.SX:
        return ca.vertcat(*[p.defect(x) for p, x in zip(self.parts, self.points(a), strict=True)])

    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        pairs = zip(self.parts, self.points(a), self.points(b), strict=True)
        return ca.vertcat(*[part.difference(x, y) for part, x, y in pairs])

    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        bounds = _bounds(part.dim for part in self.parts)
        own = [d[i:j] for i, j in pairwise(bounds)]
        pairs = zip(self.parts, self.points(a), own, strict=True)
        return ca.vertcat(*[part.displaced(x, y) for part, x, y in pairs])

    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        pairs = zip(self.parts, self.points(about), self.points(a), strict=True)
        return {name: x for part, b, c in pairs for name, x in part.coordinates(b, c).items()}

    def facing(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        pairs = zip(self.parts, self.points(about), self.points(a), strict=True)
        return {name: x for part, b, c in pairs for name, x in part.facing(b, c).items()}

    @property
    def directions(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.directions)

    @property
    def rotations(self) -> tuple[int, ...]:
        bounds = _bounds(part.size for part in self.parts)
        pairs = zip(self.parts, bounds, strict=False)
        return tuple(begin + at for part, begin in pairs for at in part.rotations)

    @property
    def velocities(self) -> tuple[int, ...]:
        bounds = _bounds(part.size for part in self.parts)
        pairs = zip(self.parts, bounds, strict=False)
        return tuple(begin + at for part, begin in pairs for at in part.velocities)


@dataclass(frozen=True)
class _Numbered(Space):
    """A space whose slices carry a number."""

    space: Space
    number: int

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.space.size

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.space.dim

    @property
    def slices(self) -> Mapping[str, slice]:
        return {f"{name}_{self.number}": at for name, at in self.space.slices.items()}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"{column}_{self.number}" for column in self.space.columns)

    def origin(self) -> np.ndarray:
        return self.space.origin()

    def defect(self, a: ca.SX) -> ca.SX:
        return self.space.defect(a)

    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        return self.space.difference(a, b)

    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        return self.space.displaced(a, d)

    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return self._numbered(self.space.coordinates(about, a))

    def facing(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return self._numbered(self.space.facing(about, a))

    @property
    def directions(self) -> tuple[str, ...]:
        return tuple(f"{name}_{self.number}" for name in self.space.directions)

    @property
    def rotations(self) -> tuple[int, ...]:
        return self.space.rotations

    @property
    def velocities(self) -> tuple[int, ...]:
        return self.space.velocities

    def _numbered(self, values: Mapping[str, ca.SX]) -> dict[str, ca.SX]:
        return {f"{name}_{self.number}": value for name, value in values.items()}


def Power(space: Space, count: int) -> Product:
    """space x ... x space; the slices of the k-th part are named `name_k`, from 1."""
    return Product(tuple(_Numbered(space, k + 1) for k in range(count)))


def _bounds(sizes: Iterable[int]) -> list[int]:
    return [0, *accumulate(sizes)]
