"""What a pilot is: sticks and senses in, controls out."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sim.commands import PilotInput
from sim.vehicles import Vehicle


@dataclass(frozen=True, slots=True)
class Sensed:
    """What a pilot knows of the vehicle's motion at one moment."""

    R_wb: np.ndarray
    """(3, 3) body to world."""
    x_w: np.ndarray
    """(3,) body origin [m]."""
    omega_b: np.ndarray
    """(3,) [rad/s]."""
    v_b: np.ndarray
    """(3,) [m/s]."""
    clearance_m: float = float("inf")
    """Height of the lowest contact point above the ground; inf where there is none."""
    node: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """The vehicle's whole state, flat, as its own layout says."""
    load_clearance_m: float = float("inf")
    """Height of what hangs from it above the ground; inf where nothing does."""
    time_s: float = 0.0
    """Simulated time."""

    @property
    def v_w(self) -> np.ndarray:
        """(3,) velocity in the world frame [m/s]."""
        return self.R_wb @ self.v_b


class Automatic:
    """Base of the pilots that do not hear the sticks: what they do is not done by hand."""


class Pilot(Protocol):
    """Turns sticks into controls; may remember what it holds (a heading, an altitude) between calls."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) in the vehicle's order and units, within its ranges.

        They act during the next `dt_s` seconds.
        """
        ...
