"""A course: gates that are passed one after the other. From `[race]` of a scene's file."""

import hashlib
import math
from dataclasses import astuple, dataclass

import numpy as np

from sim.toml_table import TomlTable

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
