"""Rate mode: sticks ask for body rates, the throttle for lift."""

import math

import numpy as np

from sim.commands import PilotInput
from sim.outfit import outfit_of
from sim.pilot.airframes import airframe_of
from sim.pilot.climb import ClimbState, first_climb_state, settled
from sim.pilot.contract import Sensed
from sim.pilot.flight import rate_torque
from sim.pilot.gains import Gains
from sim.vehicles import Vehicle


class RatePilot:
    """Hands off the vehicle keeps its attitude in space, and drifts with it."""

    def __init__(self) -> None:
        self._climb: ClimbState | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Centred throttle lifts the weight at moderate tilts; on the ground the rotor idles until raised."""
        airframe = airframe_of(vehicle)
        modes = outfit_of(vehicle.name).modes
        gains, most = Gains.of(airframe, dt_s, modes.flying), modes.rates
        self._climb = settled(self._climb or first_climb_state(sensed), sticks.throttle, sensed, dt_s)
        wanted = np.array(
            [most.roll_radps * sticks.roll, most.pitch_radps * sticks.pitch, -most.yaw_radps * sticks.yaw]
        )
        torque = rate_torque(airframe, sensed, wanted, gains)
        upright = max(float(sensed.R_wb[2, 2]), math.cos(math.radians(45.0)))
        lift = airframe.weight_N / upright * (1.0 + most.lift_span * sticks.throttle)
        return airframe.allocate(torque * self._climb.spool, lift * self._climb.spool)
