"""Products of spaces, with the names of their parts; and a group that acts on a space, as a value.

The methods of the mechanics survey need nothing else than such an action.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import accumulate, pairwise

import casadi as ca
import numpy as np

from sim.groups import LieGroup
from sim.groups.product import ProductGroup, Translations
from sim.groups.se3 import SE3, position_of, rotation_of
from sim.groups.so3 import SO3
from sim.platform.values import dataclass
from sim.spaces.base import Euclidean, GroupSpace, Space, Sphere, TangentBundle


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


@dataclass(frozen=True)
class Action:
    """From the left: acting with k, then with g, is acting with g k."""

    group: LieGroup
    space: Space
    act: Callable[[ca.SX, ca.SX], ca.SX]
    """(g, point) -> point."""
    parts: tuple["Action", ...] = ()
    """Of a product, in the order in which their numbers stand; equal ones are one object."""

    def moved(self, a: ca.SX, x: ca.SX) -> ca.SX:
        """exp(x) . a"""
        return self.act(self.group.exp(x), a)

    def moved_by_cayley(self, a: ca.SX, x: ca.SX) -> ca.SX:
        """cay(x) . a"""
        return self.act(self.group.cay(x), a)

    def generator(self, a: ca.SX, x: ca.SX) -> ca.SX:
        """d/dt exp(t x) . a at t = 0, of the point's size: derived, not declared."""
        g, identity = ca.SX.sym("g", self.group.pose_dim), ca.SX(self.group.identity())
        rate = self.group.left_tangent(identity) @ x
        return ca.substitute(ca.jtimes(self.act(g, a), g, rate), g, ca.densify(identity))


def by_left_translation(group: LieGroup, space: GroupSpace | None = None) -> Action:
    """A group on itself, under a name of its own if wanted."""
    return Action(group, space or GroupSpace(group), group.compose)


def rotations_of_sphere() -> Action:
    """SO(3) on S^2."""
    return Action(SO3, Sphere(), lambda g, q: ca.reshape(g, 3, 3) @ q)


def motions_of_tangent_bundle(bundle: TangentBundle) -> Action:
    """SE(3) on TS^2: (A, a) . (q, omega) = (A q, A omega + a x A q) (mechanics survey, section 5)."""

    def act(g: ca.SX, point: ca.SX) -> ca.SX:
        A = rotation_of(g)
        q = A @ point[:3]
        return ca.vertcat(q, A @ point[3:] + ca.cross(position_of(g), q))

    return Action(SE3, bundle, act)


def translations(space: Euclidean) -> Action:
    """R^n on itself."""
    return Action(Translations(space.size), space, lambda g, x: x + g)


def side_by_side(*actions: Action) -> Action:
    """The product group on the product of the spaces, part by part."""
    return _product(actions, Product(tuple(a.space for a in actions)))


def copies(action: Action, count: int) -> Action:
    """The same action on so many copies of its space, whose names are numbered from 1."""
    return _product((action,) * count, Power(action.space, count))


def _product(actions: tuple[Action, ...], space: Product) -> Action:
    group = ProductGroup(tuple(a.group for a in actions))

    def act(g: ca.SX, point: ca.SX) -> ca.SX:
        parts = zip(actions, group.elements(g), space.points(point), strict=True)
        return ca.vertcat(*[a.act(element, own) for a, element, own in parts])

    return Action(group, space, act, tuple(part for a in actions for part in a.parts or (a,)))
