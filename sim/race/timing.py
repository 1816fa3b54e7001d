"""The clock of a race: shown one moment of the flown vehicle after the other, it tells when the gates were passed."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from sim.race.course import Course
from sim.race.crossing import Instant, crossing_s
from sim.race.lap import Lap
from sim.race.rival import Rival

LONGEST_S = 1800.0
"""A lap that takes longer is not remembered as a motion."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a race stands at a moment."""

    course: Course
    due: int = 0
    """Passage that comes next; 0: the clock does not run yet."""
    start_s: float = math.nan
    """Simulated time at which the first gate of this lap was passed."""
    splits_s: tuple[float, ...] = ()
    """Of this lap, since its start."""
    lap: Lap | None = None
    """The latest that was finished."""
    laps: int = 0
    """Finished since the start of the scene."""
    rivals: tuple[Rival, ...] = ()

    @property
    def running(self) -> bool:
        return self.due > 0

    def lap_time_s(self, time_s: float) -> float:
        """Since the start of this lap at a simulated time; of the last lap where none runs; nan before the first."""
        if self.running:
            return time_s - self.start_s
        return math.nan if self.lap is None else self.lap.lap_s

    @property
    def told_s(self) -> tuple[float, ...]:
        """Splits of this lap, or of the last one where none runs."""
        return self.splits_s if self.running or self.lap is None else self.lap.splits_s

    def behind_s(self, rival: Rival) -> float | None:
        """Time lost to a rival at the last passage of this lap or, between laps, of the last one; None before any."""
        splits = self.told_s
        return splits[-1] - rival.splits_s[len(splits) - 1] if splits else None


@dataclass(frozen=True, slots=True)
class _Trace:
    """The present lap as a motion."""

    times_s: list[float] = field(default_factory=list)
    poses: list[np.ndarray] = field(default_factory=list)


class Timing:
    """Belongs to the flown lane. Where time is taken back, so are the passages since; such a lap does not count."""

    def __init__(self, course: Course) -> None:
        self._standing = Standing(course)
        self._before: Instant | None = None
        self._T_before = np.eye(4)
        self._trace, self._counts = _Trace(), True

    @property
    def standing(self) -> Standing:
        return self._standing

    def race_against(self, rival: Rival) -> None:
        """From now on; one of the same name gives way."""
        others = tuple(r for r in self._standing.rivals if r.name != rival.name)
        self._standing = replace(self._standing, rivals=(*others, rival))

    def begin(self) -> None:
        """The vehicle has been put somewhere else."""
        self._before, self._trace, self._counts = None, _Trace(), True
        self._standing = replace(self._standing, due=0, splits_s=(), start_s=math.nan)

    def back_to(self, time_s: float) -> None:
        """The flight goes on from an earlier moment."""
        now = self._standing
        if not now.running or now.start_s > time_s:
            self.begin()
            return
        self._before, self._counts = None, False
        splits = tuple(split for split in now.splits_s if now.start_s + split <= time_s)
        kept = sum(at <= time_s for at in self._trace.times_s)
        del self._trace.times_s[kept:], self._trace.poses[kept:]
        self._standing = replace(now, due=len(splits), splits_s=splits)

    def note(self, time_s: float, T_wb: np.ndarray, twist_b: np.ndarray, *, by_hand: bool) -> None:
        """Where the main body is (4, 4) and its twist (6,), at a moment later than the last one."""
        now = Instant(time_s, T_wb[:3, 3].copy(), T_wb[:3, :3] @ twist_b[3:])
        before, self._before = self._before, now
        T_before, self._T_before = self._T_before, T_wb.copy()
        self._counts = self._counts and by_hand
        if before is None or time_s <= before.time_s:
            return
        self._remember(time_s, T_wb)
        passed_s = -math.inf
        while True:
            started_s = self._started(before, now, passed_s)
            due_s = self._passed(before, now, passed_s)
            if due_s is not None and (started_s is None or due_s <= started_s):
                passed_s = due_s
                self._pass(due_s)
                if self._standing.due or not self._standing.course.closed:
                    continue
                started_s = due_s  # the finish is the next start
            elif started_s is not None:
                passed_s = started_s
            else:
                return
            self._counts = by_hand
            self._trace = _Trace([before.time_s, time_s], [T_before, T_wb.copy()])
            self._standing = replace(self._standing, due=1, start_s=started_s, splits_s=(0.0,))

    def _started(self, before: Instant, now: Instant, since_s: float) -> float | None:
        """When the first gate is passed anew, out of its turn: a lap that went wrong begins again there."""
        standing = self._standing
        if standing.course.closed and standing.due == standing.course.passages - 1:
            return None
        return crossing_s(standing.course.gates[0], before, now, since_s)

    def _passed(self, before: Instant, now: Instant, since_s: float) -> float | None:
        due = self._standing.due
        return crossing_s(self._standing.course.gate(due), before, now, since_s) if due else None

    def _pass(self, at_s: float) -> None:
        standing = self._standing
        splits = (*standing.splits_s, at_s - standing.start_s)
        if len(splits) < standing.course.passages:
            self._standing = replace(standing, due=len(splits), splits_s=splits)
            return
        time = np.array(self._trace.times_s) - standing.start_s
        lap = Lap(splits, time, np.array(self._trace.poses), self._counts)
        self._standing = replace(
            standing, due=0, start_s=math.nan, splits_s=(), lap=lap, laps=standing.laps + 1
        )

    def _remember(self, time_s: float, T_wb: np.ndarray) -> None:
        standing = self._standing
        if standing.running and time_s - standing.start_s < LONGEST_S:
            self._trace.times_s.append(time_s)
            self._trace.poses.append(T_wb.copy())
