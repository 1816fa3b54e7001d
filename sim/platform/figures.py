"""Quantities over time as a figure of matplotlib, which a notebook shows and `savefig` writes."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH_IN, _HEIGHT_IN = 7.5, 1.75
_LABELS = 8
"""Lines of one quantity that are named at most."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """Some lines over time in one unit."""

    unit: str
    lines: Mapping[str, np.ndarray]
    """Name -> (n,)."""


def figure(time: np.ndarray, quantities: Mapping[str, Quantity], title: str = "") -> "Figure":
    """One axis below the other for each quantity, over the same time [s]; made without a window."""
    from matplotlib.figure import Figure  # takes a while, and most runs draw none

    class Shown(Figure):
        """A figure that a notebook shows as the last value of a cell, whatever backend it has."""

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png", dpi=110)
            return file.getvalue()

    made = Shown(figsize=(_WIDTH_IN, 0.6 + _HEIGHT_IN * max(len(quantities), 1)), layout="constrained")
    axes = np.atleast_1d(made.subplots(len(quantities), 1, sharex=True)).tolist()
    for axis, (name, quantity) in zip(axes, quantities.items(), strict=True):
        for label, values in quantity.lines.items():
            axis.plot(time, values, linewidth=1.2, label=label)
        axis.set_ylabel(f"{name.replace('_', ' ')}\n[{quantity.unit}]" if quantity.unit else name)
        axis.grid(alpha=0.3)
        axis.margins(x=0.0)
        if 1 < len(quantity.lines) <= _LABELS:
            axis.legend(loc="upper right", fontsize="small", ncols=len(quantity.lines))
    axes[-1].set_xlabel("time [s]")
    if title:
        made.suptitle(title, fontsize="medium")
    return made
