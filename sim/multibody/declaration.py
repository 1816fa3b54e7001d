"""What a tree of joints is declared with: bodies and how their parents carry them.

Elastic rods and ropes: a Cosserat rod that neither shears nor stretches, as a chain of poses on ball joints.

Nodes are poses on SE(3), a link's length apart along -z of the one before; between two of them the turn is the
strain, which bending and twist stiffness resist: the springs' V is that of the rod's curvature held over the length
between the middles of two links. At a clamped end that is half a link. What is stiff and thin asks for short steps:
the fastest mode's period falls with the square of a link's length."""

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike

from sim.groups.numeric import cross, skew
from sim.platform.errors import InputError, array_of, number, numeric, one_of, quote, whole
from sim.platform.values import dataclass

JOINTS = ("revolute", "prismatic", "ball", "universal", "planar", "free", "fixed")
WORLD = "world"


@dataclass(frozen=True, eq=False)
class Joint:
    """How a body is carried by its parent. The joint's frame is the body's where it stands as declared."""

    kind: str = "revolute"
    """One of JOINTS. Universal: turns about `axis`, then about `second_axis`. Planar: slides along two directions
    normal to `axis`, then turns about it."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """In the joint's frame; any length."""
    second_axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    damping: float = 0.0
    """N m s/rad or N s/m, for each of the joint's directions; free joints have none."""
    armature: float = 0.0
    """Inertia of a rotor that turns with the coordinate, as its gear shows it [kg m^2 or kg], in each of the joint's
    directions; free joints have none."""
    stiffness: float | tuple[float, float, float] = 0.0
    """N m/rad or N/m. Ball joints: V = k (1 - cos(angle)), or three numbers, of small turns about x, y and z of the
    body's frame, V = 2 (k0 x^2 + k1 y^2 + k2 z^2) of its quaternion (w, x, y, z). Free joints have none."""
    rest: float = 0.0
    """Coordinate at which the spring is at rest [rad or m]; ball joints: no rotation."""
    limits: tuple[float, float] = (-np.inf, np.inf)
    """Lowest and highest coordinate of a revolute or prismatic joint [rad or m]."""
    anchor: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """A point that the joint's axis passes through, or a ball's centre, in the joint's frame [m]."""
    reference: float = 0.0
    """Coordinate of a revolute or prismatic joint where the body stands as declared [rad or m]."""
    name: str = ""
    """Of its coordinates; the body's where there is none."""


@dataclass(frozen=True, eq=False)
class Body:
    """One rigid body. It stands at (R, position) in its parent's frame, and its joint moves it from there."""

    name: str
    parent: str = WORLD
    joint: Joint | Sequence[Joint] = field(default_factory=Joint)
    """Several act one after the other, the first the nearest to the parent: each in the frame that those before it
    have moved."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the parent's frame [m]."""
    R: ArrayLike = field(default_factory=lambda: np.eye(3))
    """(3, 3) in the parent's frame."""
    mass: float = 1.0
    """kg."""
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Centre of mass in the body's frame [m]."""
    inertia: ArrayLike = (0.0, 0.0, 0.0)
    """About the centre of mass [kg m^2]: three numbers of the diagonal, or (3, 3)."""
    drag: float = 0.0
    """Quadratic, of the air [kg/m]: the force at the body's origin is -drag |v| v, v its velocity through the air."""
    rotor_momentum: ArrayLike = (0.0, 0.0, 0.0)
    """Angular momentum of a rotor that spins in it, against the body and in its frame, where it stays [kg m^2/s]."""
    added_inertia: ArrayLike | None = None
    """(6, 6) further inertia on (omega, v) about the body's origin that has no weight, e.g. of water moved along."""


@dataclass(frozen=True, eq=False)
class Loop:
    """A joint that closes a loop: what the body would hang on by it, if it did not hang on another."""

    body: str
    point: tuple[float, float, float]
    """Of the joint, in the body's frame [m]."""
    other: str = WORLD
    other_point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the other's frame [m]."""
    joint: Joint = field(default_factory=lambda: Joint("ball"))
    """Its kind, any but free, and its axes in the body's frame; a loop's joint has no spring, damping or limits."""
    R: ArrayLike = field(default_factory=lambda: np.eye(3))
    """(3, 3) of the body in the other's frame where the joint has not moved; of no account for a ball."""


@dataclass(frozen=True, eq=False)
class Gear:
    """Two joints of one coordinate each, of which one follows the other: q = c0 + c1 q_other + c2 q_other^2 ...;
    the length of a tendon stands for a coordinate as well."""

    joint: str
    """By the name of its coordinate, or a tendon's."""
    other: str = ""
    """Nothing: the joint is held at c0."""
    coefficients: tuple[float, ...] = (0.0, 1.0)
    """At most COEFFICIENTS."""


COEFFICIENTS = 5


@dataclass(frozen=True, eq=False)
class Spring:
    """A spring with a damper, drawn between points of two bodies: a `Tendon` of one straight strand."""

    body: str
    point: tuple[float, float, float]
    """In the body's frame [m]."""
    other: str = WORLD
    other_point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the other's frame [m]."""
    stiffness: float | tuple[float, float, float] = 0.0
    """N/m; three numbers are multiplied with the way beyond the lengths without force, its square and its cube."""
    damping: float = 0.0
    """N s/m, against the rate of its length; within a step whatever its size, of variational methods."""
    rest: float | tuple[float, float] = 0.0
    """Length without force [m], or the lowest and the highest: a rope has (0, its length)."""


@dataclass(frozen=True, eq=False)
class Wrap:
    """A sphere or an endless cylinder on a body that a strand goes round, tight and without friction, where it would
    pass through; a point of the strand that is within lets it go straight."""

    body: str
    """Or "world"."""
    centre: tuple[float, float, float]
    """In the body's frame, of a cylinder any point of its axis [m]."""
    radius: float
    """m."""
    axis: tuple[float, float, float] | None = None
    """Of a cylinder, in the body's frame; a sphere has none."""
    side: tuple[float, float, float] | None = None
    """A point in the body's frame on the side of which the strand goes [m]; None: the shorter way. Nearer to the centre
    than the radius, it says that the strand goes through the shape as through a ring."""
    side_body: str = ""
    """In whose frame that point is, or "world"; nothing: the body's. Where it moves against the shape, the strand goes
    as it stands at the moment."""


@dataclass(frozen=True, eq=False)
class Strand:
    """Straight from each point to the next, as through rings, or round what stands between them."""

    points: Sequence[tuple[str, tuple[float, float, float]] | Wrap]
    """(body or "world", point in its frame [m]), two or more; and a `Wrap` between two of them."""
    divisor: float = 1.0
    """Of its length: over a pulley that hangs in it a rope counts half."""


@dataclass(frozen=True, eq=False)
class Tendon:
    """A spring with a damper along a length that is a sum: one tension in all of it."""

    strands: Sequence[Strand] = ()
    joints: Mapping[str, float] = field(default_factory=dict)
    """Hinges and slides by the names of their coordinates, which are added to the length so many times."""
    stiffness: float | tuple[float, float, float] = 0.0
    """N/m, or three numbers, as a spring's; of hinges alone N m/rad, where the numbers above have no unit."""
    damping: float = 0.0
    """N s/m, as a spring's."""
    rest: float | tuple[float, float] = 0.0
    """Length without force [m], or the lowest and the highest."""
    limits: tuple[float, float] = (-np.inf, np.inf)
    """Lowest and highest length that there may be [m]: a string that is tight has reached its own."""
    name: str = ""
    """By which a `Gear` knows its length, and a vehicle's `torques` the force along it."""
    driven: bool = False
    """Whether a control has a force along it, one that lengthens it, N or what goes with its length; a tendon that is
    pulled has one below 0. It goes by the name."""


_X, _Y, _ = np.eye(3)


def refuse(body: Body, what: str) -> InputError:
    """The refusal of a body, to be raised."""
    return InputError(f"body {quote(body.name)}: {what}")


def vector(body: Body, what: str, value: ArrayLike) -> np.ndarray:
    """(3,) finite numbers. Raises InputError."""
    return array_of(f"body {quote(body.name)}: {what}", value, (3,))


def _array(body: Body, what: str, value: ArrayLike) -> np.ndarray:
    """Real numbers, whatever their shape; not numbers where they are none that can be looked at."""
    try:
        return numeric(value)
    except (TypeError, ValueError, OverflowError):
        raise refuse(body, f"{what} = {quote(value)} is not numeric") from None


def rotation(body: Body) -> np.ndarray:
    """(3, 3) of the body in its parent's frame. Raises InputError where it is none."""
    R = _array(body, "R", body.R)
    if R.shape != (3, 3) or np.abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise refuse(body, "R is no rotation matrix (3, 3)")
    return R


def aligned(body: Body, what: str, axis: ArrayLike) -> np.ndarray:
    """A rotation whose third column is the axis. Raises InputError where that has no direction."""
    z = vector(body, what, axis)
    length = float(np.linalg.norm(z))
    if length < 1e-12:
        raise refuse(body, f"{what} has no direction")
    z /= length
    if z[2] > 1.0 - 1e-15:
        return np.eye(3)
    x = cross(_Y if abs(z[1]) < 0.9 else _X, z)
    x /= np.linalg.norm(x)
    return np.array([x, cross(z, x), z]).T


def spatial_inertia(body: Body) -> np.ndarray:
    """(6, 6) on (omega, v) about the body's origin. Raises InputError where it could be no body's."""
    mass = number(f"body {quote(body.name)}: mass", body.mass, low=0.0)
    c = vector(body, "centre", body.centre)
    J = _array(body, "inertia", body.inertia)
    J = np.diag(J) if J.shape == (3,) else J
    if (
        J.shape != (3, 3)
        or not np.all(np.isfinite(J))
        or np.abs(J - J.T).max() > 1e-9 * (1.0 + np.abs(J).max())
    ):
        raise refuse(body, "inertia wants three numbers, or a symmetric (3, 3)")
    if np.linalg.eigvalsh(J).min() < -1e-12 * (1.0 + np.abs(J).max()):
        raise refuse(body, "inertia has a negative principal moment")
    C, G = skew(c), np.zeros((6, 6))
    G[:3, :3] = J + mass * C @ C.T
    G[:3, 3:], G[3:, :3] = mass * C, mass * C.T
    G[3, 3] = G[4, 4] = G[5, 5] = mass
    if body.added_inertia is not None:
        added = _array(body, "added_inertia", body.added_inertia)
        if (
            added.shape != (6, 6)
            or not np.isfinite(added).all()
            or np.abs(added - added.T).max() > 1e-9 * (1.0 + np.abs(added).max())
        ):
            raise refuse(body, "added_inertia wants a symmetric (6, 6)")
        if np.linalg.eigvalsh(added).min() < -1e-9 * (1.0 + np.abs(added).max()):
            raise refuse(body, "added_inertia has a negative eigenvalue")
        G = G + added
    return G


def shifted(G: np.ndarray, T: np.ndarray) -> np.ndarray:
    """A (6, 6) inertia seen from a frame in which its own has pose T."""
    R, to_body = T[:3, :3], np.zeros((6, 6))
    to_body[:3, :3] = to_body[3:, 3:] = R.T
    to_body[3:, :3] = -R.T @ skew(T[:3, 3])
    return to_body.T @ G @ to_body


def checked_joints(body: Body) -> tuple[Joint, ...]:
    """Those of a body in their order. Raises InputError where one is not as it can be."""
    joints = (body.joint,) if isinstance(body.joint, Joint) else body.joint
    if not isinstance(joints, tuple | list) or not all(isinstance(joint, Joint) for joint in joints):
        raise refuse(body, f"joint = {quote(body.joint)} is none; allowed: a Joint, or a list of them")
    if not joints:
        raise refuse(body, 'has no joint; a body that does not move has Joint("fixed")')
    joints = tuple(joints)
    for joint in joints:
        _check_joint(body, joint)
        if len(joints) > 1 and joint.kind in ("free", "fixed"):
            raise refuse(body, f"a {joint.kind} joint stands alone, here are {len(joints)}")
    return joints


def _check_joint(body: Body, joint: Joint) -> None:
    if not isinstance(joint.kind, str) or joint.kind not in JOINTS:
        raise refuse(body, f"unknown joint {quote(joint.kind)}; allowed: {', '.join(JOINTS)}")
    if not isinstance(joint.name, str):
        raise refuse(body, f"name = {quote(joint.name)} of its joint; allowed: text")
    name = f"joint {joint.name!r}" if joint.name else "its joint"
    for what in ("damping", "stiffness", "armature"):
        given = getattr(joint, what)
        if type(given) is float and given == 0.0:
            continue
        values = np.atleast_1d(_array(body, f"{what} of {name}", given))
        if not (np.isfinite(values).all() and (values >= 0.0).all()):
            raise refuse(body, f"{what} = {quote(given)} of {name}; allowed: from 0")
        if values.any() and joint.kind in ("free", "fixed"):
            raise refuse(body, f"a {joint.kind} joint has no {what}")
        if values.shape != (1,) and not (
            what == "stiffness" and joint.kind == "ball" and values.shape == (3,)
        ):
            raise refuse(
                body,
                f"{what} = {quote(given)} of {name}; allowed: a number, three for the stiffness of a ball",
            )
    for what in ("rest", "reference"):
        number(f"body {quote(body.name)}: {what} of {name}", getattr(joint, what))
    vector(body, f"anchor of {name}", joint.anchor)
    limits = _array(body, f"limits of {name}", joint.limits)
    if limits.shape != (2,):
        raise refuse(
            body, f"limits of {name} = {quote(joint.limits)}; allowed: the lowest and the highest coordinate"
        )
    low, high = limits
    if not low < high:
        raise refuse(body, f"limits {low:g} .. {high:g} of {name} are the wrong way round")
    if joint.kind not in ("revolute", "prismatic"):
        if (low, high) != (-np.inf, np.inf):
            raise refuse(body, f"a {joint.kind} joint has no limits")
        if joint.reference:
            raise refuse(body, f"a {joint.kind} joint has no reference")


def tendon_of(spring: Spring | Tendon) -> Tendon:
    """A spring as what it is a case of."""
    if isinstance(spring, Tendon):
        return spring
    strand = Strand([(spring.body, spring.point), (spring.other, spring.other_point)])
    return Tendon([strand], {}, spring.stiffness, spring.damping, spring.rest)


def called(spring: Spring | Tendon) -> str:
    """What errors call it."""
    if isinstance(spring, Spring):
        return f"a spring from {quote(spring.body)} to {quote(spring.other)}"
    return f"a tendon {quote(spring.name)}" if spring.name else "a tendon"


def checked_limits(tendon: Tendon) -> tuple[float, float] | None:
    """(lowest, highest) length, of which one is finite; None without any. Raises InputError."""
    try:
        limits = numeric(tendon.limits)
    except (TypeError, ValueError, OverflowError):
        limits = np.array([np.nan])
    if limits.shape != (2,) or not limits[0] <= limits[1] or limits[0] == np.inf or limits[1] == -np.inf:
        raise InputError(
            f"{called(tendon)}: limits = {quote(tendon.limits)}; allowed: the lowest and highest length"
        )
    low, high = limits.tolist()
    return (low, high) if np.isfinite(limits).any() else None


def checked_spring(spring: Spring | Tendon) -> tuple[float, ...]:
    """A row of `TreeArrays.springs`. Raises InputError."""
    where = called(spring)
    damping = number(f"{where}: damping", spring.damping, low=0.0)
    if isinstance(spring.stiffness, tuple | list | np.ndarray):
        first, *bent = array_of(f"{where}: stiffness", spring.stiffness, (3,)).tolist()
    else:
        first, bent = spring.stiffness, [0.0, 0.0]
    stiffness = number(f"{where}: stiffness", first, low=0.0)
    try:
        rest = np.atleast_1d(numeric(spring.rest))
    except (TypeError, ValueError, OverflowError):
        rest = np.array([np.nan])
    least = -np.inf if isinstance(spring, Tendon) and spring.joints else 0.0
    if rest.shape not in ((1,), (2,)) or not np.isfinite(rest).all() or not least <= rest[0] <= rest[-1]:
        raise InputError(
            f"{where}: rest = {quote(spring.rest)}; allowed: a length, or the lowest and highest"
        )
    return stiffness, float(rest[0]), float(rest[-1]), damping, 0.0, *bent


Given = ArrayLike | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class TreeState:
    """A node: coordinates q (nq,) and velocities v (nv,) of the joints."""

    q: np.ndarray
    v: np.ndarray


def numbers(what: str, given: Given, names: tuple[str, ...], rest: np.ndarray | None = None) -> np.ndarray:
    """(len(names),) finite numbers: a copy of those given, or by name, the others as in `rest` (zero without it).

    Raises InputError in one line, beginning with `what`.
    """
    try:
        if isinstance(given, Mapping):
            row = np.zeros(len(names)) if rest is None else rest.copy()
            for name, value in given.items():
                if name not in names:
                    raise InputError(f"{what}: unknown joint {quote(name)}; allowed: {one_of(names, name)}")
                row[names.index(name)] = value
        else:
            row = numeric(given).copy()
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} is not numeric") from None
    if row.shape != (len(names),):
        raise InputError(f"{what} is {row.shape}; allowed: ({len(names)},) for {one_of(names)}")
    if not np.isfinite(row).all():
        raise InputError(f"{what} has entries that are not finite")
    return row


MOST_LINKS = 500
_LARGEST = 1e100
"""Of lengths and masses: their squares are numbers."""


def rod(
    name: str,
    parent: str = WORLD,
    *,
    length_m: float,
    mass_kg: float,
    radius_m: float,
    links: int = 20,
    bending_Nm2: float = 0.0,
    twist_Nm2: float = 0.0,
    damping_Nms: float = 0.0,
    clamped: bool = False,
    twists: bool = True,
    position: tuple[float, float, float] = (0.0, 0.0, 0.0),
    R: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
) -> tuple[Body, ...]:
    """Bodies `NAME 1` to `NAME n` for `tree`, straight along -z of R at `position` in the parent's frame when at rest.

    bending_Nm2, twist_Nm2: E I and G J, for a rope none or little. damping_Nms: of each joint. clamped: its upper end
    is held in direction, not only in place. twists: by ball joints; False: by universal ones, which turn about x, then
    y, and lead turns about the rod on. What hangs on its end has the last link as its parent, at (0, 0, -length/n).
    Raises InputError.
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"a rod's name is {quote(name)}; allowed: text")
    for what, value in (("length_m", length_m), ("mass_kg", mass_kg), ("radius_m", radius_m)):
        if number(f"rod {name!r}: {what}", value, above=0.0) > _LARGEST:
            raise InputError(f"rod {name!r}: {what} = {quote(value)} is refused; allowed: up to {_LARGEST:g}")
    for what, value in (("bending_Nm2", bending_Nm2), ("twist_Nm2", twist_Nm2), ("damping_Nms", damping_Nms)):
        number(f"rod {name!r}: {what}", value, low=0.0)
    for what, value in (("clamped", clamped), ("twists", twists)):
        if not isinstance(value, bool | np.bool):
            raise InputError(f"rod {name!r}: {what} = {quote(value)} is refused; allowed: True, False")
    if whole(f"rod {name!r}: links", links, "links") > MOST_LINKS:
        raise InputError(f"rod {name!r}: links = {quote(links)} is refused; allowed: 1 to {MOST_LINKS}")
    each_m, each_kg = length_m / links, mass_kg / links
    across = each_kg * (each_m**2 / 12.0 + radius_m**2 / 4.0)
    bodies = []
    for k in range(links):
        held = 1.0 if k else 2.0 if clamped else 0.0
        bend, twist = held * bending_Nm2 / each_m, held * twist_Nm2 / each_m
        ball = Joint("ball", stiffness=(bend, bend, twist), damping=damping_Nms)
        hinges = Joint("universal", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), stiffness=bend, damping=damping_Nms)
        bodies.append(
            Body(
                f"{name} {k + 1}",
                f"{name} {k}" if k else parent,
                ball if twists else hinges,
                position=(0.0, 0.0, -each_m) if k else position,
                R=np.eye(3) if k else R,
                mass=each_kg,
                centre=(0.0, 0.0, -0.5 * each_m),
                inertia=(across, across, 0.5 * each_kg * radius_m**2),
            )
        )
    return tuple(bodies)
