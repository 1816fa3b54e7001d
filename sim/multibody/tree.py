"""Trees of bodies and joints: declared by names and SI units, turned into the arrays of the recursions."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sim.groups.numeric import pose_matrix, skew, upright
from sim.multibody.arrays import (
    BALL,
    COORDINATE,
    COORDINATES,
    FREE,
    PRISMATIC,
    REVOLUTE,
    VELOCITIES,
    TreeArrays,
)
from sim.multibody.declaration import (
    WORLD,
    Body,
    Given,
    Joint,
    Spring,
    Strand,
    Tendon,
    TreeState,
    Wrap,
    aligned,
    called,
    checked_joints,
    checked_limits,
    checked_spring,
    numbers,
    refuse,
    rotation,
    shifted,
    spatial_inertia,
    tendon_of,
    vector,
)
from sim.multibody.wraps import MOVING, SHORTEST, SIDED, WITHIN
from sim.platform.errors import InputError, array_of, number, one_of, quote
from sim.platform.values import dataclass

__all__ = ["WORLD", "Body", "Joint", "Strand", "Spring", "Tendon", "Tree", "Wrap", "tree"]

_COORDINATE_NAMES = {
    BALL: ("qw", "qx", "qy", "qz"),
    FREE: ("qw", "qx", "qy", "qz", "x", "y", "z"),
}
_MOVES = {REVOLUTE: slice(2, 3), PRISMATIC: slice(5, 6), BALL: slice(0, 3), FREE: slice(0, 6)}
"""Components of (omega, v) that each kind of joint gives to its body."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A declared tree with its arrays."""

    arrays: TreeArrays
    names: tuple[str, ...]
    """Of the bodies as declared."""
    carriers: np.ndarray
    """(bodies,) which body of the arrays carries each declared one."""
    offsets: np.ndarray
    """(bodies, 4, 4) pose of each declared body in its carrier's frame."""
    velocity_names: tuple[str, ...]
    """(nv,) e.g. "knee", "hip wx"."""
    coordinate_names: tuple[str, ...]
    """(nq,)"""
    q0: np.ndarray
    """(nq,) all joints at zero."""
    spring_names: tuple[str, ...] = ()
    """(k,) of springs, last those that are limits; nothing but of tendons that have one."""

    def __repr__(self) -> str:
        return f"<Tree: {len(self.names)} bodies, {self.nv} degrees of freedom>"

    @property
    def effort_names(self) -> tuple[str, ...]:
        """(nv + m,) what controls can drive: velocities, then tendons that are driven."""
        return (*self.velocity_names, *(self.spring_names[k] for k in self.arrays.driven))

    @property
    def n(self) -> int:
        """Bodies of the arrays: fixed ones are merged, universal and planar joints have massless ones between."""
        return len(self.arrays.parent)

    @property
    def nq(self) -> int:
        return len(self.q0)

    @property
    def nv(self) -> int:
        return len(self.velocity_names)

    def state(self, q: Given = MappingProxyType({}), v: Given = MappingProxyType({})) -> TreeState:
        """A state to start from: all coordinates and velocities, or some by the names of the joints.

        Those not named are as with all joints at zero and at rest. Quaternions are made unit ones. Raises InputError.
        """
        coordinates = numbers("q of the tree", q, self.coordinate_names, self.q0)
        for i in np.flatnonzero((self.arrays.kind == BALL) | (self.arrays.kind == FREE)):
            at = int(self.arrays.q_at[i])
            turned = coordinates[at : at + 4]
            length = float(np.linalg.norm(turned))
            if not 0.5 < length < 2.0:
                raise InputError(
                    f"q of the tree: {self.coordinate_names[at]!r} to {self.coordinate_names[at + 3]!r} are no unit "
                    f"quaternion, their length is {length:g}"
                )
            turned /= length
        return TreeState(coordinates, numbers("v of the tree", v, self.velocity_names))


@dataclass
class _Assembly:
    """Rows of the arrays while bodies are added."""

    parent: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    placement: list[np.ndarray] = field(default_factory=list)
    inertia: list[np.ndarray] = field(default_factory=list)
    mass: list[float] = field(default_factory=list)
    moment: list[np.ndarray] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    air: list[tuple[int, np.ndarray, float]] = field(default_factory=list)
    rotors: list[tuple[int, np.ndarray]] = field(default_factory=list)

    def add(self, parent: int, kind: int, T: np.ndarray, joint: Joint, label: str) -> int:
        self.parent.append(parent)
        self.kind.append(kind)
        self.placement.append(np.r_[T[:3, :3].ravel(), T[:3, 3]])
        self.inertia.append(np.zeros((6, 6)))
        self.mass.append(0.0)
        self.moment.append(np.zeros(3))
        self.joints.append(joint)
        self.labels.append(label)
        return len(self.parent) - 1

    def load(self, i: int, T: np.ndarray, body: Body) -> None:
        """Put a declared body's inertia on body i, in whose frame it has pose T."""
        self.inertia[i] = self.inertia[i] + shifted(spatial_inertia(body), T)
        self.mass[i] += float(body.mass)
        drag = number(f"body {quote(body.name)}: drag", body.drag, low=0.0)
        if drag:
            self.air.append((i, T[:3, 3], drag))
        rotor = vector(body, "rotor_momentum", body.rotor_momentum)
        if rotor.any():
            self.rotors.append((i, T[:3, :3] @ rotor))
        centre = T[:3, :3] @ np.asarray(body.centre, float) + T[:3, 3]
        self.moment[i] = self.moment[i] + float(body.mass) * centre


def _simple(body: Body, joint: Joint, name: str) -> list[tuple[int, np.ndarray, str]]:
    """(kind, rotation of its frame against the joint's own, name) of the simple joints that make up this one."""
    if joint.kind == "ball":
        return [(BALL, np.eye(3), name)]
    if joint.kind == "free":
        return [(FREE, np.eye(3), name)]
    A = aligned(body, "axis", joint.axis)
    if joint.kind == "universal":
        second = aligned(body, "second_axis", joint.second_axis)
        if abs(A[:, 2] @ second[:, 2]) > 1.0 - 1e-9:
            raise refuse(body, "the two axes of its universal joint are parallel")
        return [(REVOLUTE, A, f"{name} first"), (REVOLUTE, second, f"{name} second")]
    if joint.kind == "planar":
        x, y = np.column_stack((A[:, 1], A[:, 2], A[:, 0])), np.column_stack((A[:, 2], A[:, 0], A[:, 1]))
        return [(PRISMATIC, x, f"{name} x"), (PRISMATIC, y, f"{name} y"), (REVOLUTE, A, f"{name} turn")]
    return [(REVOLUTE if joint.kind == "revolute" else PRISMATIC, A, name)]


def _motion(kind: int, q: float) -> np.ndarray:
    """(4, 4) of a revolute or prismatic joint."""
    if kind == PRISMATIC:
        return pose_matrix(np.eye(3), np.array([0.0, 0.0, q]))
    return pose_matrix(upright(q), np.zeros(3))


def _carry(rows: _Assembly, body: Body, carrier: int, T: np.ndarray) -> tuple[int, np.ndarray]:
    """(what carries it, its pose in that one's frame); T: where it stands in the frame of its parent's carrier."""
    joints = checked_joints(body)
    if joints[0].kind == "fixed":
        if carrier < 0:
            raise refuse(body, "is fixed to the world: it does not move")
        return carrier, T
    for k, joint in enumerate(joints):
        name = joint.name or (body.name if len(joints) == 1 else f"{body.name} {k + 1}")
        for kind, A, label in _simple(body, joint, name):
            frame = pose_matrix(A, np.asarray(joint.anchor, float))
            back = _motion(kind, -joint.reference) if joint.reference else np.eye(4)
            carrier = rows.add(carrier, kind, T @ frame @ back, joint, label)
            T = pose_matrix(A.T, -A.T @ frame[:3, 3])
    return carrier, T


def tree(
    bodies: Sequence[Body],
    gravity_w: ArrayLike = (0.0, 0.0, -9.81),
    *,
    wind_w: ArrayLike = (0.0, 0.0, 0.0),
    springs: Sequence[Spring | Tendon] = (),
) -> Tree:
    """Arrays of a tree of bodies, every parent declared before its children; raises InputError in one line.

    wind_w: (3,) velocity of the air [m/s], which acts on bodies with `drag`. springs: between points of the bodies,
    along strands through several, and between joints. Bodies on fixed joints are merged into what carries them.
    Universal and planar joints become two and three simple ones with massless bodies between, several joints of a body
    likewise.
    """
    if not isinstance(bodies, tuple | list) or not all(isinstance(body, Body) for body in bodies):
        raise InputError(f"bodies = {quote(bodies)} are none; allowed: a list of sim.Body")
    gravity = array_of("gravity_w of the tree", gravity_w, (3,))
    wind = array_of("wind_w of the tree", wind_w, (3,))
    rows = _Assembly()
    where: dict[str, tuple[int, np.ndarray]] = {WORLD: (-1, np.eye(4))}
    for body in bodies:
        if not isinstance(body.name, str) or not body.name:
            raise InputError(f"a body's name is {quote(body.name)}; wanted: text")
        if body.name in where:
            raise refuse(body, "declared twice" if body.name != WORLD else f"{WORLD!r} is the ground's name")
        if not isinstance(body.parent, str):
            raise refuse(body, f"its parent is {quote(body.parent)}; allowed: a body's name")
        if body.parent not in where:
            later = any(body.parent == other.name for other in bodies)
            raise refuse(
                body,
                f"its parent {body.parent!r} comes after it: a tree has no loops, parents stand first"
                if later
                else f"unknown parent {body.parent!r}",
            )
        carrier, T = where[body.parent]
        stands = T @ pose_matrix(rotation(body), vector(body, "position", body.position))
        carrier, T = _carry(rows, body, carrier, stands)
        rows.load(carrier, T, body)
        where[body.name] = (carrier, T)
    if not rows.parent:
        raise InputError("a tree has at least one body that moves")
    return with_springs(_arrays(rows, bodies, where, gravity, wind), springs)


def point_of(tree: Tree, name: str, point: ArrayLike) -> tuple[int, np.ndarray]:
    """(body of the arrays or -1, the point in its frame) of a declared body's point. Raises InputError."""
    x = array_of(f"a point of {quote(name)}", point, (3,))
    if name == WORLD:
        return -1, x
    if name not in tree.names:
        raise InputError(f"unknown body {quote(name)}; allowed: {one_of((*tree.names, WORLD), name)}")
    k = tree.names.index(name)
    return int(tree.carriers[k]), tree.offsets[k][:3, :3] @ x + tree.offsets[k][:3, 3]


def hinge_or_slide(tree: Tree, name: str) -> int:
    """The body of the arrays that the joint of a coordinate carries. Raises InputError for other joints."""
    if name not in tree.coordinate_names:
        raise InputError(f"unknown joint {quote(name)}; allowed: {one_of(tree.coordinate_names, name)}")
    body = int(np.flatnonzero(tree.arrays.q_at <= tree.coordinate_names.index(name))[-1])
    if tree.arrays.kind[body] in (BALL, FREE):
        raise InputError(f"{quote(name)} is one of several coordinates; allowed: hinges and slides")
    return body


def is_angle(tree: Tree, k: int) -> bool:
    """Whether the length of spring k is an angle: it is of hinges alone."""
    a = tree.arrays
    own = a.part_carriers[a.part_starts[k] : a.part_starts[k + 1], :2]
    return all(j == COORDINATE and a.kind[i] == REVOLUTE for i, j in own)


class _Part(NamedTuple):
    """One of a spring's length."""

    one: int
    other: int
    row: np.ndarray
    """Of `TreeArrays.parts`."""
    wrap: tuple[tuple[int, int, int], np.ndarray] | None = None
    """Rows of `TreeArrays.wrap_carriers` and `wraps`."""

    @property
    def moves(self) -> bool:
        own = {self.one, self.other} if self.wrap is None else {self.one, self.other, self.wrap[0][0]}
        return len(own) > 1


def _wrap_rows(tree: Tree, wrap: Wrap) -> tuple[tuple[int, int, int], np.ndarray]:
    body, centre = point_of(tree, wrap.body, wrap.centre)
    radius = number("radius of a wrap", wrap.radius)
    if not radius > 0.0:
        raise InputError(f"radius of a wrap = {quote(wrap.radius)}; allowed: above 0")
    axis, side, how, beside = np.zeros(3), np.zeros(3), SHORTEST, body
    if wrap.axis is not None:
        along = array_of("axis of a wrap", wrap.axis, (3,))
        if not np.linalg.norm(along) > 1e-12:
            raise InputError("axis of a wrap has no direction")
        end = point_of(tree, wrap.body, np.asarray(wrap.centre) + along / np.linalg.norm(along))[1]
        axis = end - centre
    if wrap.side is not None:
        beside, side = point_of(tree, wrap.side_body or wrap.body, wrap.side)
        if beside == body:
            side = side - centre
            how = WITHIN if np.linalg.norm(side) < radius else SIDED
        else:
            how = MOVING
    return (body, how, beside), np.r_[centre, axis, radius, side]


def _strand_parts(tree: Tree, strand: Strand) -> list[_Part]:
    if not isinstance(strand, Strand):
        raise InputError(f"a strand = {quote(strand)} is none; allowed: a sim.Strand")
    divisor = number("divisor of a strand", strand.divisor)
    if not divisor > 0.0:
        raise InputError(f"divisor of a strand = {quote(strand.divisor)}; allowed: above 0")
    given = strand.points if isinstance(strand.points, tuple | list) else ()
    points = [each for each in given if not isinstance(each, Wrap)]
    if len(points) < 2 or not all(isinstance(each, tuple | list) and len(each) == 2 for each in points):
        raise InputError(
            f"points of a strand = {quote(strand.points)}; allowed: two or more of (body, point)"
        )
    if any(isinstance(each, Wrap) for each in (given[0], given[-1])) or any(
        isinstance(one, Wrap) and isinstance(other, Wrap) for one, other in pairwise(given)
    ):
        raise InputError("a wrap of a strand has no point before or after it; allowed: one wrap between two")
    parts, before, between = list[_Part](), None, None
    for each in given:
        if isinstance(each, Wrap):
            between = _wrap_rows(tree, each)
            continue
        here = point_of(tree, *each)
        if before is not None:
            row = np.r_[before[1], here[1], 1.0 / divisor]
            parts.append(_Part(before[0], here[0], row, between))
        before, between = here, None
    return parts


def _parts(tree: Tree, tendon: Tendon) -> list[_Part]:
    if not isinstance(tendon.strands, tuple | list):
        raise InputError(f"strands = {quote(tendon.strands)} are none; allowed: a list of sim.Strand")
    if not isinstance(tendon.joints, Mapping):
        raise InputError(f"joints = {quote(tendon.joints)} are none; allowed: numbers by joints' names")
    parts = [part for strand in tendon.strands for part in _strand_parts(tree, strand)]
    for name, share in tendon.joints.items():
        times = number(f"joint {quote(name)}", share)
        parts.append(_Part(hinge_or_slide(tree, name), COORDINATE, np.r_[np.zeros(6), times]))
    return parts


def with_springs(tree: Tree, springs: Sequence[Spring | Tendon]) -> Tree:
    """The tree with these and no others between its bodies. Raises InputError."""
    if not isinstance(springs, tuple | list) or not all(isinstance(s, Spring | Tendon) for s in springs):
        raise InputError(f"springs = {quote(springs)} are none; allowed: a list of sim.Spring and sim.Tendon")
    made = list[tuple[list[_Part], tuple[float, ...]]]()
    limited = list[tuple[str, list[_Part], tuple[float, ...]]]()
    for spring in springs:
        tendon = tendon_of(spring)
        try:
            own = _parts(tree, tendon)
        except InputError as error:
            raise InputError(f"{called(spring)}: {error}") from None
        if not any(part.moves for part in own):
            raise InputError(f"{called(spring)}: its points do not move apart")
        made.append((own, checked_spring(spring)))
        if (limits := checked_limits(tendon)) is not None:
            limited.append((tendon.name or "a tendon", own, (0.0, *limits, 0.0, 1.0, 0.0, 0.0)))
    every = [*made, *((own, row) for _, own, row in limited)]
    parts = [part for own, _ in every for part in own]
    wraps = [part.wrap for part in parts if part.wrap is not None]
    numbers_of_wraps = iter(range(len(wraps)))
    carriers = [(p.one, p.other, -1 if p.wrap is None else next(numbers_of_wraps)) for p in parts]
    arrays = tree.arrays._replace(
        springs=np.array([row for _, row in every]).reshape(-1, 7),
        driven=_driven(tree, springs),
        part_starts=np.cumsum([0, *(len(own) for own, _ in every)]),
        part_carriers=np.array(carriers, np.int64).reshape(-1, 3),
        parts=np.array([part.row for part in parts]).reshape(-1, 7),
        wrap_carriers=np.array([carrier for carrier, _ in wraps], np.int64).reshape(-1, 3),
        wraps=np.array([row for _, row in wraps]).reshape(-1, 10),
    )
    names = tuple(spring.name if isinstance(spring, Tendon) else "" for spring in springs)
    return replace(tree, arrays=arrays, spring_names=(*names, *(name for name, _, _ in limited)))


def _driven(tree: Tree, springs: Sequence[Spring | Tendon]) -> np.ndarray:
    """Those along which controls have forces. Raises InputError where such a one has no name of its own."""
    found = [k for k, spring in enumerate(springs) if isinstance(spring, Tendon) and spring.driven]
    taken = {*tree.velocity_names, *tree.coordinate_names}
    for k in found:
        name = springs[k].name  # type: ignore[union-attr]
        if not isinstance(name, str) or not name or name in taken:
            raise InputError(f"a driven tendon's name is {quote(name)}; allowed: one that nothing else has")
        taken.add(name)
    return np.array(found, np.int64)


def _is_rigid(G: np.ndarray, mass: float, moment: np.ndarray) -> bool:
    """Whether a 6x6 inertia weighs all that it moves."""
    away = max(np.abs(G[:3, 3:] - skew(moment)).max(), np.abs(G[3:, 3:] - mass * np.eye(3)).max())
    return bool(away <= 1e-14 * max(mass, np.abs(G[:, 3:]).max()))


def _check_inertia(rows: _Assembly, armature: np.ndarray) -> None:
    """Refuses joints that move nothing which has inertia. All that a joint carries counts, with all joints at zero."""
    borne = [np.array(G) for G in rows.inertia]
    for i in range(len(borne) - 1, -1, -1):
        moved = borne[i][_MOVES[rows.kind[i]], _MOVES[rows.kind[i]]]
        least = moved[0, 0] if len(moved) == 1 else np.linalg.eigvalsh(moved).min()
        if least + armature[i] <= 1e-12:
            raise InputError(f"joint {rows.labels[i]!r}: what it moves has no inertia")
        if (j := rows.parent[i]) >= 0:
            T = pose_matrix(rows.placement[i][:9].reshape(3, 3), rows.placement[i][9:])
            borne[j] = borne[j] + shifted(borne[i], T)


def _arrays(
    rows: _Assembly,
    bodies: Sequence[Body],
    where: Mapping[str, tuple[int, np.ndarray]],
    gravity_w: np.ndarray,
    wind_w: np.ndarray,
) -> Tree:
    kind = np.array(rows.kind, np.int64)
    sizes_q, sizes_v = np.array(COORDINATES)[kind], np.array(VELOCITIES)[kind]
    q_at, v_at = np.r_[0, np.cumsum(sizes_q)[:-1]], np.r_[0, np.cumsum(sizes_v)[:-1]]
    nq, nv = int(sizes_q.sum()), int(sizes_v.sum())
    damping, armature, stiffness, rest = np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv)
    limits = np.tile([-np.inf, np.inf], (nv, 1))
    q0 = np.zeros(nq)
    velocity_names: list[str] = []
    coordinate_names: list[str] = []
    for i, joint in enumerate(rows.joints):
        at = slice(v_at[i], v_at[i] + sizes_v[i])
        damping[at], armature[at], limits[at] = joint.damping, joint.armature, joint.limits
        stiffness[at], rest[at] = joint.stiffness, joint.rest
        name = rows.labels[i]
        if kind[i] in (BALL, FREE):
            q0[q_at[i]] = 1.0
            coordinate_names += [f"{name} {c}" for c in _COORDINATE_NAMES[int(kind[i])]]
            velocity_names += [f"{name} {c}" for c in ("wx", "wy", "wz", "vx", "vy", "vz")[: sizes_v[i]]]
        else:
            coordinate_names.append(name)
            velocity_names.append(name)
    for names in (coordinate_names, velocity_names):
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise InputError(f"two joints of the tree have a coordinate {twice!r}; names have to differ")
    _check_inertia(rows, armature[v_at])
    upper = np.triu_indices(3)
    inertia = np.array(
        [np.r_[G[:3, :3][upper], G[:3, 3:].ravel(), G[3:, 3:][upper]] for G in rows.inertia], float
    )
    arrays = TreeArrays(
        parent=np.array(rows.parent, np.int64),
        kind=kind,
        q_at=q_at.astype(np.int64),
        v_at=v_at.astype(np.int64),
        placement=np.array(rows.placement),
        inertia=inertia,
        rigid=np.array([_is_rigid(*row) for row in zip(rows.inertia, rows.mass, rows.moment, strict=True)]),
        mass=np.array(rows.mass),
        moment=np.array(rows.moment),
        gravity_w=gravity_w,
        air_carriers=np.array([i for i, _, _ in rows.air], np.int64),
        air=np.array([[*at, drag] for _, at, drag in rows.air]).reshape(-1, 4),
        wind_w=wind_w,
        rotor_carriers=np.array([i for i, _ in rows.rotors], np.int64),
        rotors=np.array([rotor for _, rotor in rows.rotors]).reshape(-1, 3),
        springs=np.zeros((0, 7)),
        driven=np.zeros(0, np.int64),
        part_starts=np.zeros(1, np.int64),
        part_carriers=np.zeros((0, 3), np.int64),
        parts=np.zeros((0, 7)),
        wrap_carriers=np.zeros((0, 3), np.int64),
        wraps=np.zeros((0, 10)),
        damping=damping,
        armature=armature,
        stiffness=stiffness,
        rest=rest,
        limits=limits,
        limit_stiffness=np.zeros(nv),
        limit_damping=np.zeros(nv),
    )
    return Tree(
        arrays=arrays,
        names=tuple(b.name for b in bodies),
        carriers=np.array([where[b.name][0] for b in bodies]),
        offsets=np.array([where[b.name][1] for b in bodies]),
        velocity_names=tuple(velocity_names),
        coordinate_names=tuple(coordinate_names),
        q0=q0,
    )
