"""What every space has, and the two plainest: R^n, and a group as a space.

Rotations as unit quaternions; the sphere S^2 and its tangent bundle, with angular velocities for tangent vectors.

A point of the sphere is a unit vector q; a tangent vector is told by the angular velocity omega, at right angles to
q, with which it turns: q' = omega x q. Points of the bundle are (q, omega) (mechanics survey, section 5)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import casadi as ca
import numpy as np

from sim.groups import LieGroup
from sim.groups.so3 import ROTATION_COLUMNS, half_angle_cosine, rotation_exp, turn_cosine, turn_sines
from sim.platform.values import dataclass


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


_LEAST = 1e-30


@dataclass(frozen=True)
class UnitQuaternions(Space):
    """Four numbers (w, x, y, z); displacements are rotation vectors in the frame that turns."""

    name: str = "rotation"
    size = 4
    dim = 3

    @property
    def slices(self) -> Mapping[str, slice]:
        return {self.name: slice(0, 4)}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{part}" for part in ("qw", "qx", "qy", "qz"))

    def origin(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def defect(self, a: ca.SX) -> ca.SX:
        """Of the length from 1."""
        return ca.dot(a, a) - 1

    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        """Up to a whole turn: the two signs of a rotation are two points, which motions do not jump between."""
        w = ca.dot(a, b)
        v = a[0] * b[1:] - b[0] * a[1:] - ca.cross(a[1:], b[1:])
        length = ca.sqrt(ca.dot(v, v) + _LEAST)
        return 2 * ca.atan2(length, w) / length * v

    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return {self.name: self.difference(about, a)}

    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        half = ca.sqrt(ca.dot(d, d) + _LEAST) / 2
        w, v = ca.cos(half), ca.sin(half) / (2 * half) * d
        turned = ca.vertcat(a[0] * w - ca.dot(a[1:], v), a[0] * v + w * a[1:] + ca.cross(a[1:], v))
        return turned / ca.sqrt(ca.dot(turned, turned))


_SMALL = 1e-12


def shortest_turn(a: ca.SX, b: ca.SX) -> ca.SX:
    """(3,) rotation vector at right angles to both unit vectors whose exponential takes a to b, angle in [0, pi].

    By atan2, so that it is exact to rounding for any angle; between opposite points it is one of the many.
    """
    axis, cosine = ca.cross(a, b), ca.dot(a, b)
    # Near half a turn rounding would tilt so short a product out of the plane at right angles to a.
    axis = axis - ca.dot(axis, a) * a
    squared = ca.dot(axis, axis)
    near, sine = squared < _SMALL**2, ca.sqrt(ca.if_else(squared < _SMALL**2, 1, squared))
    half_turn = ca.pi * _aside(a)
    at_ends = ca.if_else(cosine > 0, axis, half_turn)
    return ca.if_else(near, at_ends, ca.atan2(sine, cosine) / sine * axis)


def _aside(a: ca.SX) -> ca.SX:
    """(3,) some unit vector at right angles to one."""
    aside = ca.cross(a, ca.if_else(ca.fabs(a[0]) < 0.6, ca.SX([1, 0, 0]), ca.SX([0, 1, 0])))
    return aside / ca.sqrt(ca.dot(aside, aside))


def _across(a: ca.SX) -> ca.SX:
    """(2, 3) whose rows make a frame with a unit vector."""
    first = _aside(a)
    return ca.horzcat(first, ca.cross(a, first)).T


@dataclass(frozen=True)
class Sphere(Space):
    """Unit vectors; displacements are rotation vectors at right angles to the point."""

    name: str = "direction"
    size: int = 3
    dim: int = 3

    @property
    def slices(self) -> Mapping[str, slice]:
        return {self.name: slice(0, 3)}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{axis}" for axis in "xyz")

    def origin(self) -> np.ndarray:
        return np.array([0.0, 0.0, -1.0])

    def defect(self, a: ca.SX) -> ca.SX:
        return ca.dot(a, a) - 1

    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        return shortest_turn(a, b)

    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        return rotation_exp(d) @ a

    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return {self.name: _across(about) @ a / half_angle_cosine(ca.dot(about, a))}

    def facing(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return {self.name: ca.dot(about, a)}

    @property
    def directions(self) -> tuple[str, ...]:
        return (self.name,)


@dataclass(frozen=True)
class TangentBundle(Space):
    """(q, omega) over a sphere; a displacement is the turn, and what is added to omega before it."""

    sphere: Sphere = Sphere()
    name: str = "omega"
    size: int = 6
    dim: int = 6

    @property
    def slices(self) -> Mapping[str, slice]:
        return {**self.sphere.slices, self.name: slice(3, 6)}

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.sphere.columns, *(f"{self.name}_{axis}_radps" for axis in "xyz"))

    def origin(self) -> np.ndarray:
        return np.r_[self.sphere.origin(), np.zeros(3)]

    def defect(self, a: ca.SX) -> ca.SX:
        return ca.vertcat(self.sphere.defect(a[:3]), ca.dot(a[:3], a[3:]))

    def difference(self, a: ca.SX, b: ca.SX) -> ca.SX:
        turn = shortest_turn(a[:3], b[:3])
        return ca.vertcat(turn, rotation_exp(turn).T @ b[3:] - a[3:])

    def displaced(self, a: ca.SX, d: ca.SX) -> ca.SX:
        R = rotation_exp(d[:3])
        return ca.vertcat(R @ a[:3], R @ (a[3:] + d[3:]))

    def coordinates(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        turning = _across(about[:3]) @ (a[3:] - about[3:])
        return {**self.sphere.coordinates(about[:3], a[:3]), self.name: turning}

    def facing(self, about: ca.SX, a: ca.SX) -> Mapping[str, ca.SX]:
        return self.sphere.facing(about[:3], a[:3])

    @property
    def directions(self) -> tuple[str, ...]:
        return self.sphere.directions

    @property
    def velocities(self) -> tuple[int, ...]:
        return (3, 4, 5)
