"""One plot as a file: a picture (PNG, SVG) or its numbers (CSV)."""

import csv
from datetime import datetime
from pathlib import Path

import numpy as np

from export.output import OutputError, replacing
from ui.features.plots.forms import PlotFigure

_SIZE_IN, _DPI = (7.0, 4.0), 200


def save_plot(folder: Path, scene: str, figure: PlotFigure, ending: str) -> Path:
    """Write a plot into a new file, which is returned. Raises OutputError."""
    topic = "".join(c if c.isalnum() else "-" for c in figure.title.partition(" \N{EM DASH}")[0].lower())
    path = folder / f"{scene}-{topic.strip('-')}-{datetime.now():%Y%m%d-%H%M%S}.{ending}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            if ending == "csv":
                _write_numbers(temporary, figure)
            else:
                _draw(temporary, figure, ending)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def _write_numbers(path: Path, figure: PlotFigure) -> None:
    """A row a point, all digits kept; what is not known is empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["curve", figure.x_label, "value"])
        for curve in figure.curves:
            label = f"{curve.name}: {curve.other_axis or figure.y_label}"
            for x, y in zip(curve.x.tolist(), curve.y.tolist(), strict=True):
                writer.writerow([label, x, "" if np.isnan(y) else y])


def _draw(path: Path, figure: PlotFigure, ending: str) -> None:
    from matplotlib.figure import Figure  # takes a while, and most sessions draw none

    made = Figure(figsize=_SIZE_IN, layout="constrained")
    main = made.subplots()
    others = {label: main.twinx() for label in dict.fromkeys(c.other_axis for c in figure.curves) if label}
    for number, (label, axis) in enumerate(others.items()):
        axis.set_ylabel(label)
        axis.spines["right"].set_position(("outward", 48.0 * number))
    for curve in figure.curves:
        axis = others.get(curve.other_axis, main)
        dark = tuple(0.75 * part for part in curve.colour)  # colours of a dark panel, on white
        axis.plot(curve.x, curve.y, color=dark, linewidth=1.2, label=curve.name)
    for axis in (main, *others.values()) if figure.log else ():
        axis.set_xscale("log")
        axis.set_yscale("log")
    main.set_xlabel(figure.x_label)
    main.set_ylabel(figure.y_label)
    main.set_title(figure.title, fontsize="medium")
    main.grid(alpha=0.3)
    if len(figure.curves) > 1:
        made.legend(loc="outside lower center", fontsize="small", ncols=4)
    made.savefig(path, format=ending, dpi=_DPI)
