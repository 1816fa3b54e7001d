"""Lie groups of vehicle poses, written once as symbolic expressions over CasADi SX.

Every group has the same vocabulary: `compose, inverse, exp, log, cay, cay_inv, Ad, ad, dexp_inv,
dcay_inv`. Differentials are right-trivialised (vehicles paper, section 3.1):
`dtau(x) d = (D tau(x) . d) tau(x)^-1`.
"""

from sim.groups.base import LieGroup
from sim.groups.product import SO3_R3, ProductGroup, Translations, power
from sim.groups.se2 import SE2, SE2_MATRIX
from sim.groups.se3 import SE3
from sim.groups.so3 import SO3

__all__ = ["SE2", "SE2_MATRIX", "SE3", "SO3", "SO3_R3", "LieGroup", "ProductGroup", "Translations", "power"]
