"""What every shape knows of itself: where it is, how far points are from it, how it is drawn and written."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from sim.groups.numeric import upright
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.shapes.solid import Solid
from sim.shapes.surface import Surface

Vector = tuple[float, float, float]

FAR_M, LARGEST_M = 1e5, 1e4
_THIN_M = 0.1
EDGE_M = 0.02
"""Rounding of edges, so that distances can be differentiated twice."""


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """A thing that can be moved by hand: a shape, or a mark that has none."""

    name: str
    """"goal", "waypoint 0", "gate 0", ..."""
    T_w: np.ndarray
    """(4, 4) where it is, and how it is turned."""
    turns: str
    """The axes of the world that it is turned about by hand: none, "z" where its heading counts, or all three."""
    points_to_w: np.ndarray | None = None
    """(3,) where a line that is drawn from it ends; None: nothing is."""


class Shape(ABC):
    """A solid in the world. Kinds are frozen dataclasses: lengths in metres, `name` and `look` at the end."""

    __slots__ = ()
    kind: ClassVar[str]
    """In messages and scene files."""
    size: ClassVar[int]
    """How many numbers it is told by."""
    is_wall: ClassVar[bool] = False
    """Ways may leap over it: a pole is gone around as soon as it is seen."""
    turns: ClassVar[bool] = False
    """It has a heading."""
    is_body: ClassVar[bool] = True
    """`solid` makes a body of it that touches others."""
    centre_w: Vector
    radius_m: float
    """Of kinds that have these; others say below how they go without."""
    name: str
    look: str

    @staticmethod
    @abstractmethod
    def gap(x: ca.SX, q: ca.SX, margin: ca.SX) -> ca.SX:
        """Signed distance [m] of a point (3,) from the shape of numbers q, less a margin; smooth, exact in its sign."""

    @abstractmethod
    def numbers(self) -> np.ndarray:
        """(size,) as `gap` takes them."""

    @abstractmethod
    def distance(self, points_w: np.ndarray) -> np.ndarray:
        """(n,) exact signed distance [m] of points (n, 3); negative inside."""

    def called(self, name: str) -> Self:
        """It under another name."""
        return replace(self, name=name)  # type: ignore[type-var]

    @property
    def middle_w(self) -> Vector:
        """By which it is taken hold of."""
        return self.centre_w

    @property
    def heading(self) -> float:
        """About the vertical [rad]; 0 of what has none."""
        return 0.0

    @property
    def half_thickness_m(self) -> float:
        """Of its thinnest part."""
        return self.radius_m

    @property
    def across_m(self) -> float:
        """How much room it takes to its side, along y."""
        return 2.0 * self.half_thickness_m

    @property
    def core_w(self) -> np.ndarray:
        """(2, 3) ends of the line in its middle; of what is endless far above and below."""
        return np.array([self.middle_w, self.middle_w], float)

    @property
    def sizes_m(self) -> tuple[float, ...]:
        """That have to be above 0."""
        return (self.half_thickness_m,)

    def thickened(self, half_m: float) -> Self:
        """As it is, but nowhere thinner than that."""
        return replace(self, radius_m=max(self.radius_m, half_m))  # type: ignore[type-var]

    def moved(self, by_w: Vector, heading_rad: float | None = None) -> Self:
        """It by (3,) m elsewhere, and turned to a heading where it has one."""
        return replace(self, centre_w=shifted(self.centre_w, by_w))  # type: ignore[type-var]

    def scaled(self, factor: float) -> Self:
        """It larger by a factor, about its middle."""
        return replace(self, radius_m=factor * self.radius_m)  # type: ignore[type-var]

    def on_plane(self) -> "Shape":
        """What is met at z = 0 by all that moves there: on a plane every obstacle is met at its own height."""
        return replace(self, centre_w=(self.centre_w[0], self.centre_w[1], 0.0))  # type: ignore[type-var]

    def between(self, low_m: float, high_m: float) -> "Shape":
        """Of what is endless the piece between two heights; others as they are."""
        return self

    @property
    def extremes_w(self) -> np.ndarray:
        """(n, 3) places between which it lies."""
        points: np.ndarray = self.surface()[0]
        return np.array([*product(*np.stack([points.min(axis=0), points.max(axis=0)]).T)])

    @property
    def footprint(self) -> np.ndarray:
        """(6,) what is seen of it from above: a rectangle's centre x, y, half length and width [m], heading [rad], and
        by how much it is rounded [m]."""
        return np.array([*self.middle_w[:2], 0.0, 0.0, 0.0, self.radius_m])

    @abstractmethod
    def surface(self) -> Surface:
        """What is drawn of it, in the world."""

    def solid(self) -> Solid:
        """It as a body that touches others. Raises InputError for what is endless."""
        raise InputError(
            f"a {self.kind} is endless and no body; allowed: sphere, box, capsule, drum, cone, mesh"
        )

    def text(self) -> dict[str, Any]:
        """Its keys in a scene file, without kind, name and look."""
        return {"centre_m": list(self.centre_w), "radius_m": self.radius_m}

    @classmethod
    def read(cls, table: TomlTable, name: str, look: str) -> Self:
        """The inverse of `text`. Raises InputError, one line with file, key and what is allowed."""
        return cls(vector(table, "centre_m"), length(table, "radius_m"), name, look)  # type: ignore[call-arg]


@dataclass(frozen=True, slots=True)
class Oriented(Shape):
    """What reaches equally far to either side of its middle, along axes that a heading turns about the vertical."""

    centre_w: Vector
    half_m: Vector
    heading_rad: float = 0.0
    name: str = ""
    look: str = ""

    def numbers(self) -> np.ndarray:
        return np.array([*self.centre_w, *self.half_m, self.heading_rad])

    @property
    def heading(self) -> float:
        return self.heading_rad

    @property
    def half_thickness_m(self) -> float:
        return min(self.half_m)

    @property
    def across_m(self) -> float:
        return 2.0 * self.half_m[1]

    @property
    def core_w(self) -> np.ndarray:
        _, wide, widest = np.sort(self.half_m)
        along = (widest - wide) * upright(self.heading_rad)[:, int(np.argmax(self.half_m))]
        return np.array(self.centre_w, float) + np.outer([-1.0, 1.0], along)

    def moved(self, by_w: Vector, heading_rad: float | None = None) -> Self:
        turned = self.heading_rad if heading_rad is None else heading_rad
        return replace(self, centre_w=shifted(self.centre_w, by_w), heading_rad=turned)

    def scaled(self, factor: float) -> Self:
        x, y, z = self.half_m
        return replace(self, half_m=(factor * x, factor * y, factor * z))

    @property
    def footprint(self) -> np.ndarray:
        """The rectangle about it."""
        return np.array([*self.centre_w[:2], *self.half_m[:2], self.heading_rad, 0.0])

    def placed(self, surface: Surface) -> Surface:
        """A surface about the origin, along its axes, where it stands."""
        points, normals, faces = surface
        R = upright(self.heading_rad)
        return points @ R.T + self.centre_w, normals @ R.T, faces

    def text(self) -> dict[str, Any]:
        heading_deg = math.degrees(self.heading_rad)
        return {"centre_m": list(self.centre_w), "half_m": list(self.half_m), "heading_deg": heading_deg}

    @classmethod
    def read(cls, table: TomlTable, name: str, look: str) -> Self:
        x, y, z = table.numbers("half_m", (1.0, 1.0, 1.0), low=-LARGEST_M, high=LARGEST_M, count=3)
        return cls(vector(table, "centre_m"), (x, y, z), heading_of(table), name, look)


def vector(table: TomlTable, key: str) -> Vector:
    """Of two numbers, or three."""
    value = table.numbers(key, (0.0, 0.0, 0.0), low=-FAR_M, high=FAR_M)
    if len(value) not in (2, 3):
        raise table.error(key, f"has {len(value)} numbers; allowed: 2 or 3")
    return (value[0], value[1], value[2] if len(value) == 3 else 0.0)


def length(table: TomlTable, key: str) -> float:
    """Refused later where it is not above 0, in the words of the task."""
    return table.number(key, 1.0, low=-LARGEST_M, high=LARGEST_M)


def heading_of(table: TomlTable) -> float:
    """rad."""
    return math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0))


def shifted(place_w: Vector, by_w: Vector) -> Vector:
    x, y, z = (float(a) + float(b) for a, b in zip(place_w, by_w, strict=True))
    return x, y, z


def from_place(place_w: Vector, points_w: np.ndarray) -> np.ndarray:
    """(3, n) from a place to points (n, 3)."""
    found: np.ndarray = np.asarray(points_w, float).T - np.array(place_w)[:, None]
    return found


def norm(*parts: np.ndarray) -> np.ndarray:
    """(n,) of vectors given axis by axis: sums along short rows are slow."""
    return np.sqrt(sum(part * part for part in parts))


def round_gap(point: ca.SX, q: ca.SX, radius: ca.SX) -> ca.SX:
    """Exact on the surface and smooth everywhere: (|d|^2 - r^2) / 2r.

    Of what is thinner than a hand only the sign is: a steeper slope no solver can work with. Where a negative margin
    is more than the radius, nothing is left.
    """
    d = point - q
    return (ca.dot(d, d) - radius * ca.fabs(radius)) / (2 * ca.fmax(radius, _THIN_M))


def box_gap(over: ca.SX) -> ca.SX:
    """Signed distance from what lies over the sides of a box, axis by axis, with rounded edges."""
    outside = (over + ca.sqrt(over**2 + EDGE_M**2)) / 2
    deepest = over[0]
    for axis in range(1, over.shape[0]):
        deepest = ca.fmax(deepest, over[axis])
    inside = (deepest - ca.sqrt(deepest**2 + EDGE_M**2)) / 2
    return ca.sqrt(ca.dot(outside, outside) + 1e-8) + inside


def box_distance(over: list[np.ndarray]) -> np.ndarray:
    """The same, exact, of points (n,) an axis."""
    deepest = over[0]
    for part in over[1:]:
        deepest = np.maximum(deepest, part)
    return norm(*(np.maximum(part, 0.0) for part in over)) + np.minimum(deepest, 0.0)


def footprints(shapes: Iterable[Shape]) -> np.ndarray:
    """(n, 6) of shapes as what is compiled takes them, sharp ones first."""
    rows = np.array([shape.footprint for shape in shapes]).reshape(-1, 6)
    return rows[np.argsort(rows[:, 5] > 0.0, kind="stable")]
