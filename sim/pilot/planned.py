"""A pilot that flies a plan: its inputs as they were planned, or corrected on the way."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Sensed
from sim.pilot.tracking import Track
from sim.vehicles import Vehicle
from sim.vehicles.support import Support

_LEARNING_S = 0.5
"""In which what is not explained yet shrinks to 1/e."""


class PlannedPilot:
    """Open loop gives out the planned inputs bit for bit; with a track, errors are fed back."""

    def __init__(self, controls: np.ndarray, step_s: float, track: Track | None = None) -> None:
        """`controls` (N+1, n_controls) of the steps from the nodes of a plan, which are `step_s` apart."""
        self._controls, self._step_s = controls, step_s
        self._follower = None if track is None else _Follower(track)
        self._calls = 0

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """The plan's inputs at this time, each row held over its step; sticks are not heard.

        Who steps otherwise gets the row of the middle of what it asks for.
        """
        now, self._calls = self._calls, self._calls + 1
        k = math.floor((now + 0.5) * dt_s / self._step_s)
        u = self._controls[min(k, len(self._controls) - 1)]
        if self._follower is None:
            return u
        return self._follower.corrected(round(now * dt_s / self._step_s), u, sensed, vehicle)


class _Follower:
    """Feeds errors back, and learns what steadily leads aside.

    Where the regulator's model and the inputs should have led is compared with where the vehicle has come to. The
    inputs are those that act, so nothing winds up while they are at their limits.
    """

    def __init__(self, track: Track) -> None:
        self._track = track
        self._step = 0
        self._error, self._drift = np.zeros((2, track.turned.shape[2]))
        """The error at the beginning of that step."""
        self._given: list[np.ndarray] = []
        """More than planned, since then."""

    def corrected(self, step: int, planned: np.ndarray, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
        """The inputs at a time in a step of the plan; as they are after the last one."""
        if step >= len(self._track.gains):
            return planned
        error = self._track.error(step, sensed.node)
        if step != self._step:
            if step == self._step + 1 and not _carried(sensed, vehicle):
                self._learn(error)
            self._step, self._error, self._given = step, error, []
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        more = self._track.correction(step, error, self._drift)
        u = np.clip(planned + more, low, high)
        self._given.append(u - planned)
        return u

    def _learn(self, ended: np.ndarray) -> None:
        """From the step that has just ended."""
        seen = self._track.drift(self._step, self._error, np.mean(self._given, axis=0), ended)
        self._drift += -math.expm1(-self._track.step_s / _LEARNING_S) * (seen - self._drift)


def _carried(sensed: Sensed, vehicle: Vehicle) -> bool:
    """By the ground, which is no wind."""
    return vehicle.support is Support.NOTHING and sensed.clearance_m <= 0.0
