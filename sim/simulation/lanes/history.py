"""What has been: recent poses of a lane for interpolation, the trails of bodies and observables, and the flown lane's
controls, for the lanes that get the same ones."""

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping

import numpy as np

from sim.groups.numeric import poses_between
from sim.platform.values import dataclass
from sim.steppers.dynamics import Dynamics
from sim.vehicles.forms.observation import Observation


class RecentPoses:
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


MOST_ROWS = 2048
SPACING = 0.02
"""Least distance of two rows, as a share of the quantity's size: a round of a polhode has some hundreds."""
_LEAST_SIZE = 1e-3
_MOST_PIECES = 32
"""Into which the way between two moments is divided."""


class Trail:
    """Rows (time [s], value (k,)) at moments where steps end, spaced by arc length; the oldest give way.

    Where its rate is known, the way between two moments is the cubic of both values and both rates. A turn at a
    constant rate would lead a top's axis round in a bow: of a long step most is spin about the axis.
    """

    def __init__(
        self, time_s: float, value: np.ndarray, rate: np.ndarray | None = None, *, direction: bool = False
    ) -> None:
        """`direction`: the value is a unit vector, and so is all that lies between."""
        self._direction = direction
        self._rows = np.empty((2 * MOST_ROWS, 1 + len(value)))
        self._rows[:2] = time_s, *value
        self._begin, self._end = 1, 2
        self._last: list[float] = self._rows[0].tolist()
        self._noted = time_s, value, rate

    def note(self, time_s: float, value: np.ndarray, rate: np.ndarray | None = None) -> None:
        """A later moment; what is too near to the last row changes nothing."""
        since_s, before, rate_before = self._noted
        self._noted = time_s, value, rate
        h = time_s - since_s
        if rate is not None and rate_before is not None and h > 0.0:
            apart = float(np.linalg.norm(value - before)) / max(float(np.linalg.norm(value)), _LEAST_SIZE)
            pieces = min(max(math.ceil(2.0 * apart / SPACING), 1), _MOST_PIECES)
            for k in range(1, pieces):
                s = k / pieces
                between = (1.0 + 2.0 * s) * (1.0 - s) ** 2 * before + s * s * (3.0 - 2.0 * s) * value
                between = between + h * s * (1.0 - s) * ((1.0 - s) * rate_before - s * rate)
                length = float(np.linalg.norm(between)) if self._direction else 1.0
                self._add(since_s + s * h, between / length)
        self._add(time_s, value)

    @property
    def now(self) -> tuple[np.ndarray, int, int]:
        """(rows, begin, end): the first row and those from begin to end, at most MOST_ROWS; these never change."""
        return self._rows, self._begin, self._end

    def _add(self, time_s: float, value: np.ndarray) -> None:
        new = [time_s, *value.tolist()]
        if math.dist(new[1:], self._last[1:]) < SPACING * max(math.hypot(*new[1:]), _LEAST_SIZE):
            return
        if self._end == len(self._rows):
            kept = self._rows[self._end - MOST_ROWS + 2 :]
            rows = np.empty_like(self._rows)
            rows[0], rows[1 : 1 + len(kept)] = self._rows[0], kept
            self._rows, self._begin, self._end = rows, 1, 1 + len(kept)
        self._last = new
        self._rows[self._end] = new
        self._end += 1
        self._begin = max(self._begin, self._end - MOST_ROWS + 1)


class TrailRows(Mapping[str, np.ndarray]):
    """Name -> (n, 1 + k), n <= MOST_ROWS: the start, however long ago, then the latest part of the trail.

    As it was at one moment; put together for whoever asks, so that it costs nothing to keep one.
    """

    def __init__(self, trails: Mapping[str, Trail]) -> None:
        self._parts = {name: trail.now for name, trail in trails.items()}

    def __getitem__(self, name: str) -> np.ndarray:
        rows, begin, end = self._parts[name]
        return np.concatenate([rows[:1], rows[begin:end]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


BEFORE_S = 0.04
"""A motion so long before a blow is that which the blow ended."""


class Trails:
    """Of one generation."""

    def __init__(self, time_s: float, seen: Observation, poses_w: np.ndarray) -> None:
        self.recent = RecentPoses(time_s, poses_w)
        directions = seen.layout.directions
        self._trails = {
            name: Trail(time_s, value, rate, direction=name in directions)
            for name, value, rate in _traced(seen)
        }
        self._twists = deque([(time_s, seen.twist_b.copy())])

    def note(self, time_s: float, seen: Observation, poses_w: np.ndarray) -> None:
        """A later moment."""
        self.recent.add(time_s, poses_w)
        for name, value, rate in _traced(seen):
            self._trails[name].note(time_s, value, rate)
        self._twists.append((time_s, seen.twist_b.copy()))
        while self._twists[1][0] <= time_s - BEFORE_S + _SAME_S:
            self._twists.popleft()

    @property
    def twist_before_b(self) -> np.ndarray:
        """(6,) of the main body `BEFORE_S` before the latest moment or earlier, as it was noted last by then; of the
        first moment where there is none."""
        return self._twists[0][1]

    def rows(self) -> TrailRows:
        """By name, rows of time and value up to now."""
        return TrailRows(self._trails)


def _traced(seen: Observation) -> list[tuple[str, np.ndarray, np.ndarray | None]]:
    """(name, value, rate where it is known) of everything whose trail is kept."""
    layout, row = seen.layout, seen.row
    traced = [(name, row[layout.observables[name]], row[at]) for name, at in layout.rates.items()]
    return [("omega", seen.twist_b[:3], None), *traced]


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
