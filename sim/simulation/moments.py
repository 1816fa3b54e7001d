"""The last two moments at which a lane was published: what the renderer interpolates between."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Two poses and their times; equal where nothing may be interpolated."""

    previous_s: float
    previous_T_wb: np.ndarray
    current_s: float
    current_T_wb: np.ndarray

    @classmethod
    def only(cls, time_s: float, T_wb: np.ndarray) -> "Moments":
        """After a discontinuity."""
        return cls(time_s, T_wb, time_s, T_wb)

    def then(self, time_s: float, T_wb: np.ndarray) -> "Moments":
        """One moment later; the same where no time has passed."""
        if time_s <= self.current_s:
            return self
        return Moments(self.current_s, self.current_T_wb, time_s, T_wb)
