"""What a sea is told by: the wind that has raised it, over which way, and the number that its waves are drawn by."""

import math
from dataclasses import dataclass

import numpy as np

from sim.platform.errors import InputError

MOST_WIND_MPS = 32.0
GRAVITY_MPS2 = 9.81


@dataclass(frozen=True, slots=True)
class Sea:
    """Waves of deep water under a steady wind. Raises InputError for numbers out of range."""

    wind_mps: float = 6.0
    """Ten metres above the water; none makes a calm sea."""
    direction_rad: float = 0.0
    """Where wind and waves go to, from world x towards y."""
    fetch_m: float = 60e3
    """The way over which the wind has blown."""
    choppiness: float = 1.0
    """Share of the waves' horizontal motion, which sharpens the crests: 0 none, 1 that of linear theory."""
    seed: int = 1

    def __post_init__(self) -> None:
        for name, low, high, unit in (
            ("wind_mps", 0.0, MOST_WIND_MPS, "m/s"),
            ("direction_rad", -4 * math.pi, 4 * math.pi, "rad"),
            ("fetch_m", 100.0, 2e6, "m"),
            ("choppiness", 0.0, 1.5, ""),
            ("seed", 0, 2**63 - 1, ""),
        ):
            value = getattr(self, name)
            if not math.isfinite(value) or not low <= value <= high:
                raise InputError(
                    f"sea: {name} = {value!r} is out of range; allowed: {low:g} to {high:g} {unit}".rstrip()
                )

    @property
    def numbers(self) -> np.ndarray:
        """(4,) wind, direction, fetch, choppiness, as compiled functions take them."""
        return np.array([self.wind_mps, self.direction_rad, self.fetch_m, self.choppiness])
