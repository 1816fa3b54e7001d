"""What there is to be drawn of a box of water, whatever moves it."""

from dataclasses import dataclass, field

import numpy as np

from sim.water.drops import Spray

MOST_SPRAY = 20000
"""Drops that are shown at most."""


@dataclass(frozen=True, slots=True, eq=False)
class BoxPicture:
    """The water of one moment."""

    corner_w: tuple[float, float, float]
    """Where the box begins [m]."""
    cell_m: float
    size_m: tuple[float, float, float]
    height_m: np.ndarray
    """(ny, nx) float32 of the surface over the middle of each column of cells, above the box's bottom."""
    foam: np.ndarray
    """(ny, nx) float32 0..1: how much of each column's surface has been broken lately."""
    paddle_m: float | None
    """How far the wave maker stands from where the box begins, along x."""
    spray_w: np.ndarray
    """(n, 3) float32 places of particles that fly [m]."""
    time_s: float
    in_sea: bool = False
    """Whether the sea goes on about it, with no walls."""
    spray: Spray = field(default_factory=Spray.none)
    """Drops that a torn surface has thrown."""
