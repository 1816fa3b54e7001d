"""By what a lane is told apart: its name, its colour, and whether it is a ghost."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Look:
    """A lane's name and colour, and whether it is the flown one or beside it."""

    name: str
    tint: tuple[float, float, float]
    """Linear RGB."""
    ghost: bool


Tint = tuple[float, float, float]
"""Linear RGB, 0 to 1."""

TINTS: tuple[Tint, ...] = (
    (0.12, 0.55, 0.90),
    (0.35, 0.75, 0.20),
    (0.85, 0.20, 0.55),
    (0.90, 0.70, 0.10),
    (0.45, 0.30, 0.85),
    (0.10, 0.70, 0.65),
    (0.90, 0.08, 0.05),
)
"""None is orange: that is the flown lane's, which has no tint of its own."""
_GAMMA = 1.0 / 2.2


def next_tint(used: Iterable[Tint]) -> Tint:
    """The one that differs most from those in use; of equally different ones the first."""
    seen = np.array(list(used)).reshape(-1, 3) ** _GAMMA

    def least_difference(tint: Tint) -> float:
        apart = np.linalg.norm(seen - np.array(tint) ** _GAMMA, axis=1)
        return round(float(apart.min(initial=np.inf)), 3)

    return max(TINTS, key=least_difference)
