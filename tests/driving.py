"""How the tests drive the car round its lap by keys that are held."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

CRUISE_MPS = 7.5
WHEELBASE_M = 2.4
REACTION_S = 0.15
"""From what is seen to what a key does, beside the time between two looks."""
BLIND_M = 1.9
"""The car may go this far within a reaction: where the machine is busy, it is driven more slowly."""


class Reaction:
    """Simulated seconds from what is seen to what is done about it: the longest of late."""

    def __init__(self, clock_s: float) -> None:
        self._clock_s, self.time_s = clock_s, REACTION_S

    def looked(self, clock_s: float) -> None:
        """At a moment, which need not be a new one."""
        if clock_s == self._clock_s:
            return
        self.time_s = max(0.95 * self.time_s, REACTION_S + clock_s - self._clock_s)
        self._clock_s = clock_s


def steering(lap: np.ndarray, lane: Mapping[str, Any], reaction_s: float) -> tuple[float, float]:
    """(bend wanted towards a point ahead on the lap, distance from its centre line now)."""
    place, heading, speed = np.array(lane["x_w"][:2]), lane["heading_rad"], lane["v_b"][0]
    off = float(np.linalg.norm(lap - place, axis=1).min())
    travel = speed * reaction_s
    place = place + travel * np.array([math.cos(heading), math.sin(heading)])
    heading += travel * lane["shape"][1] / WHEELBASE_M
    nearest = int(np.linalg.norm(lap - place, axis=1).argmin())
    ahead = lap[(nearest + round(2 * (3.0 + 0.6 * speed))) % (len(lap) - 1)] - place
    left = math.cos(heading) * ahead[1] - math.sin(heading) * ahead[0]
    return 2.0 * left / float(ahead @ ahead), off


def keys_for(bend: float, off: float, lane: Mapping[str, Any], reaction_s: float) -> list[str]:
    """Held keys: the wheel is turned while the car's own bend falls short of the one wanted; slower when astray."""
    speed, cruise = lane["v_b"][0], min(CRUISE_MPS, BLIND_M / reaction_s) / (1.0 + off**2)
    held = ["w"] if speed < max(cruise, 1.0) else ["s"] if speed > cruise + 2.0 else []
    missing = bend - lane["shape"][1] / WHEELBASE_M
    if abs(missing) > 0.012:
        held.append("a" if missing > 0.0 else "d")
    return held


def further(lap: np.ndarray, passed: int, lane: Mapping[str, Any]) -> int:
    """The point of the lap that has been passed last, which is none that was jumped to."""
    at = int(np.linalg.norm(lap - lane["x_w"][:2], axis=1).argmin())
    return at if 0 <= at - passed < 80 else passed
