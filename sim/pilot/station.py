"""Station keeping: sticks ask for speed and turn; hands off, a boat of two thrusters stays at her place.

What pushes her aside cannot be pushed back, so her bow is turned into it, by what has been needed so far: the heading
follows the offset to either side, as a weathervane's does, and ahead and astern she holds by thrust.
"""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Sensed
from sim.pilot.helm import Helm, heading
from sim.vehicles import Vehicle

AHEAD_MPS, TURN_RADPS = 3.5, 0.9
_CENTRE = 0.05
_CATCH_MPS = 0.8
"""Slower than this, hands off, the place is held."""
_AHEAD_PER_S, _MOST_MPS = 0.7, 1.5
_LEARNT_PER_MS = 0.05
_TURNED_PER_M = 0.5
_MOST_TURNED_RAD = 1.2
_FAR_M = 6.0
"""Further off she steers for the place itself."""


class StationPilot:
    """Remembers the place that is held and the heading that has held it so far."""

    def __init__(self, place_w: np.ndarray | None = None) -> None:
        """`place_w` (2,): to be held [m]; else the one where she comes to rest."""
        self._helm = Helm()
        self._place = place_w
        self._bow_rad: float | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Pitch or throttle: speed ahead; roll or yaw: turn rate to starboard."""
        ahead = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
        right = min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
        now = heading(sensed)
        if max(abs(ahead), abs(right)) > _CENTRE:
            self._place = None
            turn = -TURN_RADPS * right
            bow = now + turn / self._helm.heading_per_s if abs(right) > _CENTRE else self._held(now)
            self._bow_rad = None if abs(right) > _CENTRE else bow
            return self._helm.thrusts(vehicle, sensed, bow, turn, AHEAD_MPS * ahead)
        if self._place is None:
            if float(np.linalg.norm(sensed.v_w[:2])) > _CATCH_MPS:
                return self._helm.thrusts(vehicle, sensed, self._held(now), 0.0, 0.0)
            self._place = sensed.x_w[:2].copy()
        return self._stay(self._place - sensed.x_w[:2], sensed, vehicle, dt_s)

    def _held(self, now: float) -> float:
        if self._bow_rad is None:
            self._bow_rad = now
        return self._bow_rad

    def _stay(self, off: np.ndarray, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Towards a place that is `off` (2,) m."""
        now = heading(sensed)
        bow = self._held(now)
        forward = math.cos(now) * off[0] + math.sin(now) * off[1]
        aside = -math.sin(bow) * off[0] + math.cos(bow) * off[1]
        if float(np.linalg.norm(off)) > _FAR_M:
            wanted = math.atan2(off[1], off[0])
        else:
            self._bow_rad = bow = bow + _LEARNT_PER_MS * aside * dt_s
            turned = min(max(_TURNED_PER_M * aside, -_MOST_TURNED_RAD), _MOST_TURNED_RAD)
            # Astern of the place she turns towards it, ahead of it away: then thrust astern leads there.
            wanted = bow + (turned if forward > -0.3 else -turned)
        speed = min(max(_AHEAD_PER_S * forward, -_MOST_MPS), _MOST_MPS)
        return self._helm.thrusts(vehicle, sensed, wanted, 0.0, speed)
