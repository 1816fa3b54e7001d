"""A hand at the tip of a top: it pushes across the axle, whichever way that leans, and twists it."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Sensed
from sim.vehicles import Vehicle

_UPRIGHT = 1e-6


def pushed(axle: str, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
    """Body torques (3,) [N m]: pitch pushes the tip down, roll to the right of one who stands at the pivot.

    axle: the vehicle's parameter along which it lies.
    """
    arm_b = np.asarray(vehicle.values[axle], float)
    axis_w = sensed.R_wb @ (arm_b / max(float(np.linalg.norm(arm_b)), 1e-12))
    level = math.hypot(axis_w[0], axis_w[1])
    # An upright axis leans no way: it is pushed as if along x.
    ahead = axis_w[:2] / level if level > _UPRIGHT else np.array([1.0, 0.0])
    left_w = np.array([-ahead[1], ahead[0], 0.0])
    force_w = sticks.pitch * np.cross(left_w, axis_w) - sticks.roll * left_w
    hand, twist = (vehicle.controls[k].high for k in (0, 2))
    return sensed.R_wb.T @ (hand * np.cross(axis_w, force_w) - 0.5 * twist * sticks.yaw * axis_w)
