"""Turning a body axis up, by torques about the body's axes."""

import numpy as np

from sim.outfit.outfit import Righting
from sim.pilot.contract import Sensed
from sim.vehicles import Vehicle

STIFFNESS, DAMPING = 1.0, 2.0
"""Of that turn: 1/s^2 and 1/s, critical."""


def righted(law: Righting, wanted: np.ndarray, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
    """The controls `wanted`, with torques that bring the axis to the vertical and stop all turning."""
    up_b = sensed.R_wb.T @ np.array([0.0, 0.0, 1.0])
    axis_b = np.array(law.axis_b) / np.linalg.norm(law.axis_b)
    # From hanging straight down every way is as good: the small push takes one.
    aside_b = np.roll(axis_b, 1)
    error_b = np.cross(axis_b, up_b) + (axis_b @ up_b < -0.999) * 0.05 * aside_b
    inertia = np.asarray(vehicle.values["inertia"], float)
    torque_b = inertia * (STIFFNESS * error_b - DAMPING * sensed.omega_b)
    names = [control.name for control in vehicle.controls]
    controls = wanted.copy()
    for (name, sign), torque in zip(law.torques, torque_b, strict=True):
        controls[names.index(name)] = sign * torque
    return controls
