"""A take as comma-separated values: one row a node."""

import csv
from pathlib import Path

from sim.replacing import replacing
from sim.take.columns import control_columns, node_columns
from sim.take.playback import Samples
from sim.vehicles import Vehicle


def write_table(vehicle: Vehicle, seen: Samples, path: Path) -> None:
    """Write the table, or nothing. Raises OSError."""
    momenta = [f"momentum_{k}" for k in range(seen.observed.momentum.shape[1])]
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = ["time_s", *node_columns(vehicle), *control_columns(vehicle), "energy_J", *momenta]
        writer.writerow(columns)
        told = seen.observed
        for row in zip(seen.time, seen.nodes, seen.controls, told.energy, told.momentum, strict=True):
            time_s, node, controls, energy, momentum = row
            writer.writerow(
                [float(time_s), *node.tolist(), *controls.tolist(), float(energy), *momentum.tolist()]
            )
