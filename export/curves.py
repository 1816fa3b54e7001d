"""What the plots show, as comma-separated values: one row a lane and moment."""

import csv
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from export.output import OutputError, replacing


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
