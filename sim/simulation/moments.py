"""The two moments of a lane between which the renderer interpolates, a fixed time apart.

The thread wakes late now and then. Were the two moments those of the last two wakes, the picture's delay
would change with every late wake and the motion would stutter; a constant span hides it.
"""

import numpy as np

from sim.groups.between import poses_between


class Moments:
    """Recent poses of a lane's bodies, (bodies, 4, 4) each, all of one generation."""

    def __init__(self, time_s: float, poses_w: np.ndarray) -> None:
        self._times = [time_s]
        self._poses = [poses_w]

    @property
    def latest_s(self) -> float:
        return self._times[-1]

    def add(self, time_s: float, poses_w: np.ndarray) -> None:
        """A later moment; the same time again changes nothing."""
        if time_s > self._times[-1]:
            self._times.append(time_s)
            self._poses.append(poses_w)

    def pair(self, span_s: float) -> tuple[float, np.ndarray, float, np.ndarray]:
        """(time, poses) `span_s` before the latest moment, as far back as is known, and those of the latest."""
        end = self._times[-1]
        begin = max(end - span_s, self._times[0])
        first = max(int(np.searchsorted(self._times, begin, side="right")) - 1, 0)
        del self._times[:first], self._poses[:first]
        if len(self._times) == 1:
            return end, self._poses[-1], end, self._poses[-1]
        share = (begin - self._times[0]) / (self._times[1] - self._times[0])
        return begin, poses_between(self._poses[0], self._poses[1], share), end, self._poses[-1]
