"""What a tree's bodies look like where nothing else is said of them: capsules along their links."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sim.groups.numeric import triple
from sim.multibody.arrays import BALL, COORDINATE, REVOLUTE
from sim.multibody.tree import Tree
from sim.multibody.wraps import MOVING, SIDED, WITHIN, bent
from sim.platform.values import dataclass
from sim.shapes import Capsule, Shape, Sphere

STEEL, DARK_STEEL, BRASS, PAINTED, RUBBER, LIGHT, ROPE, WOOD = range(8)
"""Finishes. Capsules of rope that follow one another are one smooth strand."""
UNSEEN = -1
"""The finish of what is taken hold of and touches the ground, while something else is drawn of it."""
STAND = "stand"
"""Name of what stands still about the fixed point of what is held at one."""
_SLENDER = 0.11
"""Radius of a link as a fraction of its length."""
_LEAST_M = 1e-3


@dataclass(frozen=True, slots=True)
class Link:
    """All points within `radius_m` of a segment, in a body's frame."""

    body: str
    begin_b: tuple[float, float, float]
    """m."""
    end_b: tuple[float, float, float]
    radius_m: float
    finish: int = STEEL
    """What it is made of."""
    touches: tuple[bool, bool] = (True, True)
    """Whether its ends feel the ground."""

    @property
    def length_m(self) -> float:
        """Between the centres of its ends."""
        return float(np.linalg.norm(np.subtract(self.end_b, self.begin_b)))


@dataclass(frozen=True, slots=True, eq=False)
class Touching:
    """A solid of a body, which meets other bodies."""

    body: str
    """STAND: it stays where the tree is held."""
    shape: Shape
    T_b: np.ndarray
    """(4, 4) of the shape's own frame in the body's."""

    @classmethod
    def of_link(cls, link: Link) -> "Touching":
        if link.length_m < _LEAST_M:
            return cls(link.body, Sphere(link.begin_b, link.radius_m), np.eye(4))
        return cls(link.body, Capsule(link.begin_b, link.end_b, link.radius_m), np.eye(4))


def joined(tree: Tree, bodies: Sequence[str]) -> np.ndarray:
    """(k, k) bool: which two of these are the same in the arrays, or joined to each other, and so never meet. STAND is
    what holds the tree."""
    declared, above = set(tree.carriers.tolist()), []
    for k in tree.carriers.tolist():
        i = int(tree.arrays.parent[k]) if k >= 0 else -1
        while i >= 0 and i not in declared:
            i = int(tree.arrays.parent[i])
        above.append(i)
    of = [None if name == STAND else tree.names.index(name) for name in bodies]
    own = np.array([-1 if k is None else int(tree.carriers[k]) for k in of])
    up = np.array([-2 if k is None else above[k] for k in of])
    carries: np.ndarray = up[:, None] == own
    return (own[:, None] == own) | carries | carries.T


def links_of(tree: Tree) -> tuple[Link, ...]:
    """A capsule from each body's joint to each of the joints that it carries; of a leaf as far as its mass reaches."""
    a = tree.arrays
    shapes = []
    for k, (name, carrier, T) in enumerate(zip(tree.names, tree.carriers, tree.offsets, strict=True)):
        children = [j for j, parent in enumerate(a.parent) if parent == carrier]
        ends = [
            a.placement[j, 9:] for j in children if np.linalg.norm(a.placement[j, 9:] - T[:3, 3]) > _LEAST_M
        ]
        if not ends and a.mass[carrier] > 0.0:
            ends = [2.0 * a.moment[carrier] / a.mass[carrier] - T[:3, 3]]
        for end in ends:
            end_b, finish = T[:3, :3].T @ (end - T[:3, 3]), DARK_STEEL if k % 2 else STEEL
            length = float(np.linalg.norm(end_b))
            if length > _LEAST_M:
                shapes.append(Link(name, (0.0, 0.0, 0.0), triple(end_b), _SLENDER * length, finish))
    return tuple(shapes)


def hinges_of(tree: Tree, shapes: Sequence[Link]) -> tuple[Link, ...]:
    """A pin along the axis of each hinge, a ball at each ball joint, as thick as the links that meet there."""
    a, pins = tree.arrays, []
    thick = {shape.body: shape.radius_m for shape in reversed(shapes) if shape.finish not in (ROPE, UNSEEN)}
    for name, carrier, T in zip(tree.names, tree.carriers, tree.offsets, strict=True):
        if name not in thick or np.linalg.norm(T[:3, 3]) > _LEAST_M:
            continue
        radius = thick[name]
        if a.kind[carrier] == REVOLUTE:
            axis = 1.35 * radius * T[:3, :3].T[:, 2]
            pins.append(Link(name, triple(-axis), triple(axis), 0.5 * radius, BRASS))
        elif a.kind[carrier] == BALL:
            pins.append(Link(name, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.2 * radius, BRASS))
    return tuple(pins)


def gallows(height_m: float) -> tuple[Link, ...]:
    """What holds a tree by a point at that height: a post beside it, an arm and a hook, about that point."""
    thick, aside, above = 0.03 + 0.005 * height_m, 0.5 + 0.14 * height_m, 0.25 + 0.02 * height_m
    top, foot = (0.0, aside, above), (0.0, aside, -height_m)
    return (
        Link(STAND, foot, top, 1.5 * thick, RUBBER),
        Link(STAND, top, (0.0, -0.3 * aside, above), thick, RUBBER),
        Link(STAND, (0.0, 0.0, above), (0.0, 0.0, 0.0), 0.6 * thick, BRASS),
    )


def touching_points(tree: Tree, shapes: Sequence[Link]) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of each capsule as spheres: bodies of the arrays (k,); (k, 4) centres in their frames and radii [m].

    Ends that coincide are one, the thicker.
    """
    found: dict[tuple[int, float, float, float], float] = {}
    for shape in shapes:
        index = tree.names.index(shape.body)
        T = tree.offsets[index]
        for place, touches in zip((shape.begin_b, shape.end_b), shape.touches, strict=True):
            if not touches:
                continue
            x, y, z = np.round(T[:3, :3] @ np.array(place) + T[:3, 3], 9).tolist()
            key = int(tree.carriers[index]), x, y, z
            found[key] = max(found.get(key, 0.0), shape.radius_m)
    carriers = np.array([key[0] for key in found], np.int64)
    return carriers, np.array([(*key[1:], radius) for key, radius in found.items()]).reshape(-1, 4)


End = tuple[str, np.ndarray]
"""A point (3,) in the frame of a body, STAND for the world."""
_ARC = 24
"""Straight pieces that an arc is drawn of."""


@dataclass(frozen=True, eq=False)
class Cord:
    """What is drawn between two points, straight or round a shape."""

    one: End
    other: End
    round: tuple[str, np.ndarray, int] | None = None
    """Body of the shape, its row as `TreeArrays.wraps` has them in that body's frame, and how the cord goes."""
    beside: End | None = None
    """The point on whose side it goes, where another body carries it."""

    @property
    def bodies(self) -> set[str]:
        """That carry its ends, the shape and the point beside it."""
        shape = () if self.round is None else (self.round[0],)
        return {self.one[0], self.other[0], *shape, *(() if self.beside is None else (self.beside[0],))}

    def points_w(self, bodies: Mapping[str, np.ndarray]) -> np.ndarray:
        """(k, 3) along it, by the bodies' poses (4, 4)."""

        def place(end: End) -> np.ndarray:
            return np.asarray(bodies[end[0]] @ (*end[1], 1.0))[:3]

        p, q = place(self.one), place(self.other)
        if self.round is None:
            return np.array([p, q])
        body, row, how = self.round
        T = bodies[body]
        centre = T[:3, :3] @ row[:3] + T[:3, 3]
        axis, side = T[:3, :3] @ row[3:6], T[:3, :3] @ row[7:10]
        if self.beside is not None:
            side = place(self.beside) - centre
            how = WITHIN if float(side @ side) < row[6] ** 2 else SIDED
        return centre + _points_round(p - centre, q - centre, axis, float(row[6]), side, how)


def _points_round(
    p: np.ndarray, q: np.ndarray, axis: np.ndarray, radius: float, side: np.ndarray, how: int
) -> np.ndarray:
    """(k, 3) along the string that `wraps.bent` measures."""
    length, leaves, _ = bent(triple(p), triple(q), triple(axis), radius, triple(side), how)
    if abs(length - np.linalg.norm(p - q)) < 1e-9 * length:
        return np.array([p, q])
    h, climb = float(axis @ p), float(axis @ (q - p))
    flat = math.sqrt(float(length) ** 2 - climb**2)
    a, b = p - h * axis, q - (h + climb) * axis
    along = np.asarray(leaves) - axis * (axis @ np.asarray(leaves))
    along /= np.linalg.norm(along)
    begin = float(a @ along)
    if how == WITHIN:
        begin -= math.sqrt(max(begin**2 - float(a @ a) + radius**2, 0.0))
        turns = np.zeros(1)
    else:
        end = math.sqrt(max(float(b @ b) - radius**2, 0.0))
        turns = np.linspace(0.0, (flat - begin - end) / radius, _ARC)
    touched = a - begin * along
    onwards = -along - touched * (touched @ -along) / radius**2
    onwards *= radius / (float(np.linalg.norm(onwards)) or 1.0)
    arc = np.outer(np.cos(turns), touched) + np.outer(np.sin(turns), onwards)
    heights = h + climb * (begin + radius * turns) / flat
    return np.array([p, *(arc + np.outer(heights, axis)), q])


def cords_of(tree: Tree) -> tuple[Cord, ...]:
    """Of its springs and tendons."""
    a, carriers = tree.arrays, tree.carriers.tolist()

    def place(carrier: int) -> tuple[str, np.ndarray]:
        """(name, pose (4, 4) of the carrier in it)."""
        if carrier < 0:
            return STAND, np.eye(4)
        body = carriers.index(carrier)
        return tree.names[body], np.linalg.inv(tree.offsets[body])

    def end(carrier: int, x: np.ndarray) -> End:
        name, T = place(carrier)
        return name, T[:3, :3] @ x + T[:3, 3]

    def shape(w: int) -> tuple[str, np.ndarray, int] | None:
        if w < 0:
            return None
        row, (carrier, how, _) = a.wraps[w], a.wrap_carriers[w].tolist()
        name, T = place(carrier)
        R = T[:3, :3]
        return name, np.r_[R @ row[:3] + T[:3, 3], R @ row[3:6], row[6], R @ row[7:10]], how

    def beside(w: int) -> End | None:
        moving = w >= 0 and a.wrap_carriers[w, 1] == MOVING
        return end(int(a.wrap_carriers[w, 2]), a.wraps[w, 7:10]) if moving else None

    seen = a.part_starts[np.count_nonzero(a.springs[:, 4] == 0.0)]  # after which limits go the same way
    return tuple(
        Cord(end(int(i), row[:3]), end(int(j), row[3:6]), shape(int(w)), beside(int(w)))
        for (i, j, w), row in zip(a.part_carriers[:seen], a.parts[:seen], strict=True)
        if j != COORDINATE
    )


def observed_points(tree: Tree, carriers: np.ndarray, spheres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those spheres by the bodies that are observed: their indices (k,), and (k, 4) in their frames."""
    bodies = np.array([tree.carriers.tolist().index(carrier) for carrier in carriers], np.int64)
    found = spheres.copy()
    for row, body in zip(found, bodies, strict=True):
        T = tree.offsets[body]
        row[:3] = T[:3, :3].T @ (row[:3] - T[:3, 3])
    return bodies, found
