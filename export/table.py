"""The lanes of a run as comma-separated values: one row a lane and moment."""

import csv
from collections.abc import Sequence
from typing import TextIO

from sim.snapshot import LaneSnapshot, Snapshot

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
