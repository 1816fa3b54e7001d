"""A pilot that flies a plan: its inputs as they were planned, or corrected on the way."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Sensed
from sim.pilot.tracking import Track
from sim.vehicles import Vehicle


class PlannedPilot:
    """Open loop gives out the planned inputs bit for bit; with a track, errors are fed back."""

    def __init__(self, controls: np.ndarray, step_s: float, track: Track | None = None) -> None:
        """`controls` (N+1, n_controls) at the nodes of a plan that are `step_s` apart."""
        self._controls, self._step_s, self._track = controls, step_s, track
        self._calls = 0

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """The plan's inputs at this time; sticks are not heard.

        A plan's inputs act about its nodes, so between them they run straight from one to the next. Who steps as
        the plan does gets them as they are.
        """
        now, self._calls = self._calls, self._calls + 1
        if math.isclose(dt_s, self._step_s):
            at = float(now)
        else:
            at = (now + 0.5) * dt_s / self._step_s
        k = min(math.floor(at), len(self._controls) - 1)
        following = self._controls[min(k + 1, len(self._controls) - 1)]
        u = self._controls[k] + (at - k) * (following - self._controls[k])
        if self._track is None:
            return u
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(u + self._track.correction(round(now * dt_s / self._step_s), sensed.node), low, high)
