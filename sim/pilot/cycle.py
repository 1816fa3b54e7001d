"""A work cycle: what servos hold is taken from pose to pose, without end.

A servo is a spring and a damper at its joint. The torques are those by which one whose rest moves along the cycle
differs from the one that stands still, so what servos do against pulls and weight they go on doing.
"""

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.errand import Errand
from sim.vehicles import Vehicle
from sim.vehicles.articulated import ArticulatedVehicle

MOVING_SHARE = 0.75
"""Of the time that a pose has; the rest of it is stood there."""


class CyclePilot(Automatic):
    """Serves trees of bodies whose controls are torques at joints with springs."""

    def __init__(self, errand: Errand) -> None:
        del errand
        self._began_s: float | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) [N m or N], within their ranges."""
        assert isinstance(vehicle, ArticulatedVehicle)
        if self._began_s is None:
            self._began_s = sensed.time_s
        cycle, driven, arrays = outfit_of(vehicle.name).modes.cycle, vehicle.driven, vehicle.tree.arrays
        off, rate = along(cycle.poses, cycle.pose_s, sensed.time_s + 0.5 * dt_s - self._began_s)
        wanted = arrays.stiffness[driven] * off + arrays.damping[driven] * rate
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted, low, high)


def along(
    poses: tuple[tuple[float, ...], ...], pose_s: float, time_s: float
) -> tuple[np.ndarray, np.ndarray]:
    """Where the joints are off their rests after that time, and its rate: from none to the first pose, and so on.

    By the quintic that begins and ends without speed and acceleration.
    """
    number, part = divmod(time_s / pose_s, 1.0)
    to = np.array(poses[int(number) % len(poses)])
    before = np.array(poses[(int(number) - 1) % len(poses)]) if number >= 1.0 else np.zeros(len(to))
    s = min(part / MOVING_SHARE, 1.0)
    share = s**3 * (10.0 + s * (6.0 * s - 15.0))
    slope = 30.0 * (s * (1.0 - s)) ** 2 / (MOVING_SHARE * pose_s)
    return before + share * (to - before), slope * (to - before)
