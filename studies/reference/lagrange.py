"""Lagrange's equations in plain coordinates, with multipliers for what is constrained, integrated by DOP853.

d/dt dL/dv - dL/dq = -dD/dv + F + J' multipliers, J v = 0, J being the slopes of holonomic constraints and the rows of
nonholonomic ones. The multipliers are found with the accelerations from the constraints' second derivative (index 1).
Constraints that others imply get the least multipliers that do; what has no inertia is not accelerated.
"""

from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

TOLERANCE = 1e-13
_DEPENDENT = 1e-9
_SOLVED_BY_SYMBOLS = 6
"""Accelerations and multipliers; more are solved for by numbers."""


def _nothing() -> ca.SX:
    return ca.SX(0)


def _no_rows() -> ca.SX:
    return ca.SX(0, 1)


@dataclass(frozen=True, kw_only=True)
class LagrangianSystem:
    """What moves, in coordinates that need no manifold."""

    q: ca.SX
    """(n,) symbols of the coordinates."""
    v: ca.SX
    """(n,) symbols of their rates."""
    lagrangian: ca.SX
    """L(q, v) [J]."""
    dissipation: ca.SX = field(default_factory=_nothing)
    """Rayleigh's function D(q, v) [W]; half of what is lost."""
    force: ca.SX = field(default_factory=_nothing)
    """(n,) F(q, v, a), with the accelerations to the first power."""
    a: ca.SX = field(default_factory=_no_rows)
    """(n,) symbols of the accelerations, where a force hangs on them."""
    holonomic: ca.SX = field(default_factory=_no_rows)
    """(m,) of q, zero at the start."""
    nonholonomic: ca.SX | None = None
    """(k, n) A(q) of A v = 0."""

    @cached_property
    def equations(self) -> tuple[ca.SX, ca.SX, int]:
        """K and k of K (accelerations, -multipliers) = k, and how many constraints there are."""
        q, v = self.q, self.v
        momenta = ca.gradient(self.lagrangian, v)
        force = ca.gradient(self.lagrangian, q) - ca.gradient(self.dissipation, v) - ca.jtimes(momenta, q, v)
        inertia = ca.jacobian(momenta, v)
        if self.a.numel():
            inertia -= ca.jacobian(self.force, self.a)
        force += ca.substitute(self.force, self.a, ca.SX.zeros(*self.a.shape))
        rows = ca.jacobian(self.holonomic, q)
        if self.nonholonomic is not None:
            rows = ca.vertcat(rows, self.nonholonomic)
        m = rows.shape[0]
        both = ca.blockcat([[inertia, rows.T], [rows, ca.SX(m, m)]])
        return both, ca.vertcat(force, -ca.jtimes(rows @ v, q, v)), m

    def moved(self, q: ArrayLike, v: ArrayLike, seconds: float) -> tuple[np.ndarray, np.ndarray]:
        """((n,), (n,)) coordinates and rates after so many seconds."""
        places, rates = self._run(q, v, seconds)
        return places[-1].copy(), rates[-1].copy()

    def along(self, q: ArrayLike, v: ArrayLike, times_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """((k, n), (k, n)) of them at k moments, as a polynomial of seventh order between steps has them."""
        return self._run(q, v, times_s[-1], times_s)

    def _run(
        self, q: ArrayLike, v: ArrayLike, seconds: float, times_s: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """At these moments, or at those of the solver's steps."""
        n, (both, right, m) = self.q.shape[0], self.equations
        start = np.r_[np.asarray(q, float), np.asarray(v, float)]
        whole = ca.vertcat(self.q, self.v)
        if n + m > _SOLVED_BY_SYMBOLS:
            parts = ca.Function("parts", [whole], [ca.densify(both), ca.densify(right)], {"cse": True})
            implied = np.linalg.matrix_rank(np.asarray(parts(start)[0], float), _DEPENDENT) < n + m

            def rate(_: float, y: np.ndarray) -> np.ndarray:
                K, k = (np.asarray(part, float) for part in parts(y))
                found = np.linalg.lstsq(K, k, rcond=_DEPENDENT)[0] if implied else np.linalg.solve(K, k)
                return np.r_[y[n:], found[:n, 0]]
        else:
            found = ca.densify(ca.vertcat(self.v, ca.solve(both, right)[:n]))
            solved = ca.Function("solved", [whole], [found], {"cse": True})

            def rate(_: float, y: np.ndarray) -> np.ndarray:
                return np.array(solved(y))[:, 0]

        run = solve_ivp(
            rate, (0.0, seconds), start, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE, t_eval=times_s
        )
        if not run.success:
            raise ArithmeticError(run.message)
        return run.y[:n].T, run.y[n:].T


def rates(of: ca.SX, q: ca.SX, v: ca.SX) -> ca.SX:
    """d/dt of an expression of q."""
    return ca.jtimes(of, q, v)
