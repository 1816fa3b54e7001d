"""The sea about a moment as it is told to others: what may be read at any time by whoever draws it."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sim.compiled import compiled

CHANGE_S = 8.0
"""A sea that is told to change has done so after this time."""


@compiled
def changing(before: np.ndarray, after: np.ndarray, since_s: float, time_s: float, out: np.ndarray) -> None:
    """The sea (4,) of a time: from the one before it was told to change to the one told, with no jump."""
    share = min(max((time_s - since_s) / CHANGE_S, 0.0), 1.0)
    share = share * share * (3.0 - 2.0 * share)
    for k in range(4):
        out[k] = (1.0 - share) * before[k] + share * after[k]


def other_sea(now: np.ndarray, told: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """The sea (4,) to go over to from now, with its direction the shorter way round; None where that was told."""
    towards = wanted.copy()
    towards[1] = now[1] + math.remainder(wanted[1] - now[1], 2 * math.pi)
    return None if np.abs(towards - told).max() <= 1e-12 * np.abs(told).max() else towards


@dataclass(frozen=True, slots=True, eq=False)
class SeaState:
    """Arrays that are never written to again; time counts as the lane's does."""

    waves: tuple[np.ndarray, ...]
    """start, place, number and drawn of `Waves`, edges of the tiles [m], twiddles of the transform."""
    before: np.ndarray
    after: np.ndarray
    """(4,) wind [m/s], direction [rad], fetch [m], choppiness: of the sea before it was told to change, and after."""
    since_s: float
    """When it was."""
    level_m: float
    """World z of the mean surface."""

    def numbers(self, time_s: float) -> np.ndarray:
        """(4,) as `Sea.numbers` has them, at a time."""
        out = np.empty(4)
        changing(self.before, self.after, self.since_s, time_s, out)
        return out

    def told(self, wanted: np.ndarray, time_s: float) -> "SeaState":
        """From that time on it goes over to another sea (4,)."""
        now = self.numbers(time_s)
        towards = other_sea(now, self.after, wanted)
        return self if towards is None else replace(self, before=now, after=towards, since_s=time_s)
