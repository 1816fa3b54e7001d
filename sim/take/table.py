"""A take as comma-separated values: one row a node."""

import csv
from pathlib import Path

from sim.replacing import replacing
from sim.take.columns import control_columns, node_columns
from sim.take.take import Take


def write_table(take: Take, path: Path, every_s: float) -> None:
    """Write the table, or nothing. Raises OSError."""
    seen, vehicle = take.samples(every_s), take.vehicle
    momenta = [f"momentum_{k}" for k in range(seen.momentum.shape[1])]
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = ["time_s", *node_columns(vehicle), *control_columns(vehicle), "energy_J", *momenta]
        writer.writerow(columns)
        for row in zip(seen.time, seen.nodes, seen.controls, seen.energy, seen.momentum, strict=True):
            time_s, node, controls, energy, momentum = row
            writer.writerow(
                [float(time_s), *node.tolist(), *controls.tolist(), float(energy), *momentum.tolist()]
            )
