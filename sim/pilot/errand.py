"""What an autopilot is sent on: ways and places of a scene."""

from dataclasses import dataclass

import numpy as np

from sim.target_path import TargetPath


@dataclass(frozen=True, slots=True, eq=False)
class Errand:
    """What a scene has of each kind; nothing where it has none. Arrays are never written to."""

    path_w: np.ndarray
    """(n, 3) m: a way that is safe to fly."""
    landing_w: np.ndarray | None
    """(3,) m: where it may be landed at the end of that way."""
    line_w: np.ndarray
    """(n, 2) m: a way to drive along."""
    closed: bool
    """That way leads round."""
    places_w: tuple[tuple[float, float], ...]
    """(x, y) m of where the scene's goals are, in their order."""
    target: TargetPath | None = None
    """The way of a load's target over time."""
