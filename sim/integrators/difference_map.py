"""Maps tau from velocity to displacement on a group, each with its differential (vehicles paper, section 4.1)."""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from sim.groups import LieGroup


@dataclass(frozen=True)
class DifferenceMap:
    """tau and the inverse of its right-trivialised tangent, exact or truncated."""

    name: str
    tau: Callable[[LieGroup, ca.SX], ca.SX]
    inverse_differential: Callable[[LieGroup, ca.SX], ca.SX]
    odd: bool = True
    """tau(-x) = tau(x)^-1, without which a method is of first order only."""
    balanced: Callable[[LieGroup, ca.SX, ca.SX, ca.SX], ca.SX] | None = None
    """(group, x, mu, given): zero where `momentum_before` is `given`, in simpler rows."""

    def momentum_before(self, group: LieGroup, x: ca.SX, mu: ca.SX) -> ca.SX:
        """What an arc tau(x) with momentum mu has left its first node with."""
        return self.inverse_differential(group, x).T @ mu

    def balance(self, group: LieGroup, x: ca.SX, mu: ca.SX, given: ca.SX) -> ca.SX:
        """Zero where an arc tau(x) with momentum mu leaves its first node with what is given there."""
        if self.balanced is not None:
            return self.balanced(group, x, mu, given)
        return self.momentum_before(group, x, mu) - given

    def momentum_after(self, group: LieGroup, x: ca.SX, mu: ca.SX) -> ca.SX:
        """What it brings to its second node: the same in space, seen from there."""
        if self.odd:
            return self.inverse_differential(group, -x).T @ mu
        return group.Ad(self.tau(group, x)).T @ self.momentum_before(group, x, mu)


CAY_TLN = DifferenceMap("cay", lambda G, x: G.cay(x), lambda G, x: G.tln_inv(x))
CAY = DifferenceMap(
    "cay",
    lambda G, x: G.cay(x),
    lambda G, x: G.dcay_inv(x),
    balanced=lambda G, x, mu, given: G.dcay_balance(x, mu, given),
)
EXP_TLN = DifferenceMap("exp", lambda G, x: G.exp(x), lambda G, x: G.tln_inv(x))
EXP = DifferenceMap("exp", lambda G, x: G.exp(x), lambda G, x: G.dexp_inv(x))
CCSK = DifferenceMap("ccsk", lambda G, x: G.ccsk(x), lambda G, x: G.dccsk_inv(x), odd=False)
