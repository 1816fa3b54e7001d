"""What wind, waves and current there are."""

from dataclasses import dataclass

from sim.water.ocean.sea import Sea


@dataclass(frozen=True, slots=True)
class Weather:
    """What water and air do about a vehicle."""

    sea: Sea
    wind_mps: tuple[float, float] = (0.0, 0.0)
    """World x and y."""
    gusts: float = 0.0
    """Standard deviation of the wind's strength over its mean."""
    current_mps: tuple[float, float] = (0.0, 0.0)
