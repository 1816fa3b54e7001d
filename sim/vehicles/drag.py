"""Drag of blunt bodies in air."""

from typing import Any

import casadi as ca

_LEAST_MPS = 1e-6
"""Keeps the derivative finite at rest."""


def drag_over_velocity(factor: Any, square: Any) -> Any:
    """-factor |v|, which times v is the force, of |v|^2: of symbols, and of numbers where it is compiled."""
    return -factor * (square + _LEAST_MPS**2) ** 0.5


def quadratic_drag(factor: ca.SX | float, through_air: ca.SX) -> ca.SX:
    """(3,) force [N] -factor |v| v; factor in N s^2/m^2, v [m/s] the velocity through the air, in whatever frame."""
    return drag_over_velocity(factor, ca.dot(through_air, through_air)) * through_air
