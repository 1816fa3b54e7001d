"""Leading the target of a load along a path, until the sticks take it."""

from dataclasses import fields

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Pilot, Sensed
from sim.target_path import Aim, TargetPath
from sim.vehicles import Vehicle
from sim.vehicles.leading import Leader

_TOUCHED = 0.1
"""Deflection of a stick that somebody means."""
_BACK_PER_S, _SPEED_PER_S, _MOST_MPS = 1.5, 3.0, 3.0
"""How a target that is off the path comes back to it: speed by distance, acceleration by speed, and the most speed."""


class LedPilot:
    """Serves what follows a leader; remembers whether the sticks have it."""

    def __init__(self, pilot: Pilot, path: TargetPath) -> None:
        """`pilot`: who hears the sticks, from their first touch on, or from the end of the path."""
        self._pilot, self._path = pilot, path
        self._taken = False

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """The path's acceleration in the middle of what is asked for, and what brings the target back to the path."""
        middle_s = sensed.time_s + 0.5 * dt_s
        over = not self._path.endless and middle_s > self._path.duration_s
        self._taken = self._taken or over or _touched(sticks)
        if self._taken:
            return self._pilot.controls(sticks, sensed, vehicle, dt_s)
        return led(self._path.at(sensed.time_s), self._path.at(middle_s).acceleration, sensed, vehicle, dt_s)


def led(now: Aim, acceleration_w: np.ndarray, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
    """(n_controls,) that give the target an acceleration (3,) of `dt_s`, and what brings it back to where it should
    be now; within their ranges."""
    leader, node = Leader.of(vehicle), sensed.node
    acceleration = acceleration_w + _back(leader, now, node)
    middle_velocity = node[leader.velocity] + 0.5 * dt_s * acceleration
    low = np.array([control.low for control in vehicle.controls])
    high = np.array([control.high for control in vehicle.controls])
    return np.clip(
        leader.controls(leader.put(node, node[leader.place], middle_velocity), acceleration), low, high
    )


def _back(leader: Leader, now: Aim, node: np.ndarray) -> np.ndarray:
    """(3,) more acceleration than the path's own."""
    toward = _BACK_PER_S * (now.place - node[leader.place])
    size = float(np.linalg.norm(toward))
    toward *= min(1.0, _MOST_MPS / max(size, 1e-12))
    return _SPEED_PER_S * (now.velocity + toward - node[leader.velocity])


def _touched(sticks: PilotInput) -> bool:
    values = (getattr(sticks, field.name) for field in fields(sticks))
    return any(abs(value) > _TOUCHED for value in values if isinstance(value, float))
