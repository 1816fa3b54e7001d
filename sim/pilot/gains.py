"""How fast each control loop may be for this airframe, evaluated this often."""

from dataclasses import dataclass

from sim.outfit.modes import Flying
from sim.pilot.airframe import Airframe


@dataclass(frozen=True, slots=True)
class Gains:
    """Bandwidths of the cascaded loops [1/s], each a third of the one inside it, and the fastest climb and descent."""

    rate: float
    attitude: float
    velocity: float
    position: float
    climb: float
    altitude: float
    climb_mps: float
    descent_mps: float

    @classmethod
    def of(cls, airframe: Airframe, dt_s: float, flying: Flying) -> "Gains":
        """Bandwidths as wanted, as far as they stay stable with controls held for `dt_s`.

        Where turning the body first pushes it the wrong way, that limits how fast the velocity loop may be; so does
        the swing of what hangs from it.
        """
        rate = min(flying.rate_gain, 0.4 / dt_s)
        attitude = rate / 3.0
        velocity = min(attitude / 3.0, 0.33 * airframe.reversal, 0.4 * airframe.swing_radps)
        climb = min(flying.climb_gain, 0.4 / dt_s)
        return cls(
            rate,
            attitude,
            velocity,
            velocity / 3.0,
            climb,
            climb / 2.5,
            flying.climb_mps,
            flying.descent_mps,
        )
