"""A flying machine that lifts along its body z, as its controllers see it: what all kinds of it have."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sim.groups.numeric import skew

LIFT_WEIGHTS = 2.2
"""Most lift the flight modes ask for, in weights."""


def scalar(value: float | tuple[float, ...]) -> float:
    """A parameter value that is one number."""
    return float(value) if isinstance(value, (int, float)) else float(value[0])


@dataclass(frozen=True, slots=True)
class Airframe(ABC):
    """The parameters that matter to controllers; subclasses say which controls make a wanted torque and lift."""

    mass_kg: float
    inertia: np.ndarray
    """(3,) principal moments [kg m^2]."""
    gravity: float
    drag: float
    """Force per squared speed [kg/m]."""
    low: np.ndarray
    """(n_controls,) lower ends of the controls that the flight modes use."""
    high: np.ndarray

    @property
    def weight_N(self) -> float:
        return self.mass_kg * self.gravity

    @property
    def reversal(self) -> float:
        """Rate [1/s] above which turning pushes it the wrong way first; endless where it does not."""
        return math.inf

    def drag_acceleration(self, v_w: np.ndarray) -> np.ndarray:
        """(3,) acceleration [m/s^2] that makes up for drag in still air."""
        return self.drag / self.mass_kg * math.sqrt(float(v_w @ v_w)) * v_w

    @property
    def swing_radps(self) -> float:
        """Of what hangs from it; endless where nothing does."""
        return math.inf

    @abstractmethod
    def angular_authority(self) -> np.ndarray:
        """(3,) angular acceleration [rad/s^2] that half the control throws can make in a hover."""

    def gyroscopic_torque(self, omega_b: np.ndarray) -> np.ndarray:
        """(3,) torque [N m] that keeps the body rate constant."""
        torque: np.ndarray = skew(omega_b) @ (self.inertia * omega_b)
        return torque

    @abstractmethod
    def allocate(self, torque_b: np.ndarray, lift_N: float) -> np.ndarray:
        """Controls (n_controls,) with this torque [N m] and this force along body z [N], within the ranges."""
