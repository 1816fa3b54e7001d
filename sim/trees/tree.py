"""Trees of bodies and joints: declared by names and SI units, turned into the arrays of the recursions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from sim.errors import InputError
from sim.trees.arrays import BALL, COORDINATES, FREE, PRISMATIC, REVOLUTE, VELOCITIES, TreeArrays
from sim.trees.state import Given, TreeState, numbers

JOINTS = ("revolute", "prismatic", "ball", "universal", "planar", "free", "fixed")
WORLD = "world"

_X, _Y, _Z = np.eye(3)
_COORDINATE_NAMES = {
    BALL: ("qw", "qx", "qy", "qz"),
    FREE: ("qw", "qx", "qy", "qz", "x", "y", "z"),
}


@dataclass(frozen=True, eq=False)
class Joint:
    """How a body is carried by its parent. Frames: the joint's is at (R, position) in the parent's body frame."""

    kind: str = "revolute"
    """One of JOINTS. Universal: turns about `axis`, then about `second_axis`. Planar: slides along two directions
    normal to `axis`, then turns about it."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """In the joint's frame; any length."""
    second_axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    damping: float = 0.0
    """N m s/rad or N s/m, for each of the joint's directions; free joints have none."""
    stiffness: float = 0.0
    """N m/rad or N/m. Ball joints: V = k (1 - cos(angle)). Free joints have none."""
    rest: float = 0.0
    """Coordinate at which the spring is at rest [rad or m]; ball joints: no rotation."""
    limits: tuple[float, float] = (-np.inf, np.inf)
    """Lowest and highest coordinate of a revolute or prismatic joint [rad or m]."""


@dataclass(frozen=True, eq=False)
class Body:
    """One rigid body; its frame is the joint's after the joint's motion."""

    name: str
    parent: str = WORLD
    joint: Joint = field(default_factory=Joint)
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of the joint's frame in the parent's frame [m]."""
    R: ArrayLike = field(default_factory=lambda: np.eye(3))
    """(3, 3) of the joint's frame in the parent's frame."""
    mass: float = 1.0
    """kg."""
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Centre of mass in the body's frame [m]."""
    inertia: ArrayLike = (0.0, 0.0, 0.0)
    """About the centre of mass [kg m^2]: three numbers of the diagonal, or (3, 3)."""
    added_inertia: ArrayLike | None = None
    """(6, 6) further inertia on (omega, v) about the body's origin that has no weight, e.g. of water moved along."""


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


def _refuse(body: Body, what: str) -> InputError:
    return InputError(f"body {body.name!r}: {what}")


def _vector(body: Body, what: str, value: ArrayLike) -> np.ndarray:
    try:
        x = np.asarray(value, float)
    except (TypeError, ValueError):
        raise _refuse(body, f"{what} is not numeric") from None
    if x.shape != (3,) or not np.all(np.isfinite(x)):
        raise _refuse(body, f"{what} = {value!r}; wanted three finite numbers")
    return x


def _rotation(body: Body) -> np.ndarray:
    R = np.asarray(body.R, float)
    if R.shape != (3, 3) or np.abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise _refuse(body, "R is no rotation matrix (3, 3)")
    return R


def _aligned(body: Body, what: str, axis: ArrayLike) -> np.ndarray:
    """A rotation whose third column is the axis."""
    z = _vector(body, what, axis)
    length = float(np.linalg.norm(z))
    if length < 1e-12:
        raise _refuse(body, f"{what} has no direction")
    z = z / length
    if z @ _Z > 1.0 - 1e-15:
        return np.eye(3)
    x = np.cross(_Y if abs(z @ _Y) < 0.9 else _X, z)
    x /= np.linalg.norm(x)
    return np.column_stack((x, np.cross(z, x), z))


def _spatial_inertia(body: Body) -> np.ndarray:
    """(6, 6) on (omega, v) about the body's origin."""
    mass = float(body.mass)
    if not (np.isfinite(mass) and mass >= 0.0):
        raise _refuse(body, f"mass = {body.mass!r}; allowed: from 0 kg")
    c = _vector(body, "centre", body.centre)
    J = np.asarray(body.inertia, float)
    J = np.diag(J) if J.shape == (3,) else J
    if (
        J.shape != (3, 3)
        or not np.all(np.isfinite(J))
        or np.abs(J - J.T).max() > 1e-9 * (1.0 + np.abs(J).max())
    ):
        raise _refuse(body, "inertia wants three numbers, or a symmetric (3, 3)")
    if np.linalg.eigvalsh(J).min() < -1e-12 * (1.0 + np.abs(J).max()):
        raise _refuse(body, "inertia has a negative principal moment")
    C = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    G = np.block([[J + mass * C @ C.T, mass * C], [mass * C.T, mass * np.eye(3)]])
    if body.added_inertia is not None:
        added = np.asarray(body.added_inertia, float)
        if added.shape != (6, 6) or np.abs(added - added.T).max() > 1e-9 * (1.0 + np.abs(added).max()):
            raise _refuse(body, "added_inertia wants a symmetric (6, 6)")
        if np.linalg.eigvalsh(added).min() < -1e-9 * (1.0 + np.abs(added).max()):
            raise _refuse(body, "added_inertia has a negative eigenvalue")
        G = G + added
    return G


def _shifted(G: np.ndarray, T: np.ndarray) -> np.ndarray:
    """A (6, 6) inertia seen from a frame in which its own has pose T."""
    R, p = T[:3, :3], T[:3, 3]
    P = np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
    to_body = np.block([[R.T, np.zeros((3, 3))], [-R.T @ P, R.T]])
    return to_body.T @ G @ to_body


def _pose(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


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
        self.inertia[i] = self.inertia[i] + _shifted(_spatial_inertia(body), T)
        self.mass[i] += float(body.mass)
        centre = T[:3, :3] @ np.asarray(body.centre, float) + T[:3, 3]
        self.moment[i] = self.moment[i] + float(body.mass) * centre


def _checked_joint(body: Body) -> Joint:
    joint = body.joint
    if joint.kind not in JOINTS:
        raise _refuse(body, f"unknown joint {joint.kind!r}; allowed: {', '.join(JOINTS)}")
    for what in ("damping", "stiffness"):
        value = float(getattr(joint, what))
        if not (np.isfinite(value) and value >= 0.0):
            raise _refuse(body, f"{what} = {value!r} of its joint; allowed: from 0")
        if value and joint.kind in ("free", "fixed"):
            raise _refuse(body, f"a {joint.kind} joint has no {what}")
    low, high = (float(x) for x in joint.limits)
    if not low < high:
        raise _refuse(body, f"limits {low:g} .. {high:g} of its joint are the wrong way round")
    if joint.kind not in ("revolute", "prismatic") and (low, high) != (-np.inf, np.inf):
        raise _refuse(body, f"a {joint.kind} joint has no limits")
    return joint


def _joints(body: Body, joint: Joint) -> list[tuple[int, np.ndarray, str]]:
    """(kind, rotation of its frame against the joint's own, suffix) of the simple joints that make up this one."""
    name = body.name
    if joint.kind == "ball":
        return [(BALL, np.eye(3), name)]
    if joint.kind == "free":
        return [(FREE, np.eye(3), name)]
    A = _aligned(body, "axis", joint.axis)
    if joint.kind == "universal":
        second = _aligned(body, "second_axis", joint.second_axis)
        if abs(A[:, 2] @ second[:, 2]) > 1.0 - 1e-9:
            raise _refuse(body, "the two axes of its universal joint are parallel")
        return [(REVOLUTE, A, f"{name} first"), (REVOLUTE, second, f"{name} second")]
    if joint.kind == "planar":
        x, y = np.column_stack((A[:, 1], A[:, 2], A[:, 0])), np.column_stack((A[:, 2], A[:, 0], A[:, 1]))
        return [(PRISMATIC, x, f"{name} x"), (PRISMATIC, y, f"{name} y"), (REVOLUTE, A, f"{name} turn")]
    return [(REVOLUTE if joint.kind == "revolute" else PRISMATIC, A, name)]


def tree(bodies: Sequence[Body], gravity_w: tuple[float, float, float] = (0.0, 0.0, -9.81)) -> Tree:
    """Arrays of a tree of bodies, every parent declared before its children; raises InputError in one line.

    Bodies on fixed joints are merged into what carries them. Universal and planar joints become two and three simple
    ones with massless bodies between.
    """
    rows = _Assembly()
    where: dict[str, tuple[int, np.ndarray]] = {WORLD: (-1, np.eye(4))}
    for body in bodies:
        if not isinstance(body.name, str) or not body.name:
            raise InputError(f"a body's name is {body.name!r}; wanted: text")
        if body.name in where:
            raise _refuse(body, "declared twice" if body.name != WORLD else f"{WORLD!r} is the ground's name")
        if body.parent not in where:
            later = any(body.parent == other.name for other in bodies)
            raise _refuse(
                body,
                f"its parent {body.parent!r} comes after it: a tree has no loops, parents stand first"
                if later
                else f"unknown parent {body.parent!r}",
            )
        joint = _checked_joint(body)
        carrier, T = where[body.parent]
        T = T @ _pose(_rotation(body), _vector(body, "position", body.position))
        if joint.kind == "fixed":
            if carrier < 0:
                raise _refuse(body, "is fixed to the world: it does not move")
        else:
            turned = np.eye(3)
            for kind, A, label in _joints(body, joint):
                carrier = rows.add(carrier, kind, T @ _pose(turned.T @ A, np.zeros(3)), joint, label)
                T, turned = np.eye(4), A
            T = _pose(turned.T, np.zeros(3))
        rows.load(carrier, T, body)
        where[body.name] = (carrier, T)
    if not rows.parent:
        raise InputError("a tree has at least one body that moves")
    return _arrays(rows, bodies, where, gravity_w)


def _arrays(
    rows: _Assembly,
    bodies: Sequence[Body],
    where: Mapping[str, tuple[int, np.ndarray]],
    gravity_w: tuple[float, float, float],
) -> Tree:
    kind = np.array(rows.kind, np.int64)
    sizes_q, sizes_v = np.array(COORDINATES)[kind], np.array(VELOCITIES)[kind]
    q_at, v_at = np.r_[0, np.cumsum(sizes_q)[:-1]], np.r_[0, np.cumsum(sizes_v)[:-1]]
    nq, nv = int(sizes_q.sum()), int(sizes_v.sum())
    damping, stiffness, rest = np.zeros(nv), np.zeros(nv), np.zeros(nv)
    limits = np.tile([-np.inf, np.inf], (nv, 1))
    q0 = np.zeros(nq)
    velocity_names: list[str] = []
    coordinate_names: list[str] = []
    for i, joint in enumerate(rows.joints):
        at = slice(v_at[i], v_at[i] + sizes_v[i])
        damping[at], stiffness[at], rest[at], limits[at] = (
            joint.damping,
            joint.stiffness,
            joint.rest,
            joint.limits,
        )
        name = rows.labels[i]
        if kind[i] in (BALL, FREE):
            q0[q_at[i]] = 1.0
            coordinate_names += [f"{name} {c}" for c in _COORDINATE_NAMES[int(kind[i])]]
            velocity_names += [f"{name} {c}" for c in ("wx", "wy", "wz", "vx", "vy", "vz")[: sizes_v[i]]]
        else:
            coordinate_names.append(name)
            velocity_names.append(name)
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
        mass=np.array(rows.mass),
        moment=np.array(rows.moment),
        gravity_w=np.asarray(gravity_w, float),
        damping=damping,
        stiffness=stiffness,
        rest=rest,
        limits=limits,
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
