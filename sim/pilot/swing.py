"""What hangs from an airframe: its weight, which the lift carries, too, and its swing, which a pilot takes out."""

import math
from typing import Protocol, runtime_checkable

import numpy as np

from sim.pilot.contract import Sensed
from sim.pilot.velocity import within
from sim.vehicles import Vehicle

DAMPING = 0.35
"""Of the swing, as a share of the critical one."""
MOST_MPS2 = 2.5


@runtime_checkable
class Hanging(Protocol):
    """What a vehicle tells of a load that hangs from it, beside `Vehicle.hanging_kg`."""

    @property
    def hangs_from_m(self) -> float:
        """Length from the hook to the load."""

    def load_off_hook(self, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(3,) way from hook to load [m] and its rate of change [m/s], in the world, of a flat node."""


def swing_radps(vehicle: Vehicle) -> float:
    """Of what hangs from it, small swings; endless where nothing does: w^2 = g/L (1 + m/M)."""
    if not isinstance(vehicle, Hanging):
        return math.inf
    gravity, mass = (float(np.max(vehicle.values[name])) for name in ("gravity", "mass"))
    return math.sqrt(gravity / vehicle.hangs_from_m * (1.0 + vehicle.hanging_kg / mass))


def against_swing(vehicle: Vehicle, sensed: Sensed) -> np.ndarray:
    """(2,) level acceleration [m/s^2] after the load, which takes the energy out of its swing.

    Of a load m under an airframe M the way x from hook to load obeys x'' = -w^2 x - (1 + m/M) a, so that
    a = 2 D w x' / (1 + m/M) damps it.
    """
    if not isinstance(vehicle, Hanging):
        return np.zeros(2)
    _, rate_w = vehicle.load_off_hook(sensed.node)
    heavier = 1.0 + vehicle.hanging_kg / float(np.max(vehicle.values["mass"]))
    return within(2.0 * DAMPING * swing_radps(vehicle) / heavier * rate_w[:2], MOST_MPS2)
