"""Flying the spacecraft: as the rigid body article has it, the roll stick yaws and the yaw stick rolls."""

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Sensed
from sim.vehicles import Vehicle

ENGINE_DOWN = "engine-down"
"""Held action: turn until the engine points down."""
STIFFNESS, DAMPING = 1.0, 2.0
"""Of that turn: 1/s^2 and 1/s, critical."""


def mixed(sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    """Full stick is the full torque; the engine only pushes."""
    deflections = (sticks.pitch, sticks.roll, sticks.yaw, max(sticks.throttle, 0.0))
    return np.array([d * c.high for d, c in zip(deflections, vehicle.controls, strict=True)])


def engine_down(sensed: Sensed, vehicle: Vehicle, throttle: float) -> np.ndarray:
    """Torques that bring body x, along which the engine pushes, to the vertical and stop all turning."""
    up_b = sensed.R_wb.T @ np.array([0.0, 0.0, 1.0])
    # From hanging straight down every way is as good: the small push takes one.
    error_b = np.cross([1.0, 0.0, 0.0], up_b) + (up_b[0] < -0.999) * np.array([0.0, 0.05, 0.0])
    inertia = np.asarray(vehicle.values["inertia"], float)
    x, y, z = inertia * (STIFFNESS * error_b - DAMPING * sensed.omega_b)
    return np.array([y, -z, x, throttle])
