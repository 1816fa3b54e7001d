"""Lagrange-d'Alembert equations with multipliers in world coordinates: the truth for the reduced ones.

Nothing here comes from `sim`: Lagrangians and constraints are written again, in coordinates of the
configuration space, the way a textbook states them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp


@dataclass
class ConstrainedSystem:
    """L(q, v) with a(q) v = 0 and generalised forces Q(t)."""

    lagrangian: Callable[[ca.SX, ca.SX], ca.SX]
    constraints: Callable[[ca.SX], ca.SX]
    size: int

    def __post_init__(self) -> None:
        q, v = ca.SX.sym("q", self.size), ca.SX.sym("v", self.size)
        L, a = self.lagrangian(q, v), self.constraints(q)
        momentum = ca.gradient(L, v)
        mass = ca.jacobian(momentum, v)
        velocity_terms = ca.jacobian(momentum, q) @ v - ca.gradient(L, q)
        turning = ca.jacobian(a @ v, q) @ v
        n = a.shape[0]
        kkt = ca.blockcat([[mass, a.T], [a, ca.SX(n, n)]])
        self._terms = ca.Function("terms", [q, v], [ca.densify(x) for x in (kkt, velocity_terms, turning, a)])

    def admissible(self, q: np.ndarray, v: np.ndarray) -> float:
        """Largest constraint violation of a velocity."""
        return float(np.abs(np.array(self._terms(q, v)[3]) @ v).max())

    def integrate(
        self, q, v, seconds: float, force: Callable[[float], np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """q and v at the end."""

        def rate(t: float, s: np.ndarray) -> np.ndarray:
            q, v = s[: self.size], s[self.size :]
            kkt, terms, turning, _ = (np.array(x) for x in self._terms(q, v))
            right = np.r_[force(t) - terms.ravel(), -turning.ravel()]
            return np.r_[v, np.linalg.solve(kkt, right)[: self.size]]

        end = solve_ivp(rate, (0, seconds), np.r_[q, v], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        return end[: self.size], end[self.size :]


def car(mass, wheel, yaw, base, radius) -> ConstrainedSystem:
    """q = (psi, sigma, theta, x, y). sigma has unit inertia and is driven by its own acceleration."""

    def lagrangian(q, v):
        return (wheel * v[0] ** 2 + v[1] ** 2 + yaw * v[2] ** 2 + mass * (v[3] ** 2 + v[4] ** 2)) / 2

    def constraints(q):
        c, s = ca.cos(q[2]), ca.sin(q[2])
        return ca.vertcat(
            ca.horzcat(-radius, 0, 0, c, s),
            ca.horzcat(0, 0, 0, -s, c),
            ca.horzcat(-radius / base * q[1], 0, 1, 0, 0),
        )

    return ConstrainedSystem(lagrangian, constraints, 5)


def snakeboard(mass, rotor, wheel, half) -> ConstrainedSystem:
    """q = (psi, phi, theta, x, y)."""

    def lagrangian(q, v):
        turning = rotor * (v[0] + v[2]) ** 2 + (mass * half**2 - rotor) * v[2] ** 2
        return (turning + 2 * wheel * v[1] ** 2 + mass * (v[3] ** 2 + v[4] ** 2)) / 2

    def constraints(q):
        back, front, c = q[2] + q[1], q[2] - q[1], half * ca.cos(q[1])
        return ca.vertcat(
            ca.horzcat(0, 0, -c, -ca.sin(back), ca.cos(back)),
            ca.horzcat(0, 0, c, -ca.sin(front), ca.cos(front)),
        )

    return ConstrainedSystem(lagrangian, constraints, 5)


def _turn(axis: int, angle: ca.SX) -> ca.SX:
    c, s = ca.cos(angle), ca.sin(angle)
    if axis == 0:
        return ca.blockcat([[1, 0, 0], [0, c, -s], [0, s, c]])
    return ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def _spin(R: ca.SX, q: ca.SX, v: ca.SX) -> ca.SX:
    """Angular velocity in the world of R(q)."""
    rate = ca.reshape(ca.jtimes(ca.vec(R), q, v), 3, 3) @ R.T
    return ca.vertcat(rate[2, 1], rate[0, 2], rate[1, 0])


def disc(mass, radius, axial, diametral, gravity) -> ConstrainedSystem:
    """q = (lean, roll, theta, x, y) with the *centre's* position: the disc as a rigid body in space."""

    def motion(q, v):
        R = _turn(2, q[2]) @ _turn(0, q[0])
        centre = ca.vertcat(q[3], q[4], radius * ca.cos(q[0]))
        return R, _spin(R, q, v) + R[:, 1] * v[1], ca.jtimes(centre, q, v)

    def lagrangian(q, v):
        R, omega, velocity = motion(q, v)
        body = R.T @ omega
        inertia = ca.diag(ca.vertcat(diametral, axial, diametral))
        kinetic = mass * ca.dot(velocity, velocity) + ca.dot(body, inertia @ body)
        return kinetic / 2 - mass * gravity * radius * ca.cos(q[0])

    def constraints(q):
        v = ca.SX.sym("v", 5)
        R, omega, velocity = motion(q, v)
        contact = velocity + ca.cross(omega, -radius * R[:, 2])
        return ca.jacobian(contact[:2], v)

    return ConstrainedSystem(lagrangian, constraints, 5)
