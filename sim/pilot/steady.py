"""Attitude hold: all turning is stopped, then the attitude that the body has come to is kept.

Proportional and derivative action on SO(3), F. Bullo and R. Murray, "Proportional derivative (PD) control on the
Euclidean group" (1995): the error is the rotation's logarithm. While turning is stopped the torque opposes it, so that
energy only falls, whatever the ranges of the torques are.
"""

import numpy as np

from sim.commands import PilotInput
from sim.groups.numeric import rotation_log, skew
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.effect import wrench_effect
from sim.pilot.errand import Errand
from sim.vehicles import Vehicle

RATE_PER_S = 2.0
"""Bandwidth of the loop of turn rates; that of the attitude is a third."""
CAUGHT_RADPS = 0.03
"""Turning slower than this, the attitude is held ..."""
LOST_RADPS = 1.5
"""... until something makes it turn faster than this."""


class SteadyPilot(Automatic):
    """Serves bodies whose controls make torques linearly. Forces are left alone."""

    def __init__(self, errand: Errand) -> None:
        del errand
        self._held_R_wb: np.ndarray | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) neutral, but for what makes the torque."""
        rate = min(RATE_PER_S, 0.4 / dt_s)
        inertia = np.asarray(vehicle.values["inertia"], float)
        omega = sensed.omega_b
        turning = float(np.linalg.norm(omega))
        if turning > LOST_RADPS:
            self._held_R_wb = None
        elif self._held_R_wb is None and turning < CAUGHT_RADPS:
            self._held_R_wb = sensed.R_wb.copy()
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        torques = wrench_effect(vehicle)[:3]
        if self._held_R_wb is None:
            torque = -rate * inertia * omega
        else:
            error = rotation_log(sensed.R_wb.T @ self._held_R_wb)
            authority = np.abs(torques) @ np.minimum(high, -low).clip(0.0) / inertia
            stoppable = np.sqrt(authority * np.abs(error))
            wanted = np.clip(rate / 3.0 * error, -stoppable, stoppable)
            torque = rate * inertia * (wanted - omega) + skew(omega) @ (inertia * omega)
        by_torque = np.linalg.pinv(torques) @ torque
        return np.clip(vehicle.neutral_controls + by_torque, low, high)
