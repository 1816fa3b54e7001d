"""Where something has hit the water: noted when a vehicle that does not float comes under its level."""

from collections import deque

import numpy as np

from render.frame import Splash
from sim.vehicle_config import config_of

KEPT_S = 9.0
"""Simulated time after which the rings have died away."""
_DRY_M = 0.4
"""A vehicle has left the water when its origin is this far above where it entered."""


class Splashes:
    """The splashes of one lane; starts anew with every generation."""

    def __init__(self, water_level_m: float) -> None:
        self._level_m = water_level_m
        self._generation: int | None = None
        self._wet = False
        self._last: tuple[float, float] | None = None
        self._splashes: deque[tuple[float, tuple[float, float], float]] = deque(maxlen=4)

    def extend(self, vehicle: str, generation: int, time_s: float, T_wb: np.ndarray, soles_m: float) -> None:
        """Note where the lane is now, (4, 4), `soles_m` above its lowest point; a scrub back forgets what lay ahead."""
        if generation != self._generation:
            self._splashes.clear()
            self._generation, self._last, self._wet = generation, None, False
        while self._splashes and self._splashes[-1][0] > time_s:
            self._splashes.pop()
        if config_of(vehicle).hull is not None or not np.isfinite(T_wb).all():
            return
        height = float(T_wb[2, 3]) - soles_m - self._level_m
        if height < 0.0 and not self._wet and self._last is not None and time_s > self._last[0]:
            sinking = (self._last[1] - height) / (time_s - self._last[0])
            self._splashes.append((time_s, (float(T_wb[0, 3]), float(T_wb[1, 3])), max(sinking, 0.0)))
        self._wet = height < 0.0 or (self._wet and height < _DRY_M)
        self._last = (time_s, height)

    def present(self, time_s: float) -> tuple[Splash, ...]:
        """Those whose rings still run."""
        return tuple(
            Splash(place, time_s - at_s, speed)
            for at_s, place, speed in self._splashes
            if 0.0 <= time_s - at_s < KEPT_S
        )
