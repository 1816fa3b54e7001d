"""A lap that has been driven or flown: its times at the gates, and the motion."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Lap:
    """From the passage of the first gate, at which its time is 0, to that of the last one."""

    splits_s: tuple[float, ...]
    """At every passage; the first is 0."""
    time: np.ndarray
    """(n,) s since the first gate; a little before it and a little after the last one."""
    poses: np.ndarray
    """(n, 4, 4) of the main body, to the world."""
    counts: bool = True
    """Steered by hand in one go: not by a plan or an autopilot, and not flown on from an earlier moment."""

    @property
    def lap_s(self) -> float:
        return self.splits_s[-1]
