"""What a body about a fixed point does: lean, spin, precession, and the two momenta that a symmetric top keeps."""

import math

import numpy as np

from sim.simulation.space import centre_b, in_space, pivoted
from sim.snapshot import Gyration
from sim.vehicles import Vehicle

_SHORTEST_M = 1e-9
_UPRIGHT_RAD = 1e-3
"""Nearer to the vertical its axis has no direction to precess in."""


def axis_of(vehicle: Vehicle) -> np.ndarray | None:
    """(3,) unit vector from the fixed point to the centre of mass, body frame; None for what has no such point."""
    if not pivoted(vehicle):
        return None
    arm_b = centre_b(vehicle)
    length = float(np.linalg.norm(arm_b))
    return arm_b / length if length > _SHORTEST_M else np.array([0.0, 0.0, 1.0])


def gyration(vehicle: Vehicle, node: np.ndarray, momentum_w: np.ndarray) -> Gyration | None:
    """At a flat node with spatial momentum (3,); None for vehicles that are not held at a point."""
    axis_b = axis_of(vehicle)
    if axis_b is None:
        return None
    layout = vehicle.node_layout
    R_wb = vehicle.group.to_matrix(node[layout.pose])
    omega_w = R_wb @ in_space(vehicle, node[layout.velocity])[:3]
    axis_w = R_wb @ axis_b
    x, y, z = axis_w
    level = math.hypot(x, y)
    rate_w = np.cross(omega_w, axis_w)
    precession = (x * rate_w[1] - y * rate_w[0]) / level**2 if level > _UPRIGHT_RAD else math.nan
    return Gyration(
        lean_rad=math.atan2(level, z),
        spin_radps=float(omega_w @ axis_w),
        precession_radps=float(precession),
        momentum_vertical=float(momentum_w[2]),
        momentum_axial=float(momentum_w @ axis_w),
    )
