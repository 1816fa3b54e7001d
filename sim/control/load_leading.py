"""Leading the target of a carried load: along the scene's way or a level circle, until the sticks take it."""

import math
from dataclasses import fields

import numpy as np

from sim.control.pilot import Automatic, Mission, Pilot, Sensed
from sim.control.target_path import Aim, LoopPath, TargetPath
from sim.controllers import PilotInput
from sim.vehicles import Vehicle
from sim.vehicles.forms.homogeneous import Leader

_TOUCHED = 0.1
"""Deflection of a stick that somebody means."""
_BACK_PER_S, _SPEED_PER_S, _MOST_MPS = 1.5, 3.0, 3.0
"""How a target that is off the path comes back to it: speed by distance, acceleration by speed, and the most speed."""

_BRAKE_MPS2, _RISE_MPS = 3.0, 2.0
"""Of a target above the ground, and how fast it comes out of it."""


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


def kept_above_ground(controls: np.ndarray, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
    """The controls (n_controls,), but for those of a target that would not come to rest above the ground under them:
    it brakes in time, and rises out of the ground where it is in it. Those of what follows no target are as given."""
    over_m = sensed.leader_clearance_m
    if not math.isfinite(over_m):
        return controls
    leader = Leader.of(vehicle)
    if over_m < 0.0:
        least_mps = min(-over_m / dt_s, _RISE_MPS)
    else:
        least_mps = -min(math.sqrt(2.0 * _BRAKE_MPS2 * over_m), over_m / dt_s)
    given = leader.acceleration(sensed.node, controls)
    least = (least_mps - sensed.node[leader.velocity][2]) / dt_s
    if given[2] >= least:
        return controls
    given[2] = least
    low = np.array([control.low for control in vehicle.controls])
    high = np.array([control.high for control in vehicle.controls])
    return np.clip(leader.controls(sensed.node, given), low, high)


def _touched(sticks: PilotInput) -> bool:
    values = (getattr(sticks, field.name) for field in fields(sticks))
    return any(abs(value) > _TOUCHED for value in values if isinstance(value, float))


CIRCLE_M, ROUND_S = 1.5, 16.0
"""Radius of the circle, and how long once round it takes."""


class LeadPilot(Automatic):
    """Serves what follows a leader. At the end of a way that ends it stays."""

    def __init__(self, mission: Mission) -> None:
        self._path = mission.target

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
    return LoopPath((x, y + CIRCLE_M, z), (CIRCLE_M, CIRCLE_M, 0.0), (1, 1, 1), phases, 0.0, ROUND_S)


def _until_its_end(path: TargetPath, time_s: float) -> Aim:
    if path.endless or time_s < path.duration_s:
        return path.at(time_s)
    return Aim(path.at(path.duration_s).place, np.zeros(3), np.zeros(3))
