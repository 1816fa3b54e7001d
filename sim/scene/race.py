"""A course through gates from `[race]` of a scene's file, a lap on it, and when a motion passes a gate."""

import hashlib
import math
from dataclasses import astuple, dataclass
from itertools import pairwise

import numpy as np

from sim.platform.toml_table import TomlTable

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
