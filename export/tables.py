"""Numbers of motions as tables: chosen channels (CSV, NPZ), lanes row by row, and the curves of plots."""

import csv
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from export.motion import LaneMotion
from export.output import OutputError, replacing
from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.vehicles import VEHICLES

if TYPE_CHECKING:
    from export.nodes import Content

_XYZ = ("x", "y", "z")
_ROTATION = tuple(f"R{row}{column}" for row in "123" for column in "123")


@dataclass(frozen=True, eq=False)
class TableColumn:
    """One quantity over time."""

    unit: str
    values: np.ndarray
    """(n,) or (n, k)."""
    parts: tuple[str, ...] = ()
    """Names of the k components."""

    def columns(self, name: str) -> list[str]:
        """Headings: name and component, with the unit in brackets."""
        unit = f" [{self.unit}]" if self.unit else ""
        return [f"{name}.{part}{unit}" for part in self.parts] if self.parts else [f"{name}{unit}"]


def channels_of(motion: LaneMotion) -> dict[str, TableColumn]:
    """All channels of a motion by name.

    `position` [m, world], `rotation` (body to world, row by row) and `omega`, `velocity` (body frame) are those of the
    main body; of each other body there are NAME.position and NAME.rotation. Then `energy`, shape coordinates, controls
    and observables.
    """
    found = {}
    for k, (name, poses) in enumerate(motion.bodies.items()):
        prefix = f"{name}." if k else ""
        found[f"{prefix}position"] = TableColumn("m", poses[:, :3, 3], _XYZ)
        found[f"{prefix}rotation"] = TableColumn("", poses[:, :3, :3].reshape(-1, 9), _ROTATION)
    found["omega"] = TableColumn("rad/s", motion.twist[:, :3], _XYZ)
    found["velocity"] = TableColumn("m/s", motion.twist[:, 3:], _XYZ)
    found["energy"] = TableColumn("J", motion.energy)
    kind = VEHICLES.get(motion.vehicle)
    for coordinate, column in zip(kind.shape_coordinates if kind else (), motion.shape.T, strict=False):
        found[coordinate.name] = TableColumn(coordinate.unit, column)
    for control, column in zip(kind.controls if kind else (), motion.controls.T, strict=False):
        found.setdefault(control.name, TableColumn(control.unit, column))
    for name, values in motion.observables.items():
        parts = () if values.ndim == 1 else tuple(map(str, range(values.shape[1])))
        found.setdefault(name, TableColumn(motion.units.get(name, ""), values, parts))
    return found


def chosen_channels(motions: Sequence[LaneMotion], names: Sequence[str] = ()) -> list[dict[str, TableColumn]]:
    """Of each motion those of these names, or all. Raises InputError for a name that none of them has."""
    every = [channels_of(motion) for motion in motions]
    known = dict.fromkeys(name for channels in every for name in channels)
    for name in names:
        if name not in known:
            raise InputError(f"unknown channel {quote(name)}; allowed: {one_of(known, name)}")
    return [{name: channels[name] for name in (names or channels) if name in channels} for channels in every]


def write_csv(path: Path, content: "Content") -> None:
    """One row a lane and moment, all digits kept; what a lane does not have is empty. Raises InputError, OSError."""
    chosen = [
        {tuple(channel.columns(name)): channel for name, channel in channels.items()}
        for channels in chosen_channels(content.motions, content.channels)
    ]
    # Vehicles may tell by one name what has other parts or units: that has columns of its own.
    blocks_of_headings = list(dict.fromkeys(headings for channels in chosen for headings in channels))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time [s]", "lane", *(h for headings in blocks_of_headings for h in headings)])
        for motion, channels in zip(content.motions, chosen, strict=True):
            blocks = [
                _texts(channels[headings].values)
                if headings in channels
                else [[""] * len(headings)] * len(motion.time)
                for headings in blocks_of_headings
            ]
            for k, time_s in enumerate(motion.time.tolist()):
                writer.writerow([time_s, motion.name, *(value for block in blocks for value in block[k])])


def _texts(values: np.ndarray) -> list[list[object]]:
    rows = values.reshape(len(values), -1).tolist()
    return [["" if value != value else value for value in row] for row in rows]


def write_npz(path: Path, content: "Content") -> None:
    """Arrays `LANE/time` and `LANE/CHANNEL`; `about` is JSON with units and components. Raises InputError, OSError."""
    chosen = chosen_channels(content.motions, content.channels)
    arrays: dict[str, np.ndarray] = {}
    about = {}
    for motion, channels in zip(content.motions, chosen, strict=True):
        arrays[f"{motion.name}/time"] = motion.time
        arrays |= {f"{motion.name}/{name}": channel.values for name, channel in channels.items()}
        told = {name: {"unit": c.unit, "components": c.parts} for name, c in channels.items()}
        about[motion.name] = {"vehicle": motion.vehicle, "time": "s", "channels": told}
    with path.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]


AXES = ("x", "y", "z")
COLUMNS = (
    "time_s",
    "lane",
    "vehicle",
    "integrator",
    "step_s",
    *(f"{axis}_m" for axis in AXES),
    *(f"R_{row}{column}" for row in "123" for column in "123"),
    *(f"omega_{axis}_radps" for axis in AXES),
    *(f"v_{axis}_mps" for axis in AXES),
    "energy_J",
    *(f"momentum_angular_{axis}" for axis in AXES),
    *(f"momentum_linear_{axis}" for axis in AXES),
    "newton_iterations",
    "height_above_ground_m",
    "on_ground",
    "status",
)
"""Fixed columns; one `control_NAME` a control follows. Documented in docs/command-line.md."""


class TableWriter:
    """Writes snapshots as rows. Numbers keep all their digits, so equal runs give equal files."""

    def __init__(self, file: TextIO, controls: Sequence[str]) -> None:
        self._writer = csv.writer(file, lineterminator="\n")
        self._control_count = len(controls)
        self._writer.writerow([*COLUMNS, *(f"control_{name}" for name in controls)])

    def add(self, snapshot: Snapshot) -> None:
        """Append one row a lane."""
        for lane in snapshot.lanes:
            self._writer.writerow(self._row(lane))

    def _row(self, lane: LaneSnapshot) -> list[object]:
        controls = [float(u) for u in lane.controls[: self._control_count]]
        controls += [0.0] * (self._control_count - len(controls))
        return [
            lane.time_current_s,
            lane.name,
            lane.vehicle,
            lane.integrator,
            lane.step_s,
            *lane.T_wb[:3, 3].tolist(),
            *lane.T_wb[:3, :3].ravel().tolist(),
            *lane.twist_b.tolist(),
            lane.energy_J,
            *lane.momentum_w.tolist(),
            lane.newton_iterations,
            lane.height_above_ground_m,
            int(lane.on_ground),
            lane.status.value,
            *controls,
        ]


def save_curves(
    folder: Path, scene: str, channels: Sequence[str], lanes: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> Path:
    """Write times (n,) and values (channels, n) of each lane into a new file, which is returned.

    Raises OutputError. Numbers keep all their digits; what was not known is empty.
    """
    path = folder / f"{scene}-plots-{datetime.now():%Y%m%d-%H%M%S}.csv"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror or error}") from None
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time_s", "lane", *channels])
        for name, (times, values) in lanes.items():
            for time_s, row in zip(times.tolist(), values.T.tolist(), strict=True):
                writer.writerow([time_s, name, *("" if np.isnan(value) else value for value in row)])
    return path
