"""Leading the target of a load, unasked: along the scene's way, or round a level circle where it has none."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.errand import Errand
from sim.pilot.led import led
from sim.target_path import Aim, Loop, TargetPath
from sim.vehicles import Vehicle
from sim.vehicles.leading import Leader

CIRCLE_M, ROUND_S = 1.5, 16.0
"""Radius of the circle, and how long once round it takes."""


class LeadPilot(Automatic):
    """Serves what follows a leader. At the end of a way that ends it stays."""

    def __init__(self, errand: Errand) -> None:
        self._path = errand.target

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Accelerations of the target [m/s^2], within their ranges."""
        if self._path is None:
            self._path = _circle_through(sensed.node[Leader.of(vehicle).place], sensed.time_s)
        now = _until_its_end(self._path, sensed.time_s)
        middle = _until_its_end(self._path, sensed.time_s + 0.5 * dt_s)
        return led(now, middle.acceleration, sensed, vehicle, dt_s)


def _circle_through(place_w: np.ndarray, time_s: float) -> TargetPath:
    """It is at the place at that time, and bends to the left, first along x."""
    x, y, z = (float(value) for value in place_w)
    angle = 2.0 * math.pi * time_s / ROUND_S
    phases = (-angle, -0.5 * math.pi - angle, 0.0)
    return Loop((x, y + CIRCLE_M, z), (CIRCLE_M, CIRCLE_M, 0.0), (1, 1, 1), phases, 0.0, ROUND_S)


def _until_its_end(path: TargetPath, time_s: float) -> Aim:
    if path.endless or time_s < path.duration_s:
        return path.at(time_s)
    return Aim(path.at(path.duration_s).place, np.zeros(3), np.zeros(3))
