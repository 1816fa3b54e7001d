"""Rate mode: sticks ask for body rates, the throttle for lift."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.airframe import Airframe
from sim.pilot.climb import ClimbState, first_climb_state, settled
from sim.pilot.contract import Sensed
from sim.pilot.flight import rate_torque
from sim.pilot.gains import Gains
from sim.vehicles import Vehicle

STICK_RATE = np.array([1.5, 1.2, 1.2])
"""Body rates at full stick [rad/s]."""
LIFT_SPAN = 0.7
"""Full throttle adds this share of the hover lift, full down takes it away."""


class RatePilot:
    """Hands off the helicopter keeps its attitude in space, and drifts with it."""

    def __init__(self) -> None:
        self._climb: ClimbState | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Centred throttle lifts the weight at moderate tilts; on the ground the rotor idles until raised."""
        airframe = Airframe.of(vehicle)
        gains = Gains.of(airframe, dt_s)
        self._climb = settled(self._climb or first_climb_state(sensed), sticks.throttle, sensed, dt_s)
        wanted = STICK_RATE * np.array([sticks.roll, sticks.pitch, -sticks.yaw])
        torque = rate_torque(airframe, sensed, wanted, gains)
        upright = max(float(sensed.R_wb[2, 2]), math.cos(math.radians(45.0)))
        lift = airframe.weight_N / upright * (1.0 + LIFT_SPAN * sticks.throttle)
        return airframe.allocate(torque * self._climb.spool, lift * self._climb.spool)
