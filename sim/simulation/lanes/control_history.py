"""The flown lane's controls over simulated time, for the lanes that get the same ones."""

import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from sim.steppers.dynamics import Dynamics

_SAME_S = 1e-9
"""Sums of steps are rounded: moments this near are one."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Controls that are held for a while."""

    controls: np.ndarray
    until_s: float

    def steps(self, time_s: float, dynamics: Dynamics) -> int:
        """That start under them from `time_s` on."""
        if not math.isfinite(self.until_s):
            return dynamics.control_steps
        return max(math.ceil((self.until_s - time_s) / dynamics.step_s - 1e-6), 1)


class ControlHistory:
    """Piecewise constant controls, known a little into the future: until they are evaluated anew.

    A lane that follows takes for each of its steps the controls at the step's start, so equal steps get equal
    controls, bit for bit, whatever the lanes' methods are.
    """

    def __init__(self) -> None:
        self._times: list[float] = []
        self._rows: list[np.ndarray] = []
        self.known_until_s = -math.inf

    def clear(self) -> None:
        """The flown lane starts anew."""
        self._times.clear()
        self._rows.clear()
        self.known_until_s = -math.inf

    def record(self, time_s: float, controls: np.ndarray, until_s: float) -> None:
        """Controls from `time_s` on; what was known of later times is void."""
        while self._times and self._times[-1] >= time_s - _SAME_S:
            self._times.pop()
            self._rows.pop()
        self._times.append(time_s)
        self._rows.append(controls)
        self.known_until_s = until_s

    def hold(self) -> None:
        """The flown lane has stopped: its last controls stay."""
        if self._times:
            self.known_until_s = math.inf

    def known(self, time_s: float) -> bool:
        """Whether the controls of a step that starts then are known."""
        return time_s < self.known_until_s - _SAME_S

    def at(self, time_s: float) -> Stretch:
        """What acts at a known moment, and until when."""
        index = max(bisect_right(self._times, time_s + _SAME_S) - 1, 0)
        last = index + 1 == len(self._times)
        return Stretch(self._rows[index], self.known_until_s if last else self._times[index + 1])

    def forget_before(self, time_s: float) -> None:
        """Nobody will ask for earlier moments."""
        first = max(bisect_right(self._times, time_s + _SAME_S) - 1, 0)
        del self._times[:first], self._rows[:first]
