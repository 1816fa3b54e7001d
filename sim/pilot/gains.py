"""How fast each control loop may be for this airframe, evaluated this often."""

import math
from dataclasses import dataclass

from sim.pilot.airframe import Airframe


@dataclass(frozen=True, slots=True)
class Gains:
    """Bandwidths of the cascaded loops [1/s]: each is a third of the one inside it."""

    rate: float
    attitude: float
    velocity: float
    position: float
    climb: float
    altitude: float

    @classmethod
    def of(cls, airframe: Airframe, dt_s: float) -> "Gains":
        """Bandwidths that stay stable with controls held for `dt_s`.

        Tilting the rotor to turn the body first pushes it the wrong way, which limits how fast the velocity
        loop may be: to a fraction of sqrt(m g d_t / J), the zero of that response.
        """
        rate = min(8.0, 0.4 / dt_s)
        attitude = rate / 3.0
        lever = airframe.weight_N * airframe.rotor_offset_m
        reversal = math.sqrt(max(lever, 1e-9) / max(float(airframe.inertia[0]), float(airframe.inertia[1])))
        velocity = min(attitude / 3.0, 0.33 * reversal)
        climb = min(2.5, 0.4 / dt_s)
        return cls(rate, attitude, velocity, velocity / 3.0, climb, climb / 2.5)
