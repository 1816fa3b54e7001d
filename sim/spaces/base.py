"""What every space has, and the two plainest: R^n, and a group as a space."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.groups import LieGroup
from sim.groups.so3 import ROTATION_COLUMNS, turn_cosine, turn_sines


class Space(ABC):
    """Points as flat columns of `size` numbers, displacements between them as columns of `dim`.

    A displacement may have more numbers than the space has dimensions, as rotation vectors between points of a sphere.
    """

    size: int
    dim: int

    @property
    @abstractmethod
    def slices(self) -> Mapping[str, slice]:
        """Name -> where it stands in a point."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of a point's numbers, for files."""
        return tuple(
            name if at.stop - at.start == 1 else f"{name}_{k}"
            for name, at in self.slices.items()
            for k in range(at.stop - at.start)
        )

    @abstractmethod
    def origin(self) -> np.ndarray:
        """(size,) some point."""

    @abstractmethod
    def defect(self, a: ca.SX) -> ca.SX:
        """What is zero where a column is a point; empty where every column is one."""

    @abstractmethod
    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        """(dim,) d with displaced(a, d) = b, the shortest one."""

    @abstractmethod
    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        """The point that is reached from `a`."""

    def between(self, a: ca.SX, b: ca.SX, share: ca.SX) -> ca.SX:
        """The point that far on the way, 0 at `a` and 1 at `b`."""
        return self.displaced(a, share * self.difference(a, b))

    @abstractmethod
    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        """By the names of the slices: zero where `a` is the point `about`, as many as the space has dimensions.

        They vanish nowhere else where `facing` is above -1.
        """

    def facing(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        """By the names of the slices that turn: cosines of the angles between the two points."""
        return {}

    @property
    def directions(self) -> tuple[str, ...]:
        """Names of the slices that are unit vectors."""
        return ()

    @property
    def rotations(self) -> tuple[int, ...]:
        """Where the nine entries of a rotation begin in a point, column after column, for each rotation."""
        return ()

    @property
    def velocities(self) -> tuple[int, ...]:
        """Where numbers stand in a point that are velocities of what has mass, or its momenta: an impulse changes them
        at once."""
        return ()


@dataclass(frozen=True)
class Euclidean(Space):
    """R^n."""

    size: int
    name: str = "x"
    names: tuple[str, ...] = ()
    """Of the columns, where they have their own."""
    rates: int = 0
    """How many of its last numbers are velocities of what has mass, or its momenta."""

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.size

    @property
    def slices(self) -> Mapping[str, slice]:
        return {self.name: slice(0, self.size)}

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names or super().columns

    def origin(self) -> np.ndarray:
        return np.zeros(self.size)

    def defect(self, a: ca.SX) -> ca.SX:
        return ca.SX(0, 1)

    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        return b - a

    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        return a + d

    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return {self.name: a - about}

    @property
    def velocities(self) -> tuple[int, ...]:
        return tuple(range(self.size - self.rates, self.size))


@dataclass(frozen=True)
class GroupSpace(Space):
    """A group as the space that it acts on; displacements are velocities of its algebra in the body frame."""

    group: LieGroup
    name: str = "pose"

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.group.pose_dim

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.group.dim

    @property
    def slices(self) -> Mapping[str, slice]:
        return {self.name: slice(0, self.size)}

    @property
    def columns(self) -> tuple[str, ...]:
        return self.group.columns or super().columns

    def origin(self) -> np.ndarray:
        return self.group.identity()

    def defect(self, a: ca.SX) -> ca.SX:
        """Of g^-1 g against the identity: zero for orthogonal rotations."""
        return self.group.compose(self.group.inverse(a), a) - ca.SX(self.group.identity())

    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        return self.group.log(self.group.between(a, b))

    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        return self.group.compose(a, self.group.exp(d))

    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        if not self.rotations:
            return {self.name: self.difference(about, a)}
        return {self.name: ca.vertcat(turn_sines(_turn(about, a)), a[9:] - about[9:])}

    def facing(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return {self.name: turn_cosine(_turn(about, a))} if self.rotations else {}

    @property
    def rotations(self) -> tuple[int, ...]:
        return (0,) if self.group.columns[:9] == ROTATION_COLUMNS else ()


def _turn(a: ca.SX, b: ca.SX) -> ca.SX:
    """(3, 3) from one rotation to another."""
    return ca.reshape(a[:9], 3, 3).T @ ca.reshape(b[:9], 3, 3)
