"""Drag of blunt bodies in air."""

import casadi as ca

from sim.symbolic import drag_over_velocity


def quadratic_drag(factor: ca.SX | float, through_air: ca.SX) -> ca.SX:
    """(3,) force [N] -factor |v| v; factor in N s^2/m^2, v [m/s] the velocity through the air, in whatever frame."""
    return drag_over_velocity(factor, ca.dot(through_air, through_air)) * through_air
