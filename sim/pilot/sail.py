"""Sailing from place to place with two thrusters, and lying at the last one."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.errand import Errand
from sim.pilot.helm import Drift, Helm, heading
from sim.pilot.station import StationPilot
from sim.vehicles import Vehicle

CRUISE_MPS = 3.0
REACHED_M = 3.0
"""Nearer than this to a place she has been there."""
_BRAKE_MPS2 = 0.4


class SailPilot(Automatic):
    """To the errand's places one after the other; at the last one, or where she is if there are none, she stays."""

    def __init__(self, errand: Errand) -> None:
        self._left = [np.array(place) for place in errand.places_w]
        self._helm, self._drift = Helm(), Drift()
        self._station = StationPilot() if not self._left else None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Left and right thrust."""
        drift = self._drift.see(sensed, dt_s)
        if self._station is None and float(np.linalg.norm(self._left[0] - sensed.x_w[:2])) < REACHED_M:
            place = self._left.pop(0)
            self._station = None if self._left else StationPilot(place)
        if self._station is not None:
            return self._station.controls(PilotInput(), sensed, vehicle, dt_s)
        off = self._left[0] - sensed.x_w[:2]
        away = float(np.linalg.norm(off))
        speed = CRUISE_MPS
        if len(self._left) == 1:
            speed = min(speed, math.sqrt(2.0 * _BRAKE_MPS2 * away))
        wanted = speed / away * off - drift
        course = math.atan2(float(wanted[1]), float(wanted[0]))
        ahead = float(np.linalg.norm(wanted)) * max(math.cos(course - heading(sensed)), 0.0)
        return self._helm.thrusts(vehicle, sensed, course, 0.0, ahead)
