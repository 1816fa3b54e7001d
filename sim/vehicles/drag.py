"""Drag of blunt bodies in air."""

import casadi as ca

_LEAST_MPS = 1e-6
"""Keeps the derivative finite at rest."""


def quadratic_drag(factor: ca.SX | float, through_air: ca.SX) -> ca.SX:
    """(3,) force [N] -factor |v| v; factor in N s^2/m^2, v [m/s] the velocity through the air, in whatever frame."""
    return -factor * ca.sqrt(ca.dot(through_air, through_air) + _LEAST_MPS**2) * through_air
