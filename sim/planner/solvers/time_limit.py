"""How long a plan is looked for: time of the processor, so that a busy machine finds what a quiet one does."""

import os
import threading
import time
from numbers import Real

from sim.platform.errors import InputError, quote

_BY_THE_CLOCK = 10.0
"""So many times as long by the clock: whoever waits behind a machine that others use hears in the end, too."""
_ENDLESS_S = 1e9


class TimeLimit:
    """Seconds of the processor, of the thread that plans and of the solvers' threads that it waits for.

    Whoever else is at work in the process, or a solver that was left behind, takes nothing of it. A fork goes on from
    what was spent until then, by a count of its own.
    """

    def __init__(self, limit_s: float, whole: "TimeLimit | None" = None) -> None:
        """whole: what is spent is of this, too."""
        self.limit_s, self._whole = min(limit_s, _ENDLESS_S), whole
        self.until_s = time.perf_counter() + _BY_THE_CLOCK * self.limit_s
        """`time.perf_counter()` at which it ends in any case."""
        self._before_s, self._counted = 0.0, self._counter()

    def spend(self, seconds: float) -> None:
        """Of a thread that was waited for."""
        self._before_s += seconds
        if self._whole is not None:
            self._whole.spend(seconds)

    @property
    def spent_s(self) -> float:
        """Until now."""
        counter = self._counter()
        if counter[0] == self._counted[0]:
            self._before_s += counter[1] - self._counted[1]
        self._counted = counter
        return self._before_s

    @property
    def left_s(self) -> float:
        """Seconds of the processor, or by the clock where these are fewer; below 0 where it is over."""
        return min(self.limit_s - self.spent_s, self.until_s - time.perf_counter())

    def part(self, share: float) -> "TimeLimit":
        """Of what is left."""
        return TimeLimit(max(share * self.left_s, 1e-3), self)

    @staticmethod
    def _counter() -> tuple[tuple[int, int], float]:
        """(whose thread, its seconds of the processor): a thread's begin anew in a fork."""
        return (os.getpid(), threading.get_ident()), time.thread_time()


def time_limit(limit_s: object) -> TimeLimit:
    """From now on. InputError where that is no time."""
    if isinstance(limit_s, TimeLimit):
        return limit_s
    if not isinstance(limit_s, Real) or not limit_s > 0:  # type: ignore[operator]
        raise InputError(f"time_limit_s = {quote(limit_s)} is not possible; allowed: seconds above 0")
    return TimeLimit(float(limit_s))  # type: ignore[arg-type]
