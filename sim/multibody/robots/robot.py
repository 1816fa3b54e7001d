"""A robot as its file describes it: what moves, what is drawn, what drives it."""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from sim.groups.numeric import triple
from sim.multibody.declaration import WORLD, Gear, Given, Loop, TreeState, numbers
from sim.multibody.shapes import STAND, UNSEEN, Link
from sim.multibody.tree import Tree
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.shapes import Box, Capsule, ConvexMesh, Drum, Ellipsoid, Shape, Sphere
from sim.shapes.surface import Surface, creased

_HERE = (0.0, 0.0, 0.0)
SHAPES = ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")


@dataclass(frozen=True, eq=False)
class Geom:
    """A shape on a body."""

    body: str
    """Of the tree, or "world"."""
    shape: str
    """One of SHAPES."""
    T: np.ndarray
    """(4, 4) pose in the body's frame."""
    size_m: np.ndarray
    """(3,) Sphere: radius. Capsule and cylinder: radius and half the length along z, without a capsule's ends.
    Ellipsoid and box: half of each extent. Plane: half of each extent, 0 without bound. Mesh: half of its box."""
    rgba: tuple[float, float, float, float]
    drawn: bool
    """Its file shows it."""
    collides: bool
    """Its file lets it touch others; what does not is there to be seen."""
    vertices: np.ndarray
    """(k, 3) of a mesh in the shape's own frame [m]; none for other shapes."""
    faces: np.ndarray
    """(m, 3) indices of vertices."""

    @staticmethod
    def placed(
        body: str,
        shape: str,
        place_b: tuple[float, float, float],
        size_m: tuple[float, float, float],
        rgba: tuple[float, float, float, float],
        R: np.ndarray | None = None,
    ) -> "Geom":
        """One that is drawn, collides and is no mesh, at a place in its body's frame; R: (3, 3) turned so."""
        T, none = np.eye(4), (np.zeros((0, 3)), np.zeros((0, 3), np.int32))
        T[:3, :3], T[:3, 3] = np.eye(3) if R is None else R, place_b
        return Geom(body, shape, T, np.array(size_m), rgba, True, True, *none)

    @property
    def solid(self) -> Shape | None:
        """In its own frame; None of a plane and of a mesh, which need not be convex."""
        a, b, c = (float(size) for size in self.size_m)
        match self.shape:
            case "sphere":
                return Sphere(_HERE, a)
            case "capsule":
                return Capsule((0.0, 0.0, -b), (0.0, 0.0, b), a)
            case "cylinder":
                return Drum(_HERE, a, b)
            case "box":
                return Box(_HERE, (a, b, c))
            case "ellipsoid":
                return Ellipsoid(_HERE, (a, b, c))
            case _:
                return None

    def surface(self) -> Surface:
        """What is drawn of it, in the shape's own frame; of a plane nothing."""
        if self.solid is not None:
            return self.solid.surface()
        return creased(np.asarray(self.vertices, float), np.asarray(self.faces, np.int64))


@dataclass(frozen=True)
class Apart(Container[frozenset[str]]):
    """Pairs of bodies that a file excludes, or of which no two shapes have bits that meet: too many to be listed."""

    excluded: frozenset[frozenset[str]]
    bits: Mapping[str, set[tuple[int, int]]]
    """Of the shapes of each body: its own kinds, and those that it meets."""

    def __contains__(self, pair: object) -> bool:
        if pair in self.excluded:
            return True
        if not isinstance(pair, frozenset) or len(pair) != 2 or not pair <= self.bits.keys():
            return False
        one, other = (self.bits[name] for name in pair)
        return not any(a & d or c & b for a, b in one for c, d in other)


@dataclass(frozen=True)
class Motor:
    """An actuator that turns its command into a torque or force of one joint, or along a tendon."""

    name: str
    joint: str
    """Name of the velocity that it drives, or of a driven tendon."""
    gear: float
    """N m or N for a command of 1."""
    limits: tuple[float, float]
    """Of the command."""


@dataclass(frozen=True, eq=False)
class Robot:
    """A tree of joints with its shapes and motors."""

    name: str
    tree: Tree
    geoms: tuple[Geom, ...]
    motors: tuple[Motor, ...]
    start: TreeState
    """As its file places it, at rest."""
    keyframes: Mapping[str, TreeState]
    """States that its file names."""
    step_s: float
    """The time step that its file asks for."""
    notes: tuple[str, ...]
    """What its file says and the tree does not have, a line each."""
    loops: tuple[Loop | Gear, ...] = ()
    """Which the tree leaves open; `sim.steppers.bound_tree.BoundTree` closes them."""
    apart: Container[frozenset[str]] = frozenset()
    """Pairs of bodies that its file lets pass through each other."""
    loose: tuple[str, ...] = ()
    """Velocities of joints that no servo holds."""

    def torques(self, commands: Given) -> np.ndarray:
        """(nv + m,) `controls` of the tree, of joints and then of driven tendons, from the motors' commands, all or by
        name; each is kept to its limits. Raises InputError.
        """
        names = tuple(motor.name for motor in self.motors)
        given = numbers(f"commands of {self.name}", commands, names)
        torques = np.zeros(len(self.tree.effort_names))
        for motor, command in zip(self.motors, given, strict=True):
            at = self.tree.effort_names.index(motor.joint)
            torques[at] += motor.gear * np.clip(command, *motor.limits)
        return torques


MOST_TOUCHING = 24
"""Capsules whose ends feel the ground: each end that touches costs a solution of the tree."""
_CORNER_M = 1e-3
"""Radius of a corner."""
_ROUND = ("sphere", "capsule", "ellipsoid", "cylinder")


def capsules_of(geoms: Sequence[Geom]) -> tuple[Link, ...]:
    """Unseen ones: along each shape, and between the corners of boxes and meshes.

    What does not move goes with the stand. Planes are left out: the world has a ground of its own.
    """
    found = [capsule for geom in geoms if geom.shape != "plane" for capsule in _about(geom)]
    touching = [k for k, capsule in enumerate(found) if any(capsule.touches)]
    if len(touching) > MOST_TOUCHING:
        # Balls are what robots stand on.
        balls = [k for k in touching if found[k].begin_b == found[k].end_b][:MOST_TOUCHING]
        others = [k for k in touching if k not in balls]
        even = np.linspace(0, len(others) - 1, MOST_TOUCHING - len(balls)).astype(int)
        for k in set(touching).difference(balls, np.array(others, int)[even].tolist()):
            found[k] = replace(found[k], touches=(False, False))
    return tuple(found)


def _about(geom: Geom) -> Iterable[Link]:
    half, middle = extents(geom)
    long, thick = int(np.argmax(half)), float(np.sort(half)[1])
    reach = max(float(half[long]) - thick, 0.0)
    way, is_round = reach * np.eye(3)[long], geom.shape in _ROUND
    yield _capsule(geom, middle - way, middle + way, thick, (is_round, is_round and reach > 0.0))
    if is_round:
        return
    corners = np.array([*product((-1.0, 1.0), repeat=3)])
    points = geom.vertices if len(geom.vertices) else corners * half
    outermost = points[np.argmax(points @ (corners / np.maximum(half, 1e-9)).T, axis=0)]
    for k in range(8):
        if corners[k, long] < 0.0:
            other = int(
                np.flatnonzero((corners == corners[k] * (1.0 - 2.0 * np.eye(3)[long])).all(axis=1))[0]
            )
            yield _capsule(geom, outermost[k], outermost[other], _CORNER_M, (True, True))


_HULL_WAYS = 14
"""Directions in which the outermost points of a mesh make its hull."""


def hull_of(geom: Geom) -> Shape | None:
    """Of a mesh, a convex one of few points, or a box where it is flat; None where its file was not read."""
    if not len(geom.vertices):
        return None
    # Evenly spread over the ball, by the golden angle.
    k = np.arange(_HULL_WAYS) + 0.5
    height, turned = 1.0 - 2.0 * k / _HULL_WAYS, k * math.pi * (3.0 - math.sqrt(5.0))
    ring = np.sqrt(1.0 - height**2)
    ways = np.column_stack([ring * np.cos(turned), ring * np.sin(turned), height])
    half, middle = extents(geom)
    outermost = np.unique(np.argmax(geom.vertices @ (ways / np.maximum(half, 1e-9)).T, axis=0))
    points = geom.vertices[outermost].tolist()
    hull = ConvexMesh(tuple((float(x), float(y), float(z)) for x, y, z in points))
    try:
        hull.solid()
    except (InputError, ValueError):
        x, y, z = np.maximum(half, _CORNER_M).tolist()
        return Box(triple(middle), (x, y, z))
    return hull


def extents(geom: Geom) -> tuple[np.ndarray, np.ndarray]:
    """((3,) half of a shape's box in its own frame, (3,) its middle) [m]."""
    if geom.shape == "mesh" and not len(geom.vertices):
        return np.array(geom.size_m, float), np.zeros(3)
    points = geom.vertices if geom.shape == "mesh" else geom.surface()[0]
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (high - low), 0.5 * (high + low)


def lowest_m(geom: Geom, T: np.ndarray) -> float:
    """Height of the lowest point of a shape whose frame is T (4, 4); of the box about what is round."""
    if geom.shape == "mesh" and len(geom.vertices):
        return float((geom.vertices @ T[2, :3]).min() + T[2, 3])
    half, middle = extents(geom)
    return float(T[2, :3] @ middle + T[2, 3] - np.abs(T[2, :3]) @ half)


def _capsule(
    geom: Geom, begin: np.ndarray, end: np.ndarray, radius_m: float, touches: tuple[bool, bool]
) -> Link:
    (x, y, z), (a, b, c) = ((geom.T[:3, :3] @ point + geom.T[:3, 3]).tolist() for point in (begin, end))
    body = STAND if geom.body == WORLD else geom.body
    return Link(body, (x, y, z), (a, b, c), radius_m, UNSEEN, touches)
