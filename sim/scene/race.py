"""A course through gates from `[race]` of a scene's file, a lap on it, its clock, rivals and personal bests."""

import hashlib
import math
import re
from dataclasses import astuple, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from sim.platform.errors import InputError
from sim.platform.replacing import replacing
from sim.platform.toml_table import TomlTable
from sim.platform.user_files import arrays_in, refusals
from sim.platform.values import dataclass
from sim.scene.measured import Measured

MOST_GATES = 64
_FARTHEST_M = 1e5


@dataclass(frozen=True, slots=True)
class Gate:
    """An upright rectangle that is passed in one direction."""

    centre_w: tuple[float, float, float]
    """Of the opening [m]."""
    heading_rad: float
    """Of the passage, about world z from +x."""
    half_width_m: float
    half_height_m: float

    def frame(self) -> np.ndarray:
        """(3, 3) whose rows are the direction of the passage, its left, and up."""
        c, s = math.cos(self.heading_rad), math.sin(self.heading_rad)
        return np.array([(c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)])

    def corners_w(self) -> np.ndarray:
        """(4, 3) m: lower left, upper left, upper right, lower right, seen on the way through."""
        across = [(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)]
        local = np.array([(0.0, side * self.half_width_m, up * self.half_height_m) for side, up in across])
        return np.asarray(self.centre_w) + local @ self.frame()


@dataclass(frozen=True, slots=True)
class Course:
    """The first gate starts the clock, the last one stops it; on a closed course that is the first one again."""

    gates: tuple[Gate, ...]
    closed: bool = False

    @property
    def passages(self) -> int:
        """Gates of a lap, its start and its finish among them."""
        return len(self.gates) + self.closed

    def gate(self, passage: int) -> Gate:
        """That is the passage-th of a lap, from 0."""
        return self.gates[passage % len(self.gates)]

    @property
    def key(self) -> str:
        """Names this very course: times on another one do not compare."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()[:12]


def read_course(table: TomlTable) -> Course | None:
    """The scene's `[race]`, where there is one. Raises InputError, one line with file and key."""
    if not table.has("race"):
        return None
    own = table.table("race")
    tables = own.tables("gates")
    if not 2 <= len(tables) <= MOST_GATES:
        raise own.error("gates", f"{len(tables)} are refused; allowed: 2 to {MOST_GATES}")
    course = Course(tuple(_read_gate(each) for each in tables), own.flag("closed", False))
    own.finish()
    return course


def _read_gate(table: TomlTable) -> Gate:
    if not table.has("position_m"):
        raise table.error("position_m", "is missing; allowed: 3 numbers, the middle of the opening")
    x, y, z = table.numbers("position_m", (0.0, 0.0, 0.0), low=-_FARTHEST_M, high=_FARTHEST_M, count=3)
    gate = Gate(
        (x, y, z),
        math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0)),
        0.5 * table.number("width_m", 8.0, low=0.1, high=1e4),
        0.5 * table.number("height_m", 4.0, low=0.1, high=1e4),
    )
    table.finish()
    return gate


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


@dataclass(frozen=True, slots=True, eq=False)
class Instant:
    """Where something was and how it moved."""

    time_s: float
    x_w: np.ndarray
    """(3,) m."""
    v_w: np.ndarray
    """(3,) m/s."""


def crossing_s(gate: Gate, before: Instant, after: Instant, since_s: float = -math.inf) -> float | None:
    """When the gate is first passed, in its direction and within its opening; None where it is not.

    A passage at `before` itself belongs to the interval that ends there; passages up to `since_s` do not count.
    """
    span_s = after.time_s - before.time_s
    if span_s <= 0.0:
        return None
    powers = _cubic(before, after, span_s) @ gate.frame().T - np.outer(
        [1, 0, 0, 0], gate.frame() @ gate.centre_w
    )
    ahead = powers[::-1, 0]
    for begin, end in pairwise(_monotone(ahead)):
        if not np.polyval(ahead, begin) < 0.0 <= np.polyval(ahead, end):
            continue
        from scipy.optimize import brentq  # takes a while, and few flights race

        fraction = float(
            brentq(lambda at: float(np.polyval(ahead, at)), begin, end, xtol=1e-15, rtol=8.9e-16)
        )
        left, up = (float(np.polyval(powers[::-1, k], fraction)) for k in (1, 2))
        time_s = before.time_s + fraction * span_s
        if abs(left) <= gate.half_width_m and abs(up) <= gate.half_height_m and time_s > since_s:
            return time_s
    return None


def _cubic(before: Instant, after: Instant, span_s: float) -> np.ndarray:
    """(4, 3) coefficients of the place by powers of the fraction of the interval."""
    x0, x1 = before.x_w, after.x_w
    d0, d1 = span_s * before.v_w, span_s * after.v_w
    return np.array([x0, d0, 3.0 * (x1 - x0) - 2.0 * d0 - d1, 2.0 * (x0 - x1) + d0 + d1])


def _monotone(polynomial: np.ndarray) -> list[float]:
    """0, where a polynomial (highest power first) turns between 0 and 1, and 1."""
    turns = np.roots(np.polyder(polynomial))
    inner = sorted(float(t.real) for t in turns if abs(t.imag) < 1e-12 and 0.0 < t.real < 1.0)
    return [0.0, *inner, 1.0]


PLANNED, LAPPED = "planned", "flown before"
"""Where a rival's motion comes from."""


@dataclass(frozen=True, eq=False)
class Rival:
    """Shown as a ghost that passes the first gate when the flown vehicle does."""

    name: str
    splits_s: tuple[float, ...]
    """At every passage; the first is 0."""
    motion: Measured
    """Time 0 is at the first gate."""
    origin: str = PLANNED

    @staticmethod
    def of_lap(name: str, lap: Lap) -> "Rival":
        """A lap that has been kept."""
        return Rival(name, lap.splits_s, Measured(name, lap.time, lap.poses), LAPPED)

    @staticmethod
    def of_motion(name: str, course: Course, motion: Measured) -> "Rival":
        """Any motion through the whole course. Raises InputError where it misses a gate."""
        splits = passages_s(course, motion)
        if len(splits) < course.passages:
            raise InputError(f"{name} misses gate {len(splits) + 1} of {course.passages} in its order")
        moved = replace(motion, name=name, time=motion.time - splits[0])
        return Rival(name, tuple(float(s - splits[0]) for s in splits), moved)


def passages_s(course: Course, motion: Measured) -> tuple[float, ...]:
    """The times at which the gates of one lap are passed in their order, as far as they are."""
    x_w = motion.poses[:, :3, 3]
    v_w = np.gradient(x_w, motion.time, axis=0, edge_order=2 if len(x_w) > 2 else 1)
    instants = [Instant(float(t), x, v) for t, x, v in zip(motion.time, x_w, v_w, strict=True)]
    found: list[float] = []
    for before, after in pairwise(instants):
        while len(found) < course.passages:
            at_s = crossing_s(course.gate(len(found)), before, after, found[-1] if found else -np.inf)
            if at_s is None:
                break
            found.append(at_s)
    return tuple(found)


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

    def done_m(self, x_w: np.ndarray) -> tuple[float, float]:
        """How far (3,) m is along this lap, from gate to gate, and how long all of it is."""
        course = self.course
        middles = np.array([course.gate(k).centre_w for k in range(course.passages)])
        lengths = np.linalg.norm(np.diff(middles, axis=0), axis=1)
        if not self.running or self.due >= course.passages:
            return 0.0, float(lengths.sum())
        left_m = min(float(np.linalg.norm(middles[self.due] - x_w)), lengths[self.due - 1])
        return float(lengths[: self.due].sum() - left_m), float(lengths.sum())

    @property
    def shown_splits_s(self) -> tuple[float, ...]:
        """Splits of this lap, or of the last one where none runs."""
        return self.splits_s if self.running or self.lap is None else self.lap.splits_s

    def behind_s(self, rival: Rival) -> float | None:
        """Time lost to a rival at the last passage of this lap or, between laps, of the last one; None before any."""
        splits = self.shown_splits_s
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


_TURNED = 1e-6
"""By how much a matrix may be off a rotation."""


def best_file(folder: Path, scene: str, vehicle: str, course: Course) -> Path:
    """Where it is kept: another course under the same name has another file."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{scene}-{vehicle}")[:80]
    return folder / f"{name}-{course.key}.npz"


def read_best(path: Path, course: Course) -> Lap | None:
    """None where nothing is kept. Raises InputError, one line with the file, where it is no lap of the course."""
    if not path.exists():
        return None
    with refusals(path, "no lap"), arrays_in(path) as arrays:
        splits, time, poses = (
            np.asarray(arrays.array(name), float) for name in ("splits_s", "time_s", "poses")
        )
        return _checked(splits, time, poses, course)


def write_best(path: Path, lap: Lap) -> None:
    """Under a temporary name first. Raises InputError where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft, draft.open("wb") as file:
            np.savez_compressed(
                file, splits_s=np.array(lap.splits_s), time_s=lap.time, poses=lap.poses.reshape(-1, 16)
            )
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def _checked(splits: np.ndarray, time: np.ndarray, poses: np.ndarray, course: Course) -> Lap:
    fits = splits.shape == (course.passages,) and time.ndim == 1 and poses.shape == (len(time), 16)
    if not fits or len(time) < 2:
        raise InputError(f"{len(splits)} times and {len(time)} moments are no lap of {course.passages} gates")
    if not all(np.isfinite(part).all() for part in (splits, time, poses)):
        raise InputError("holds numbers that are not finite")
    if splits[0] != 0.0 or np.any(np.diff(splits) <= 0.0) or np.any(np.diff(time) <= 0.0):
        raise InputError("its times do not increase from 0")
    T_wb = poses.reshape(-1, 4, 4)
    R = T_wb[:, :3, :3]
    off = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max()
    if off > _TURNED or np.linalg.det(R).min() < 0.0 or np.any(T_wb[:, 3] != [0.0, 0.0, 0.0, 1.0]):
        raise InputError("its poses are none")
    return Lap(tuple(splits.tolist()), time, T_wb)
