"""Hovering: up to a height, to places one after the other, and hold there, by the sticks of `HoldPilot`."""

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.errand import Errand
from sim.pilot.hold import HoldPilot
from sim.pilot.rotation import level_axes
from sim.pilot.velocity import within
from sim.vehicles import Vehicle

HEIGHT_M = 4.0
"""Above the ground; where there is none its height is kept as it is."""
CRUISE_MPS = 4.0
REACHED_M = 0.6
_ROOM_M = 0.3
"""Within this of the height it holds what it has."""
_BRAKE_PER_S = 0.5


class HoverPilot(Automatic):
    """Serves what `hold` serves; wind is learnt there."""

    def __init__(self, errand: Errand) -> None:
        self._hold = HoldPilot()
        self._left = [np.array(place) for place in errand.places_w]

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) of position hold under sticks that lead there."""
        most = outfit_of(vehicle.name).modes.holding
        rise = HEIGHT_M - sensed.clearance_m
        throttle = (
            0.0 if not np.isfinite(rise) or abs(rise) < _ROOM_M else float(np.clip(0.4 * rise, -1.0, 1.0))
        )
        velocity_w = np.zeros(2)
        if self._left and abs(rise) < 1.0:
            off = self._left[0] - sensed.x_w[:2]
            if float(np.linalg.norm(off)) < REACHED_M and len(self._left) > 1:
                self._left.pop(0)
            elif float(np.linalg.norm(off)) > REACHED_M:
                velocity_w = within(_BRAKE_PER_S * off, CRUISE_MPS)
        ahead, left = level_axes(sensed.R_wb)
        pitch = float(velocity_w @ ahead[:2]) / most.ahead_mps
        roll = -float(velocity_w @ left[:2]) / most.aside_mps
        given = PilotInput(
            pitch=min(max(pitch, -1.0), 1.0), roll=min(max(roll, -1.0), 1.0), throttle=throttle
        )
        return self._hold.controls(given, sensed, vehicle, dt_s)
