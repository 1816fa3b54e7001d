"""Poses that were measured, out of a table or the log of a flight (PX4 .ulg, ArduPilot .bin, Foxglove .mcap): shown as
a ghost beside what is simulated.

A CSV with a line of headings, in capitals or not; where there is no comma in it, semicolons or tabs part its columns.
Time: `time`, `timestamp` or `t`, increasing; what is a date begins at 0. Place: `x`, `y`, `z`, or names that end with
`position.x` and so on. Attitude, body to world: `qx`, `qy`, `qz`, `qw` (`q_x`, ...), names that end with
`orientation.x` and so on, or nine numbers `R_11` .. `R_33` or `rotation.R11` .. `rotation.R33`, row by row; without any
it stays level and faces where it goes. Units follow in brackets, or as in `x_mm`; without them it is s and m.
Lines above the headings that begin with # do not matter. Of a table with several lanes the first one is taken; other
columns do not matter. A table of
Motive (motion capture) is known by its first line: of its first rigid body, y up, in the unit that this line tells,
without the moments at which it was hidden.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sim.groups.numeric import pose_between, rotation_log
from sim.multibody.shapes import Link
from sim.platform.errors import InputError, one_of, quote
from sim.platform.user_files import read_text, refusals
from sim.platform.values import dataclass
from sim.scene.flight_log import READERS, read_log
from sim.vehicle_config import VehicleConfig
from sim.vehicles.forms.parameters import Value

MOST_BYTES = 1 << 27
_TIME = ("time", "timestamp", "t")
_PLACE = (("x", "y", "z"), ("position.x", "position.y", "position.z"))
_QUATERNION = (
    ("qx", "qy", "qz", "qw"),
    ("q_x", "q_y", "q_z", "q_w"),
    ("orientation.x", "orientation.y", "orientation.z", "orientation.w"),
)
_MATRIX = tuple(
    tuple(f"{prefix}{row}{column}" for row in "123" for column in "123") for prefix in ("r_", "rotation.r")
)
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_METRES = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "km": 1e3}
_OTHERS = {"deg": math.pi / 180.0, "deg/s": math.pi / 180.0, "cm/s": 1e-2, "mm/s": 1e-3, "km/h": 1.0 / 3.6}
"""To SI units."""
_UNIT = re.compile(r"\s*[\[(]\s*([^\])]*?)\s*[\])]\s*$")
_SUFFIX = re.compile(rf"_({'|'.join([*_SECONDS, *_METRES, 'ft', 'in'])})$")
_DATE_S = 1e8
"""From which on a time is a date."""
_NOT_UNIT = 0.1
"""By how much a quaternion's length, or a matrix's product with its transpose, may be off."""


@dataclass(frozen=True, eq=False)
class VehicleMotion:
    """What is to be drawn of a vehicle at n moments."""

    vehicle: str
    """Registry name, which selects the model."""
    config: VehicleConfig
    """How it is drawn."""
    bodies: Mapping[str, np.ndarray]
    """Name -> (n, 4, 4) body to world; the main body comes first."""
    controls: np.ndarray
    """(n, n_controls)."""
    shape: np.ndarray
    """(n, n_shape)."""
    observables: Mapping[str, np.ndarray]
    """Name -> (n,) or (n, k)."""
    parameters: Mapping[str, Value]
    links: tuple[Link, ...] = ()
    """What its bodies look like that have no model."""
    pivot_w: np.ndarray | None = None
    """(3,) m: the fixed point of what is held at one."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Where one body was at moments that increase."""

    name: str
    time: np.ndarray
    """(n,) s."""
    poses: np.ndarray
    """(n, 4, 4) body to world."""
    moving: VehicleMotion | None = None
    """As what it is drawn; None: as the flown vehicle."""

    @property
    def interval_s(self) -> float:
        """Between two samples, on average."""
        return float(np.ptp(self.time)) / max(len(self.time) - 1, 1)

    def sample(self, time_s: float) -> int:
        """The last one that is not after a moment, or the first."""
        return max(int(np.searchsorted(self.time, time_s, side="right")) - 1, 0)

    def at(self, time_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Pose (4, 4) and body twist (6,) (omega [rad/s], v [m/s]) at a moment: on the screw between two samples.

        Before the first and after the last it stands still there.
        """
        k = self.sample(time_s)
        if time_s < self.time[0] or k + 1 >= len(self.time):
            return self.poses[k], np.zeros(6)
        before, after = self.poses[k], self.poses[k + 1]
        span_s = float(self.time[k + 1] - self.time[k])
        pose = pose_between(before, after, (time_s - float(self.time[k])) / span_s)
        omega = rotation_log(before[:3, :3].T @ after[:3, :3]) / span_s
        velocity_w = (after[:3, 3] - before[:3, 3]) / span_s
        return pose, np.concatenate([omega, pose[:3, :3].T @ velocity_w])


def load_measured(path: str | Path) -> Measured:
    """Read a table or a flight log. Raises InputError, one line, for gaps, NaN and time that runs back."""
    path = Path(path)
    if path.suffix.lower() in READERS:
        log = read_log(path)
        return Measured(path.stem, log.time, log.poses)
    with refusals(path, "no table of poses"):
        rows = _rows(path)
        first = _headings(rows)
        if first[:1] == ["Format Version"]:
            return _motive(path.stem, first, rows)
        headings = [_SUFFIX.sub("", _UNIT.sub("", heading).strip().casefold()) for heading in first]
        time_at, place_at, turn_at = _columns(headings, first)
        wanted = [time_at, *place_at, *turn_at]
        factors = [_factor(first[time_at], _SECONDS), *(_factor(first[k], _METRES) for k in place_at)]
        table: list[list[float]] = []
        for row in _of_first_lane(rows, headings):
            numbers = [_number(row, column, first, rows.line_num) for column in wanted]
            numbers[:4] = [factor * number for factor, number in zip(factors, numbers, strict=False)]
            if table and numbers[0] <= table[-1][0]:
                raise InputError(
                    f"line {rows.line_num}: time {numbers[0]:g} s is not after {table[-1][0]:g} s; "
                    "allowed: times that increase"
                )
            _check_turn(np.array(numbers[4:]), rows.line_num)
            table.append(numbers)
        if len(table) < 2:
            raise InputError(f"has {len(table)} rows of poses; allowed: two or more")
        values = np.array(table)
        if values[0, 0] > _DATE_S:
            values[:, 0] -= values[0, 0]
        poses = np.tile(np.eye(4), (len(values), 1, 1))
        poses[:, :3, 3] = values[:, 1:4]
        poses[:, :3, :3] = _rotations(values)
        return Measured(path.stem, values[:, 0], poses)


def _rows(path: Path) -> Any:
    """A reader of a table's rows, by what parts its first line; where commas do not, they are decimal points."""
    try:
        text = read_text(path, MOST_BYTES)
    except UnicodeDecodeError:
        logs = ", ".join(READERS)
        raise InputError(f"is no text in UTF-8; allowed: a table that is one, or a log ({logs})") from None
    first = next((line for line in text.splitlines() if line.strip() and line[0] != "#"), "")
    mark = "," if "," in first else next((mark for mark in ";\t" if mark in first), ",")
    if mark != ",":
        text = text.replace(",", ".")
    return csv.reader(io.StringIO(text, newline=""), delimiter=mark)


def _headings(rows: Iterable[list[str]]) -> list[str]:
    """The first line with something in it that is no remark. Raises InputError where there is none."""
    found = next((row for row in rows if "".join(row).strip() and not row[0].startswith("#")), None)
    if found is None:
        raise InputError("is empty; allowed: a line of headings, then a row a moment")
    return found


def _factor(heading: str, known: Mapping[str, float]) -> float:
    """Of what stands under a heading, to SI units. Raises InputError for a unit that is none of these."""
    told = _UNIT.search(heading) or _SUFFIX.search(heading.strip().casefold())
    unit = told[1] if told else ""
    if unit and unit not in known:
        raise InputError(f"line 1: the unit of {quote(heading.strip())} is refused; allowed: {one_of(known)}")
    return known.get(unit, 1.0)


def _motive(name: str, first: list[str], rows: Iterator[list[str]]) -> Measured:
    """A table as Motive writes it: kinds, names, marks of columns, then rows; empty where the body was hidden."""
    told = dict(zip(first[::2], first[1::2], strict=False))
    units = {"Meters": 1.0, "Centimeters": 1e-2, "Millimeters": 1e-3}
    unit, rotation = told.get("Length Units", "Meters"), told.get("Rotation Type", "Quaternion")
    if unit not in units or rotation != "Quaternion":
        raise InputError(f"line 1: {unit}, {rotation} are refused; allowed: {one_of(units)}, Quaternion")
    above: list[list[str]] = []
    for row in rows:
        if row[1:2] and row[1].startswith("Time"):
            break
        if row:
            above.append(row)
    else:
        raise InputError("has no line of headings with Time; allowed: a table as Motive exports it")
    kinds, names = above[0] if above else [], above[1] if len(above) > 1 else []
    parts = above[-1] if above else []
    at = {}
    for column, (kind, part, axis) in enumerate(zip(kinds, parts, row, strict=False)):
        body = names[column] if column < len(names) else ""
        if kind.startswith("Rigid ") and (part, axis) not in at and body == names[kinds.index(kind)]:
            at[part, axis] = column
    wanted = [("Position", c) for c in "XYZ"] + [("Rotation", c) for c in "XYZW"]
    if not all(key in at for key in wanted):
        raise InputError("has no body with Position and Rotation; allowed: a table that has one")
    columns = [1, *(at[key] for key in wanted)]
    table = [
        [float(line[k]) for k in columns]
        for line in rows
        if len(line) > max(columns) and all(line[k].strip() for k in columns)
    ]
    if len(table) < 2:
        raise InputError(f"has {len(table)} rows of poses; allowed: two or more")
    values = np.array(table)
    if not np.isfinite(values).all() or (np.diff(values[:, 0]) <= 0.0).any():
        raise InputError("has numbers that are not finite, or a time that does not increase")
    poses = np.tile(np.eye(4), (len(values), 1, 1))
    up = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # y up becomes z up
    poses[:, :3, 3] = units[unit] * values[:, 1:4] @ up.T
    poses[:, :3, :3] = up @ _rotations(values) @ up.T
    return Measured(name, values[:, 0], poses)


def columns_of(path: Path, names: tuple[str, ...], *, optional: bool = False) -> np.ndarray | None:
    """(n, k) of columns of a table by their names, units aside; None where `optional` ones are not there.

    Raises InputError, one line with the line of the file, as `load_measured` does.
    """
    with refusals(path, "no table"):
        rows = _rows(path)
        first = _headings(rows)
        headings = [_UNIT.sub("", heading).strip() for heading in first]
        missing = [name for name in names if name not in headings]
        if missing and optional:
            return None
        if missing:
            raise InputError(f"line 1: {missing[0]} is missing; allowed: columns {', '.join(names)}")
        at = [headings.index(name) for name in names]
        units = [_UNIT.search(first[column]) for column in at]
        known = _SECONDS | _METRES | _OTHERS
        factors = np.array([known.get(unit[1], 1.0) if unit else 1.0 for unit in units])
        table = [
            [_number(row, column, headings, rows.line_num) for column in at]
            for row in _of_first_lane(rows, headings)
        ]
        return np.array(table).reshape(-1, len(names)) * factors


def _of_first_lane(rows: Iterable[list[str]], headings: list[str]) -> Iterator[list[str]]:
    """Rows that are not empty; where lanes are told, those of the first one, and those that tell none."""
    lane_at, lane = (headings.index("lane") if "lane" in headings else None), None
    for row in rows:
        if lane_at is not None and lane_at < len(row):
            lane = row[lane_at] if lane is None else lane
            if row[lane_at] != lane:
                continue
        if row:
            yield row


def _columns(headings: list[str], told: list[str]) -> tuple[int, list[int], list[int]]:
    """Where time, place and attitude stand; the last may be nothing. told: headings as they are in the file."""

    def found(names: Iterable[tuple[str, ...]]) -> list[int]:
        for of_one in names:
            twice = [name for name in of_one if headings.count(name) > 1]
            if twice:
                raise InputError(f"line 1: {twice[0]} stands there twice; allowed: one of each")
            at = [_place_of(name, headings) for name in of_one]
            if None not in at:
                return [k for k in at if k is not None]
        return []

    time, place = found((name,) for name in _TIME), found(_PLACE)
    if not time or not place:
        missing = "a place" if time else "a time"
        raise InputError(
            f"line 1: {missing} is missing among {one_of(told)}; allowed: time_s, x_m, y_m, z_m, qx, qy, qz, qw"
        )
    return time[0], place, found((*_QUATERNION, *_MATRIX))


def _place_of(name: str, headings: list[str]) -> int | None:
    """The column of a name, which other names may stand before where it has a dot."""
    if name in headings:
        return headings.index(name)
    ends = (k for k, heading in enumerate(headings) if "." in name and heading.endswith(f".{name}"))
    return next(ends, None)


def _number(row: list[str], column: int, headings: list[str], line: int) -> float:
    text = row[column].strip() if column < len(row) else ""
    if not text:
        raise InputError(f"line {line}: {headings[column]} is missing; allowed: a number in every row")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"line {line}: {headings[column]} = {quote(text)} is refused; allowed: a finite number"
        )
    return value


def _check_turn(turn: np.ndarray, line: int) -> None:
    if turn.size == 4 and abs(float(np.linalg.norm(turn)) - 1.0) > _NOT_UNIT:
        raise InputError(f"line {line}: the quaternion has length {np.linalg.norm(turn):.3g}; allowed: 1")
    if turn.size == 9:
        R = turn.reshape(3, 3)
        if np.abs(R @ R.T - np.eye(3)).max() > _NOT_UNIT or np.linalg.det(R) < 0.0:
            raise InputError(f"line {line}: R is no rotation; allowed: orthonormal and right-handed")


def _rotations(values: np.ndarray) -> np.ndarray:
    """(n, 3, 3) of rows of time, place and attitude."""
    from scipy.spatial.transform import Rotation  # takes a while, and most starts have no table

    if values.shape[1] == 8:
        return Rotation.from_quat(values[:, 4:]).as_matrix()
    if values.shape[1] == 13:
        return Rotation.from_matrix(values[:, 4:].reshape(-1, 3, 3)).as_matrix()
    steps = np.diff(values[:, 1:3], axis=0, append=values[-1:, 1:3])
    headings = np.arctan2(steps[:, 1], steps[:, 0])
    still = np.hypot(steps[:, 0], steps[:, 1]) < 1e-9
    last = np.maximum.accumulate(np.where(still, 0, np.arange(len(steps))))
    return Rotation.from_rotvec(headings[last, None] * np.array([0.0, 0.0, 1.0])).as_matrix()
