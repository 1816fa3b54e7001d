"""Riding a board by its gait: to places one after the other, and round the last of them.

The gait that drives is held while the board is slower than wanted; where the feet swing about is steered, as a rider
does with the stick.
"""

import math

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.pilot.airframe import scalar
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.errand import Errand
from sim.pilot.ride import RidePilot
from sim.pilot.rotation import heading_of, turn_between
from sim.vehicles import Vehicle

CRUISE_MPS = 1.4
CIRCLE_M = 5.0
"""Round the last place."""
REACHED_M = 1.0
_TURN_PER_S = 0.5
"""Turn rate of the course per radian that it is off."""
_MOST_STICK, _LEAST_MPS = 0.7, 0.5
_EVENED_S = 0.7
"""The course that counts is evened out: every swing of the torso turns the board to and fro."""


class SkatePilot(Automatic):
    """Sticks and gaits of `RidePilot`, given by the course."""

    def __init__(self, errand: Errand) -> None:
        self._ride = RidePilot()
        self._left = [np.array(place) for place in errand.places_w]
        self._circled: np.ndarray | None = None
        self._course: np.ndarray | None = None
        """(2,) unit vector that it goes along, evened out."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque of the torso, torque of the feet) [N m]."""
        riding = outfit_of(vehicle.name).modes.riding
        board = heading_of(sensed.R_wb)
        astern = -np.array([math.cos(board), math.sin(board)])  # the gait drives it backwards
        before = astern if self._course is None else self._course
        self._course = before - math.expm1(-dt_s / _EVENED_S) * (astern - before)
        place = sensed.x_w[:2]
        if self._left and float(np.linalg.norm(self._left[0] - place)) < REACHED_M:
            self._circled = self._left.pop(0)
        if self._circled is None and not self._left:
            self._circled = place.copy()
        speed = -float(sensed.v_b[0])
        off = turn_between(math.atan2(self._course[1], self._course[0]), self._wanted(place))
        turn = _TURN_PER_S * off + (0.0 if self._left else speed / CIRCLE_M)
        # Both axles turned by phi, one against the other, bend the way by tan(phi) over their distance from the middle.
        bend = turn / max(speed, _LEAST_MPS) * scalar(vehicle.values["half_length"])
        stick = min(max(-math.atan(bend) / riding.steer_rad, -_MOST_STICK), _MOST_STICK)
        held = (
            frozenset({riding.gaits[0].action}) if riding.gaits and speed < CRUISE_MPS else frozenset[str]()
        )
        return self._ride.controls(PilotInput(roll=stick, actions=held), sensed, vehicle, dt_s)

    def _wanted(self, place: np.ndarray) -> float:
        """Course [rad] to the next place, or round the last one, counter-clockwise."""
        if self._left:
            to = self._left[0] - place
            return math.atan2(float(to[1]), float(to[0]))
        assert self._circled is not None
        out = place - self._circled
        away = float(np.linalg.norm(out))
        bearing = math.atan2(float(out[1]), float(out[0]))
        return bearing + 0.5 * math.pi + math.atan(0.8 * (away - CIRCLE_M))
