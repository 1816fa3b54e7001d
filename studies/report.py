"""What a study leaves behind: a table, a picture, and which claims its own numbers bear out."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

LOCAL = "local"
"""The cluster of this computer."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may choose; None leaves it to the study."""

    runs: int | None = None
    seconds: float | None = None
    seed: int = 7
    cluster: str | None = None
    """LOCAL, or the address of a dask scheduler; of studies that are run there."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a paper or of ours, and what came out here."""

    text: str
    holds: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a study found."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    figure: Figure
    claims: list[Claim]


def save(report: Report, name: str, folder: Path) -> list[Path]:
    """NAME.csv, NAME.png and NAME.txt (the claims) in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    table, picture, claims = (folder / f"{name}.{kind}" for kind in ("csv", "png", "txt"))
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(report.columns)
        writer.writerows([_plain(x) for x in row] for row in report.rows)
    report.figure.savefig(picture, dpi=130, bbox_inches="tight")
    lines = [f"{'yes' if c.holds else 'NO '}  {c.text}\n     {c.evidence}\n" for c in report.claims]
    claims.write_text("".join(lines), encoding="utf-8")
    return [table, picture, claims]


def _plain(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else value
