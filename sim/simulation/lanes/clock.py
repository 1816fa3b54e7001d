"""Simulated time against wall time. Pure bookkeeping: reads no clock itself."""

import math
from dataclasses import dataclass

MOST_DEBT_S = 0.25
"""Wall time that is caught up with; what is lost beyond it (a suspended laptop, a machine too slow) stays lost."""
_MEMORY_S = 0.5


def due_steps(clock_s: float, since_s: float, step_s: float) -> int:
    """Whole steps of `step_s` between `since_s` and `clock_s`.

    Sums of frame times are rounded, so a step counts as due a billionth of a step early.
    """
    return max(math.floor((clock_s - since_s) / step_s + 1e-9), 0)


@dataclass(slots=True)
class Clock:
    """How much simulated time has been asked for, and how well the machine keeps up with it."""

    time_s: float = 0.0
    speed: float = 1.0
    """Simulated seconds per wall second; the step never changes with it."""
    paused: bool = False
    _debt_s: float = 0.0
    _asked_s: float = 0.0
    _done_s: float = 0.0

    def ask(self, wall_s: float) -> None:
        """`wall_s` seconds of wall time have passed."""
        if not self.paused:
            self._debt_s = min(self._debt_s + max(wall_s, 0.0) * self.speed, MOST_DEBT_S * self.speed)

    @property
    def owed_s(self) -> float:
        """Simulated seconds that were asked for and not yet paid; none while paused."""
        return 0.0 if self.paused else self._debt_s

    def pay(self, seconds: float) -> None:
        """So many simulated seconds of those owed are done."""
        self._debt_s = max(self._debt_s - seconds, 0.0)

    def record(self, wall_s: float, done_s: float) -> None:
        """Note that `done_s` simulated seconds were reached in `wall_s` of wall time."""
        if self.paused or wall_s <= 0.0:
            return
        keep = math.exp(-wall_s / _MEMORY_S)
        self._asked_s = keep * self._asked_s + wall_s * self.speed
        self._done_s = keep * self._done_s + done_s

    def forget(self) -> None:
        """Owe nothing and start the measurement anew, after a pause or a change of speed."""
        self._debt_s = self._asked_s = self._done_s = 0.0

    @property
    def real_time_factor(self) -> float:
        """Simulated time reached over simulated time asked for, of the last half second; nan while paused."""
        if self.paused:
            return math.nan
        return self._done_s / self._asked_s if self._asked_s > 0.0 else 1.0
