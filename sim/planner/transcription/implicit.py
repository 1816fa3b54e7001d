"""Unknowns that an equation defines: derivatives of what depends on them, as functions of the other variables."""

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from sim.symbolic import solve


@dataclass(frozen=True, eq=False)
class Implicit:
    """z(v) with residual(v, z) = 0, possibly of no entries.

    Expressions below hold where z solves the residual.
    """

    v: ca.SX
    z: ca.SX
    residual: ca.SX

    @cached_property
    def jacobian(self) -> ca.SX:
        """(n, n) of the residual by z."""
        return ca.jacobian(self.residual, self.z)

    @cached_property
    def slope(self) -> ca.SX:
        """(n, variables) dz/dv."""
        return ca.sparsify(-solve(self.jacobian, ca.jacobian(self.residual, self.v)))

    @property
    def correction(self) -> ca.SX:
        """(n,) Newton's, to be added to z."""
        return -solve(self.jacobian, self.residual)

    def total(self, expressions: ca.SX) -> ca.SX:
        """Jacobian of expressions in v and z(v) by v."""
        partial = ca.jacobian(expressions, self.v)
        if not self.z.shape[0]:
            return partial
        return ca.sparsify(partial + ca.jacobian(expressions, self.z) @ self.slope)

    def second(self, scalar: ca.SX) -> tuple[ca.SX, ca.SX]:
        """(gradient, Hessian) of a scalar in v and z(v) by v.

        The curvature of z comes in through the residual, times the multipliers that make the sum stationary in z.
        """
        count = self.z.shape[0]
        if not count:
            hessian, gradient = ca.hessian(scalar, self.v)
            return gradient, hessian
        lam = ca.SX.sym("lam", count)
        both = ca.vertcat(self.v, self.z)
        curved, pulled = ca.hessian(scalar + ca.dot(lam, self.residual), both)
        by_z = ca.densify(ca.gradient(scalar, self.z))
        multipliers = -solve(self.jacobian.T, by_z)
        n = self.v.shape[0]
        moved = ca.vertcat(ca.SX.eye(n), self.slope)
        hessian = ca.triu2symm(ca.triu(moved.T @ curved @ moved))
        out = ca.substitute([pulled[:n], hessian], [lam], [multipliers])
        return out[0], ca.sparsify(out[1])
