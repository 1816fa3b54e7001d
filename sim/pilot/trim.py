"""Constant deflections on top of what a pilot gives, so that a scene can hold a control without hands."""

import numpy as np

from sim.commands import PilotInput
from sim.pilot.contract import Pilot, Sensed
from sim.vehicles import Vehicle


class TrimmedPilot:
    """Another pilot's controls, shifted and kept within their ranges."""

    def __init__(self, pilot: Pilot, trim: dict[str, float]) -> None:
        """`trim`: by control name, in the control's unit."""
        self._pilot, self._trim = pilot, dict(trim)

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) of the other pilot plus the trim."""
        wanted = self._pilot.controls(sticks, sensed, vehicle, dt_s)
        wanted = wanted + [self._trim.get(control.name, 0.0) for control in vehicle.controls]
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted, low, high)
