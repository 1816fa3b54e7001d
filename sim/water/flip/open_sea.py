"""The sea about a box of water that goes with a body: what flows in at the sides, and where the box stands."""

from dataclasses import dataclass, replace

import numpy as np

from sim.water.flip.box import Box
from sim.water.flip.inflow import RAMP
from sim.water.flip.sea_columns import SeaColumns
from sim.water.ocean.state import SeaState

_LOOSE = 1.0
"""The box goes after what it follows once that is so many cells off."""
_LOOSE_HEIGHT = 2.0
_TORN = 8.0
"""Beyond so many all of it is filled anew."""
_MOST = 2
"""Cells by which it is shifted at once."""
_FARTHEST_M = 1e7
"""Whatever is farther off is no boat any more: the box stays where it is."""
UNDER = 0.5
"""Share of the box's height that is under water."""


@dataclass(frozen=True, slots=True, eq=False)
class SeaAround:
    """The sea, and the velocity of the water as a whole."""

    state: SeaState
    current_mps: tuple[float, float] = (0.0, 0.0)


class OpenSea:
    """Arrays of the sea in one box, in the box's units."""

    def __init__(self, around: SeaAround, box: Box) -> None:
        self.around = around
        self.columns = SeaColumns(around.state, box)
        self.faces = np.zeros((3, *box.shape), np.float32)
        """Velocities across the faces [cells/s], at the end of the last step."""
        self.height = np.zeros(box.shape[1:], np.float32)
        """(ny + 2, nx + 2) of the surface over the middle of each column."""
        nz, ny, nx = box.shape
        self.phases = tuple(np.full(n, 0.5, np.float32) for n in ((2, nz, ny), (2, nz, nx), (1, ny, nx)))
        """How far the next plane of particles has come to each of their faces."""
        self.share = np.zeros(RAMP + 1)
        self.over = np.zeros(max(ny, nx)), np.zeros(max(ny, nx))

    def work_out(self, box: Box, time_s: float) -> None:
        """Take up the sea of a time."""
        self.columns.work_out(self.around.state, box, time_s)
        self._fill(box)

    def go_along(self, shift: np.ndarray, box: Box, time_s: float) -> None:
        """The box was shifted by (3,) cells: faces of the border that go along keep their planes."""
        if np.abs(shift).max() <= _MOST:
            self._fill(box)
        else:
            self.work_out(box, time_s)
        x, y, z = (int(n) for n in shift)
        for axis, along in ((0, (z, y)), (1, (z, x)), (2, (y, x))):
            phase = self.phases[axis]
            if shift[axis]:
                phase[:] = 0.5
            phase[:] = np.roll(phase, (-along[0], -along[1]), (1, 2))

    def _fill(self, box: Box) -> None:
        self.columns.fill(box, self.around.current_mps, self.faces, self.height)

    def cells_off(self, box: Box, place_w: np.ndarray) -> np.ndarray:
        """(3,) by which the middle of the box's surface is off a place's column and the sea's surface there."""
        off = box.inside(place_w) - 1.0 - 0.5 * np.array(box.cells)
        surface = self.columns.height_m(float(place_w[0]), float(place_w[1]))
        off[2] = (surface - box.corner_w[2]) / box.cell_m - UNDER * box.cells[2]
        return off

    def wanted_shift(self, box: Box, place_w: np.ndarray) -> np.ndarray:
        """(3,) int64 cells by which the box has to go after a place."""
        shift = np.zeros(3, np.int64)
        if not (np.abs(place_w) < _FARTHEST_M).all():
            return shift
        off = self.cells_off(box, place_w)
        most = _MOST if np.abs(off).max() < _TORN else np.inf
        for axis, loose in enumerate((_LOOSE, _LOOSE, _LOOSE_HEIGHT)):
            if abs(off[axis]) > loose:
                shift[axis] = round(min(max(off[axis], -most), most))
        return shift


def cell_number(box: Box) -> np.ndarray:
    """(3,) int64 that the cell before the box's first has in the world."""
    return np.round(np.asarray(box.corner_w) / box.cell_m).astype(np.int64) - 1


def shifted(box: Box, shift: np.ndarray) -> Box:
    """A box that stands elsewhere by whole cells."""
    number = cell_number(box) + 1 + shift
    x, y, z = (float(n) * box.cell_m for n in number)
    return replace(box, corner_w=(x, y, z))
