"""What hangs from an airframe: its weight, which the lift carries, too, and its swing, which a pilot takes out."""

import math

import numpy as np

from sim.pilot.contract import Sensed
from sim.pilot.velocity import within
from sim.vehicles import Vehicle
from sim.vehicles.slung import SlungLoad

DAMPING = 0.35
"""Of the swing, as a share of the critical one."""
MOST_MPS2 = 2.5


def swing_radps(vehicle: Vehicle) -> float:
    """Of what hangs from it, small swings; endless where nothing does: w^2 = g/L (1 + m/M)."""
    if not isinstance(vehicle, SlungLoad):
        return math.inf
    values = {name: float(np.max(vehicle.values[name])) for name in ("mass", "gravity", "cable_length")}
    return math.sqrt(values["gravity"] / values["cable_length"] * (1.0 + vehicle.hanging_kg / values["mass"]))


def against_swing(vehicle: Vehicle, sensed: Sensed) -> np.ndarray:
    """(2,) level acceleration [m/s^2] after the load, which takes the energy out of its swing.

    Of a load m under an airframe M the way x from hook to load obeys x'' = -w^2 x - (1 + m/M) a, so that
    a = 2 D w x' / (1 + m/M) damps it.
    """
    if not isinstance(vehicle, SlungLoad):
        return np.zeros(2)
    _, rate_w = vehicle.load_off_hook(sensed.node)
    heavier = 1.0 + vehicle.hanging_kg / float(np.max(vehicle.values["mass"]))
    return within(2.0 * DAMPING * swing_radps(vehicle) / heavier * rate_w[:2], MOST_MPS2)
