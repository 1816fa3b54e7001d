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


CAY_TLN = DifferenceMap("cay", lambda G, x: G.cay(x), lambda G, x: G.tln_inv(x))
CAY = DifferenceMap("cay", lambda G, x: G.cay(x), lambda G, x: G.dcay_inv(x))
EXP_TLN = DifferenceMap("exp", lambda G, x: G.exp(x), lambda G, x: G.tln_inv(x))
EXP = DifferenceMap("exp", lambda G, x: G.exp(x), lambda G, x: G.dexp_inv(x))
