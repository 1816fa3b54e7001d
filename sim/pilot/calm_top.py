"""Takes the nodding out of a top: then it goes round at a steady lean, or stands.

What is damped is the speed at which its axis leans farther or back; going round, and its spin, are left alone, so that
it goes on by its own weight. The torque acts about the level axis across the lean and is that of a hand at the tip.
"""

import numpy as np

from sim.commands import PilotInput
from sim.groups.numeric import rotation_exp
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.errand import Errand
from sim.vehicles import Vehicle

RATE_PER_S = 1.5
"""By which nodding is damped, of a body that does not spin."""
UPRIGHT = 1e-3
"""Sine of the lean below which no direction is across it; then all turning but the spin is damped."""


class CalmTopPilot(Automatic):
    """Serves bodies about a fixed point with an `arm` and an `inertia`, whose controls are torques."""

    def __init__(self, errand: Errand) -> None:
        del errand

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(3,) torques about the body's axes [N m], within their ranges."""
        arm_b = np.asarray(vehicle.values["arm"], float)
        inertia = np.asarray(vehicle.values["inertia"], float)
        rate = min(RATE_PER_S, 0.4 / dt_s)
        axis_b = arm_b / max(float(np.linalg.norm(arm_b)), 1e-12)
        across_b = np.cross(sensed.R_wb[2], axis_b)
        sine = float(np.linalg.norm(across_b))
        spin_radps = float(axis_b @ sensed.omega_b)
        omega_b = sensed.omega_b - axis_b * spin_radps
        if sine > UPRIGHT:
            across_b = across_b / sine
            omega_b = across_b * (across_b @ omega_b)
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        # The top turns on while the torque is held: it points as it should halfway.
        onward = rotation_exp(-0.5 * dt_s * spin_radps * axis_b)
        return np.clip(onward @ (-rate * inertia * omega_b), low, high)
