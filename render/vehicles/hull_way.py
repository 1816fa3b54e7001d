"""Where a hull has been lately, by moments that do not depend on when it was looked at."""

import math
from collections import deque

import numpy as np

from render.frame import HULL_EVERY_S, HullWay
from sim.groups.numeric import pose_between
from sim.vehicle_config import VehicleConfig

KEPT = 80
"""Moments: after which what has come on deck is gone."""
_LONGEST_S = 1.0
"""A longer pause between two looks is not crossed."""


class HullTrack:
    """Of one lane; starts anew with every generation."""

    def __init__(self) -> None:
        self._of: tuple[str, int] | None = None
        self._last: tuple[float, np.ndarray] | None = None
        self._next = 0
        self._poses: deque[np.ndarray] = deque(maxlen=KEPT)

    def extend(self, config: VehicleConfig, of: tuple[str, int], time_s: float, T_wb: np.ndarray) -> None:
        """Note where the lane of that name and generation is now, (4, 4); time running back clears what lay ahead.

        Between two looks it has moved along the group's screw motion.
        """
        if of != self._of:
            self._poses.clear()
            self._of, self._last = of, None
        if config.hull is None or config.hull.surface is None or not np.isfinite(T_wb).all():
            return
        while self._poses and (self._next - 1) * HULL_EVERY_S > time_s:
            self._poses.pop()
            self._next -= 1
        last, self._last = self._last, (time_s, T_wb.copy())
        if last is None or not 0.0 <= time_s - last[0] < _LONGEST_S:
            if last is not None and time_s > last[0]:
                self._poses.clear()
            return
        for moment in range(math.floor(last[0] / HULL_EVERY_S) + 1, math.floor(time_s / HULL_EVERY_S) + 1):
            share = (moment * HULL_EVERY_S - last[0]) / (time_s - last[0])
            if self._poses and moment != self._next:
                self._poses.clear()
            self._poses.append(pose_between(last[1], T_wb, share))
            self._next = moment + 1

    def way(self) -> HullWay | None:
        """As far as it is known; None before two moments are."""
        if self._of is None or len(self._poses) < 2:
            return None
        return HullWay(self._of, self._next - len(self._poses), np.array(self._poses))
