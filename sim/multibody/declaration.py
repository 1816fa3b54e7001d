"""What a tree of joints is declared with: bodies and how their parents carry them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

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


@dataclass(frozen=True)
class Loop:
    """A point of one body that stays where a point of another is: a ball joint that closes a loop."""

    body: str
    point: tuple[float, float, float]
    """In the body's frame [m]."""
    other: str = WORLD
    other_point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the other's frame [m]."""
