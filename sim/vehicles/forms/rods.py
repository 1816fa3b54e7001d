"""Bobs on light rods, one hung from the other: what the rods pull with, and how they turn, in linear time.

A part of a state is (q, omega) of a rod: the unit vector q along it, away from where all hang, and its angular velocity
at right angles to it, both in the world. Stacks (`sim.symbolic`) have a column a rod. `LinkedRods` is what a chain of
rods and bobs declares beside what moves it: the force on each bob, for methods of its mechanics.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.platform.errors import InputError
from sim.symbolic import AnyStack, along, first_only, last_only
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Quantities


class Bob(NamedTuple):
    """A bob and the rod above it, in the world."""

    direction: ca.SX
    """(3,) of the rod, down to the bob."""
    velocity: ca.SX
    """(3,) [m/s]."""
    mass: ca.SX
    length: ca.SX
    """Of the rod."""
    first: ca.SX
    """1 for the uppermost one, 0 for the others."""
    last: ca.SX
    """1 for the lowest one, 0 for the others."""


Force = Callable[[Bob], ca.SX]
"""(3,) on a bob beside the rods' pulls [N]."""


def fixed_point() -> ca.SX:
    """What rods hang from that hang from a point of the world."""
    return moving_point(ca.SX(3, 1), ca.SX(3, 1), ca.SX(0))


def moving_point(velocity: ca.SX, free: ca.SX, yields: ca.SX) -> ca.SX:
    """What rods hang from that hang from a point with this velocity, this acceleration without them, both (3,) in the
    world, and this acceleration [m/s^2] along the first rod by a pull of 1 N of it."""
    return ca.densify(ca.vertcat(velocity, ca.SX(3, 1), free, yields, 1, 0))


def rod_tensions(
    points: AnyStack, masses: AnyStack, lengths: AnyStack, count: int, force: Force, point: ca.SX
) -> list[AnyStack]:
    """Acceleration of each bob without rods (3), what its rod pulls with (1), pull of the next rod on it (3).

    Rods keep their lengths: q_i . (a_i - a_{i-1}) = -L_i |omega_i|^2, a symmetric tridiagonal system
    (mechanics survey, section 5). point: `fixed_point` or `moving_point`.
    """

    def down(before: ca.SX, *link: ca.SX) -> tuple[ca.SX, ...]:
        at, mass, length, first, last = link
        velocity, direction_before, free_before = before[:3], before[3:6], before[6:9]
        inverse_before, diagonal_before, right_before = before[9], before[10], before[11]
        direction, omega = at[:3], at[3:]
        velocity = velocity + length * ca.cross(omega, direction)
        free = force(Bob(direction, velocity, mass, length, first, last)) / mass
        beside = -ca.dot(direction_before, direction) * inverse_before
        fraction = beside / diagonal_before
        diagonal = 1 / mass + inverse_before - fraction * beside
        right = length * ca.dot(omega, omega) + ca.dot(direction, free - free_before)
        right = right - fraction * right_before
        after = ca.vertcat(velocity, direction, free, 1 / mass, diagonal, right)
        return after, free, ca.vertcat(diagonal, right, beside)

    def up(after: ca.SX, *link: ca.SX) -> tuple[ca.SX, ...]:
        at, row = link
        tension = (row[1] - after[0] * after[1]) / row[0]
        return ca.vertcat(row[2], tension, at[:3]), tension, after[1] * after[2:]

    free, rows = along(down, point, points, masses, lengths, first_only(count), last_only(count))
    tensions, hung = along(up, ca.SX.zeros(5), points, rows, backward=True)
    return [free, tensions, hung]


def turning_rods(
    points: AnyStack, masses: AnyStack, lengths: AnyStack, tensions: list[AnyStack], point: ca.SX
) -> AnyStack:
    """(6) (omega, q x omega') of every rod: which element of se(3) moves it. omega' = q x (a - a_before) / L.

    tensions: of `rod_tensions`; point: (3,) acceleration of what they hang from.
    """

    def turn(before: ca.SX, *link: ca.SX) -> tuple[ca.SX, ca.SX]:
        at, mass, length, own, tension, below = link
        direction, omega = at[:3], at[3:]
        acceleration = own + (below - tension * direction) / mass
        turning = ca.cross(direction, acceleration - before) / length
        return acceleration, ca.vertcat(omega, ca.cross(direction, turning))

    (found,) = along(turn, point, points, masses, lengths, *tensions)
    return found


def bobs(points: AnyStack, lengths: AnyStack, x: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX]:
    """(3, N) places of the bobs and their velocities; x, v: (3,) of what they hang from."""

    def reached(before: ca.SX, at: ca.SX, length: ca.SX) -> tuple[ca.SX, ...]:
        x = before[:3] + length * at[:3]
        v = before[3:] + length * ca.cross(at[3:], at[:3])
        return ca.vertcat(x, v), x, v

    places, velocities = along(reached, ca.vertcat(x, v), points, lengths)
    return places, velocities


def for_each(value: ArrayLike, count: int, shape: tuple[int, ...] = (3,)) -> ArrayLike:
    """(count, ...) of one value of that shape for all, or of one for each; all else as it is."""
    try:
        one = np.shape(value) == shape
    except ValueError:  # lists of several lengths
        return value
    return np.broadcast_to(np.asarray(value), (count, *shape)) if one else value


def on_the_bundle(who: str, what: str, it: str, q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """(N, 6) q and omega (N, 3) of rods, with the rounding taken out of them.

    Raises InputError, which begins with `who`, for a direction that is no unit vector and a velocity about the rod
    itself. what: a rod's name before its number, empty where there is only one; it: what it is called after that.
    """
    sizes, along_q = np.linalg.norm(q, axis=1), np.abs(np.sum(q * omega, axis=1))
    for k, (size, about) in enumerate(zip(sizes, along_q, strict=True)):
        of = f" of {what} {k + 1}" if what else ""
        if abs(size - 1.0) > 1e-6:
            raise InputError(f"{who}: direction{of} has length {size:g}; allowed: 1")
        if about > 1e-6 * max(1.0, float(np.linalg.norm(omega[k]))):
            raise InputError(f"{who}: omega{of} turns {it} about itself; allowed: at right angles to it")
    q = q / sizes[:, None]
    return np.column_stack([q, omega - np.sum(q * omega, axis=1)[:, None] * q])


class LinkedRods(ActionVehicle):
    """Light rods hinged one below the other from a fixed point, a bob at the end of each.

    A part of its state is (q, omega) of a rod, its direction away from the fixed point and angular velocity. It has
    parameters `mass` and `length`, a number each rod.
    """

    @property
    @abstractmethod
    def link_count(self) -> int:
        """N."""

    @abstractmethod
    def bob_force(self, bob: Bob, u: ca.SX, q: Quantities) -> ca.SX:
        """(3,) on a bob beside the rods' pulls [N]."""
