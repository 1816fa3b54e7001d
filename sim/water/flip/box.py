"""The box that holds the water: its cells, where it stands, and how its arrays are laid out.

Arrays over cells have one cell more on every side, so that none of them asks where the box ends: cell (i, j, k) along
world x, y, z, counted from 1, is at [k, j, i]. Arrays over faces have an axis in front: [c, k, j, i] is the face that
is crossed along axis c and is the lower one of its cell.
"""

import math
from dataclasses import dataclass

import numpy as np

from sim.platform.errors import InputError

WATER_DENSITY = 1000.0
"""[kg/m^3]"""
PER_CELL = 8
"""Particles in a cell that is full."""
FEWEST_CELLS, MOST_CELLS = 8, 256
_MOST_MB = 2000.0
_BYTES_A_CELL = 4 * 40 + PER_CELL * 4 * 13
"""About what the arrays of a cell and its particles take."""


@dataclass(frozen=True, slots=True)
class Box:
    """Cells along world x, y, z, and the corner where all of these are least.

    Raises InputError for numbers out of range and a box that needs more memory than is allowed.
    """

    cells: tuple[int, int, int]
    cell_m: float
    corner_w: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for axis, count in zip("xyz", self.cells, strict=True):
            if not isinstance(count, int) or not FEWEST_CELLS <= count <= MOST_CELLS or count % FEWEST_CELLS:
                raise InputError(
                    f"water box: {count!r} cells along {axis}; allowed: multiples of {FEWEST_CELLS}, "
                    f"{FEWEST_CELLS} to {MOST_CELLS}"
                )
        if not (math.isfinite(self.cell_m) and 1e-3 <= self.cell_m <= 10.0):
            raise InputError(f"water box: cell_m = {self.cell_m!r} is refused; allowed: 0.001 to 10 m")
        if self.memory_mb > _MOST_MB:
            raise InputError(
                f"water box: {' x '.join(map(str, self.cells))} cells need about {self.memory_mb:.0f} MB; "
                f"allowed: up to {_MOST_MB:.0f} MB"
            )

    @property
    def memory_mb(self) -> float:
        return math.prod(self.cells) * _BYTES_A_CELL / 1e6

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of an array over cells."""
        x, y, z = self.cells
        return z + 2, y + 2, x + 2

    @property
    def size_m(self) -> np.ndarray:
        """(3,) of its edges."""
        return np.array(self.cells) * self.cell_m

    def inside(self, place_w: np.ndarray) -> np.ndarray:
        """Places (..., 3) in units of cells, where cell (1, 1, 1) begins at (1, 1, 1)."""
        return (np.asarray(place_w, float) - self.corner_w) / self.cell_m + 1.0
