"""Poses out of the log of a flight: PX4's .ulg, ArduPilot's .bin, and .mcap with Foxglove's schemas.

Autopilots tell places north, east and down of where they began, and attitudes of a body with forward, right and down;
here x is north, y is west and z is up. Time begins with the first pose. Pulses of servo outputs are kept, where they
were logged, since `[pwm]` of a vehicle's file says what they do to its controls.
"""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sim.platform.errors import InputError, one_of
from sim.platform.user_files import refusals
from sim.platform.values import dataclass

MOST_LOG_BYTES = 1 << 30
_FLIP = np.diag([1.0, -1.0, -1.0])
"""From north, east, down to north, west, up, and back."""


@dataclass(frozen=True, eq=False)
class FlightLog:
    """Poses at n moments that increase."""

    time: np.ndarray
    """(n,) s from the first one on."""
    poses: np.ndarray
    """(n, 4, 4) body to world."""
    pulse_time: np.ndarray
    """(m,) s on the same clock; m may be 0."""
    pulses_us: np.ndarray
    """(m, channels)."""


def read_log(path: str | Path) -> FlightLog:
    """Raises InputError, one line, for what is no log of the kind that the ending says, or has no poses in it."""
    path = Path(path)
    with refusals(path, "no flight log"):
        if path.stat().st_size > MOST_LOG_BYTES:
            raise InputError(f"has more than {MOST_LOG_BYTES >> 20} MiB; allowed: a part of it")
        return READERS[path.suffix.lower()](path)


def _placed(
    time: np.ndarray,
    place: np.ndarray,
    R: np.ndarray,
    pulse_time: np.ndarray | None = None,
    pulses_us: np.ndarray | None = None,
) -> FlightLog:
    """Of moments [s] in any order, places (n, 3) and rotations (n, 3, 3); what is no number is left out."""
    good = np.isfinite(time) & np.isfinite(place).all(axis=1) & np.isfinite(R).all(axis=(1, 2))
    order = np.flatnonzero(good)[np.argsort(time[good], kind="stable")]
    order = order[np.concatenate([[True], np.diff(time[order]) > 0.0])] if len(order) else order
    if len(order) < 2:
        raise InputError(f"has {len(order)} poses; allowed: two or more")
    poses = np.tile(np.eye(4), (len(order), 1, 1))
    poses[:, :3, 3], poses[:, :3, :3] = place[order], R[order]
    begin_s = float(time[order[0]])
    if pulse_time is None or pulses_us is None:
        pulse_time, pulses_us = np.zeros(0), np.zeros((0, 0))
    return FlightLog(time[order] - begin_s, poses, pulse_time - begin_s, pulses_us)


def _missing(package: str, extra: str = "logs") -> InputError:
    return InputError(f'needs {package}, which is not there; allowed: pip install "holonomy[{extra}]"')


def _require_begin(path: Path, begin: bytes, kind: str) -> None:
    """Raises InputError for what begins otherwise than every log of a kind."""
    with path.open("rb") as file:
        told = file.read(len(begin))
    if told != begin:
        what = f"no log of {kind}, which begins otherwise" if told else "empty"
        raise InputError(f"is {what}; allowed: a whole one")


def _ulg(path: Path) -> FlightLog:
    from scipy.spatial.transform import Rotation, Slerp

    try:
        from pyulog import ULog
    except ImportError:
        raise _missing("pyulog") from None
    _require_begin(path, b"ULog", "PX4")
    wanted = ["vehicle_local_position", "vehicle_attitude", "actuator_outputs"]
    found: dict[str, dict[str, np.ndarray]] = {}
    try:
        log = ULog(str(path), wanted, disable_str_exceptions=True)
    except OSError:  # it has sought a place that a damaged length tells
        raise InputError("is damaged; allowed: a whole log of PX4") from None
    for data in log.data_list:
        found.setdefault(data.name, data.data)  # of several the first
    for name in wanted[:2]:
        if name not in found or len(found[name]["timestamp"]) < 2:
            raise InputError(f"has no {name}; allowed: logs with it")
    place, turn = found[wanted[0]], found[wanted[1]]
    turn_s = 1e-6 * turn["timestamp"].astype(float)
    w, x, y, z = (turn[f"q[{k}]"].astype(float) for k in range(4))
    turn_s, kept = np.unique(turn_s, return_index=True)
    attitude = Slerp(turn_s, Rotation.from_quat(np.stack([x, y, z, w], axis=1)[kept]))
    time = 1e-6 * place["timestamp"].astype(float)
    inside = (time >= turn_s[0]) & (time <= turn_s[-1])
    time = time[inside]
    ned = np.stack([place[axis].astype(float)[inside] for axis in "xyz"], axis=1)
    R = attitude(time).as_matrix() if len(time) else np.zeros((0, 3, 3))
    outputs = found.get(wanted[2])
    if outputs is None:
        return _placed(time, ned @ _FLIP, _FLIP @ R @ _FLIP)
    channels = sorted((name for name in outputs if name.startswith("output[")), key=lambda n: int(n[7:-1]))
    pulses = np.stack([outputs[name].astype(float) for name in channels], axis=1)
    return _placed(time, ned @ _FLIP, _FLIP @ R @ _FLIP, 1e-6 * outputs["timestamp"].astype(float), pulses)


def _bin(path: Path) -> FlightLog:
    from scipy.spatial.transform import Rotation

    try:
        from pymavlink.DFReader import DFReader_binary
    except ImportError:
        raise _missing("pymavlink") from None
    rows: dict[str, list[list[float]]] = {"XKF1": [], "NKF1": [], "EKF1": []}
    pulses: list[list[float]] = []
    pulse_s: list[float] = []
    _require_begin(path, b"\xa3\x95", "ArduPilot")
    reader = DFReader_binary(str(path))
    try:
        while (message := reader.recv_match(type=[*rows, "RCOU"])) is not None:
            name, seconds = message.get_type(), 1e-6 * float(message.TimeUS)
            if name == "RCOU":
                told = message.to_dict()
                pulses.append([float(told.get(f"C{k}", 0.0)) for k in range(1, 17)])
                pulse_s.append(seconds)
            elif getattr(message, "C", 0) == 0:
                angles = [math.radians(getattr(message, key)) for key in ("Yaw", "Pitch", "Roll")]
                rows[name].append([seconds, message.PN, message.PE, message.PD, *angles])
    finally:
        reader.close()
    table = next((np.array(rows[name], float) for name in rows if len(rows[name]) > 1), None)
    if table is None:
        raise InputError(f"has no poses; allowed: logs with one of {one_of(rows)}")
    R = Rotation.from_euler("ZYX", table[:, 4:]).as_matrix()
    return _placed(
        table[:, 0],
        table[:, 1:4] @ _FLIP,
        _FLIP @ R @ _FLIP,
        np.array(pulse_s),
        np.array(pulses).reshape(len(pulses), 16),
    )


def _until_damage(messages: Iterator[Any]) -> Iterator[Any]:
    """What can be read of a log that was cut off. Raises what its reader raises where that is nothing."""
    count = 0
    while True:
        try:
            message = next(messages)
        except StopIteration:
            return
        except Exception:
            if not count:
                raise
            return
        count += 1
        yield message


def _mcap(path: Path) -> FlightLog:
    """The first frame that moves in the fixed one; frames of ROS and Foxglove have x forward, y left, z up as here."""
    from scipy.spatial.transform import Rotation

    try:
        from mcap.reader import NonSeekingReader
    except ImportError:
        raise _missing("mcap", "mcap") from None
    _require_begin(path, b"\x89MCAP0\r\n", "MCAP")
    rows: dict[tuple[str, str], list[list[float]]] = {}
    with path.open("rb") as file:
        for schema, channel, message in _until_damage(
            NonSeekingReader(file).iter_messages(log_time_order=False)
        ):
            if schema is None or schema.name not in ("foxglove.FrameTransforms", "foxglove.FrameTransform"):
                continue
            if channel.message_encoding != "json":
                raise InputError(f"has frames as {channel.message_encoding}; allowed: as json")
            told: Any = json.loads(message.data)
            for t in told.get("transforms", [told]):
                place, turn = t["translation"], t["rotation"]
                row = [*(place[c] for c in "xyz"), *(turn[c] for c in "xyzw")]
                rows.setdefault((t["parent_frame_id"], t["child_frame_id"]), []).append(
                    [1e-9 * message.log_time, *row]
                )
    children = {child for _, child in rows}
    moving = [
        np.array(table, float)
        for (parent, _), table in rows.items()
        if parent not in children and np.ptp(np.array(table, float)[:, 1:], axis=0).any()
    ]
    if not moving:
        raise InputError("has no frame that moves; allowed: logs with foxglove.FrameTransforms")
    return _placed(moving[0][:, 0], moving[0][:, 1:4], Rotation.from_quat(moving[0][:, 4:]).as_matrix())


READERS: dict[str, Callable[[Path], FlightLog]] = {".ulg": _ulg, ".bin": _bin, ".mcap": _mcap}
"""By the ending, in small letters."""
