"""The sea about a box of water that goes with a body: the ocean over its columns of cells, and where the box stands."""

import math
from dataclasses import replace

import numpy as np

from sim.native.function import inline, native
from sim.platform.values import dataclass
from sim.water.flip.box import TankBox
from sim.water.flip.inflow import RAMP
from sim.water.ocean.field import SeaState, add_tile, rest_place
from sim.water.ocean.synthesis import FIELDS, HEIGHT, RISE, SPEED_EAST, SPEED_NORTH, synthesise
from sim.water.ocean.waves import DEEP_KD, TILES_M, mean_wave_numbers, raise_waves

_TILES = len(TILES_M)
_SAMPLES = 1 + 3 * _TILES
_SPACING = 2
"""The ocean is read so many cells apart: the box carries no shorter waves."""
_BEYOND = 8
"""Cells about the box that are known too, so that it may be shifted."""


class SeaColumns:
    """Works out one moment after the other."""

    def __init__(self, state: SeaState, box: TankBox) -> None:
        points = len(state.waves[5])
        nx, ny, _ = box.cells
        counts = ((n + 2 * _BEYOND) // _SPACING + 2 for n in (ny, nx))
        self._read = np.zeros((*counts, _SAMPLES))
        self._spacing_m, self._begin = _SPACING * box.cell_m, np.zeros(2, np.int64)
        self._decay = np.zeros(_TILES)
        self._row = np.zeros((2, _TILES, nx + 2))
        self._heights = np.zeros(state.waves[3].shape, np.float32)
        self._bed = np.zeros(_TILES)
        self._raised: tuple[np.ndarray, bytes] | None = None
        self._work = np.zeros((FIELDS // 2 + 1, 2, points, points), np.float32)
        self._grids = np.zeros((_TILES, points, points, FIELDS), np.float32)
        self.level_m = state.level_m

    def work_out(self, state: SeaState, box: TankBox, time_s: float) -> None:
        """Take up the sea of a time about a box."""
        start, place, number, drawn, edges, twiddles = state.waves
        sea = state.numbers(time_s)
        raised = sea.tobytes()
        if self._raised is None or self._raised[0] is not drawn or self._raised[1] != raised:
            raise_waves(number, drawn, sea, self._heights)
            mean_wave_numbers(start, number, self._heights, self._decay)
            kd = self._decay * state.depth_m
            self._bed = np.where((kd > DEEP_KD) | (kd == 0.0), 0.0, np.exp(-2.0 * kd))
            self._raised = drawn, raised
        synthesise(start, place, number, self._heights, sea[3], time_s, twiddles, self._work, self._grids)
        low = np.asarray(box.corner_w[:2]) - _BEYOND * box.cell_m
        self._begin = np.floor(low / self._spacing_m).astype(np.int64)
        self.level_m = state.level_m
        _read(self._grids, edges, self._begin, self._spacing_m, self._read)

    def height_m(self, x: float, y: float) -> float:
        """World z of the surface at a place about the box."""
        return self.level_m + float(_height(self._read, self._begin, self._spacing_m, x, y))

    def fill(
        self, box: TankBox, current_mps: tuple[float, float], faces: np.ndarray, height: np.ndarray
    ) -> None:
        """Velocities across a box's faces, faces (3, nz + 2, ny + 2, nx + 2) [cells/s], and the surface's height over
        the middle of each column, (ny + 2, nx + 2) [cells], in the box's units."""
        _fill(
            self._read,
            self._begin,
            self._spacing_m,
            self._decay,
            self._bed,
            np.asarray(box.corner_w, float),
            box.cell_m,
            self.level_m,
            np.array([*current_mps, 0.0]),
            *self._row,
            faces,
            height,
        )


@native
def _read(grids: np.ndarray, edges: np.ndarray, begin: np.ndarray, spacing: float, out: np.ndarray) -> None:
    """Height over the mean level [m] and each tile's velocity [m/s] at the surface, out (my, mx, 10)."""
    work = np.empty(FIELDS)
    for j in range(out.shape[0]):
        for i in range(out.shape[1]):
            x, y = (begin[0] + i) * spacing, (begin[1] + j) * spacing
            rest_x, rest_y = rest_place(grids, edges, x, y, work)
            row = out[j, i]
            row[0] = work[HEIGHT]
            for tile in range(len(edges)):
                work[:] = 0.0
                add_tile(grids[tile], edges[tile], rest_x, rest_y, work)
                row[1 + 3 * tile] = work[SPEED_EAST]
                row[2 + 3 * tile] = work[SPEED_NORTH]
                row[3 + 3 * tile] = work[RISE]


@inline
def _about(
    read: np.ndarray, begin: np.ndarray, spacing: float, x: float, y: float
) -> tuple[int, int, float, float, float, float]:
    """Row and column of the lowest of the four known places about world (x, y), and the fraction of each."""
    u, v = x / spacing - begin[0], y / spacing - begin[1]
    i = min(max(int(u), 0), read.shape[1] - 2)
    j = min(max(int(v), 0), read.shape[0] - 2)
    u, v = min(max(u - i, 0.0), 1.0), min(max(v - j, 0.0), 1.0)
    return j, i, (1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v


@inline
def _between(read: np.ndarray, about: tuple[int, int, float, float, float, float], number: int) -> float:
    """One of the numbers that are known, there."""
    j, i, a, b, c, d = about
    return float(
        a * read[j, i, number]
        + b * read[j, i + 1, number]
        + c * read[j + 1, i, number]
        + d * read[j + 1, i + 1, number]
    )


@native
def _height(read: np.ndarray, begin: np.ndarray, spacing: float, x: float, y: float) -> float:
    """Over the mean level, at world (x, y) [m]."""
    return _between(read, _about(read, begin, spacing, x, y), 0)


@native(superword=True)
def _fill(
    read: np.ndarray,
    begin: np.ndarray,
    spacing: float,
    decay: np.ndarray,
    bed: np.ndarray,
    corner: np.ndarray,
    cell: float,
    level: float,
    stream: np.ndarray,
    speeds: np.ndarray,
    left: np.ndarray,
    faces: np.ndarray,
    height: np.ndarray,
) -> None:
    """bed (tiles,): e^(-2 k d), 0 in deep water; speeds, left (tiles, nx + 2): workspace for a row of columns: speeds
    at the surface, and what is left of them in deep water."""
    _, nz, ny, nx = faces.shape
    tiles = len(decay)
    shallow = False
    for t in range(tiles):
        shallow = shallow or bed[t] > 0.0
    for c in range(3):
        for j in range(ny):
            y = corner[1] + cell * (j - (1.0 if c == 1 else 0.5))
            for i in range(nx):
                x = corner[0] + cell * (i - (1.0 if c == 0 else 0.5))
                about = _about(read, begin, spacing, x, y)
                surface = (level + _between(read, about, 0) - corner[2]) / cell + 1.0
                if c == 2:
                    height[j, i] = surface
                depth = surface - (0.0 if c == 2 else 0.5)
                for t in range(tiles):
                    speeds[t, i] = _between(read, about, 1 + 3 * t + c)
                    left[t, i] = math.exp(-decay[t] * cell * max(depth, 0.0))
            for k in range(nz):
                row = faces[c, k, j]
                if shallow:
                    _fill_over_bed(speeds, left, bed, c == 2, stream[c], cell, row)
                for i in range(0 if shallow else nx):
                    speed = stream[c]
                    for t in range(_TILES):
                        speed += left[t, i] * speeds[t, i]
                    row[i] = speed / cell
                for t in range(tiles):
                    grown, rest = math.exp(decay[t] * cell), left[t]
                    for i in range(nx):
                        rest[i] = min(rest[i] * grown, 1.0)


@native
def _fill_over_bed(
    speeds: np.ndarray,
    left: np.ndarray,
    bed: np.ndarray,
    rises: bool,
    stream: float,
    cell: float,
    out: np.ndarray,
) -> None:
    """A row of faces, out (nx + 2,) [cells/s]: cosh and, where water rises, sinh over the bed, from e^(-k below)."""
    for i in range(len(out)):
        speed = stream
        for t in range(len(bed)):
            fades = max(left[t, i], math.sqrt(bed[t]))
            mirrored = -bed[t] if rises else bed[t]
            speed += (fades + mirrored / fades) / (1.0 + mirrored) * speeds[t, i]
        out[i] = speed / cell


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
"""Fraction of the box's height that is under water."""


@dataclass(frozen=True, slots=True, eq=False)
class SeaAround:
    """The sea, and the velocity of the water as a whole."""

    state: SeaState
    current_mps: tuple[float, float] = (0.0, 0.0)


class OpenSea:
    """Arrays of the sea in one box, in the box's units."""

    def __init__(self, around: SeaAround, box: TankBox) -> None:
        self.around = around
        self.columns = SeaColumns(around.state, box)
        self.faces = np.zeros((3, *box.shape), np.float32)
        """Velocities across the faces [cells/s], at the end of the last step."""
        self.height = np.zeros(box.shape[1:], np.float32)
        """(ny + 2, nx + 2) of the surface over the middle of each column."""
        nz, ny, nx = box.shape
        self.phases = tuple(np.full(n, 0.5, np.float32) for n in ((2, nz, ny), (2, nz, nx), (1, ny, nx)))
        """How far the next plane of particles has come to each of their faces."""
        self.fraction = np.zeros(RAMP + 1)
        self.over = np.zeros(max(ny, nx)), np.zeros(max(ny, nx))

    def work_out(self, box: TankBox, time_s: float) -> None:
        """Take up the sea of a time."""
        self.columns.work_out(self.around.state, box, time_s)
        self._fill(box)

    def go_along(self, shift: np.ndarray, box: TankBox, time_s: float) -> None:
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

    def _fill(self, box: TankBox) -> None:
        self.columns.fill(box, self.around.current_mps, self.faces, self.height)

    def cells_off(self, box: TankBox, place_w: np.ndarray) -> np.ndarray:
        """(3,) by which the middle of the box's surface is off a place's column and the sea's surface there."""
        off = box.inside(place_w) - 1.0 - 0.5 * np.array(box.cells)
        surface = self.columns.height_m(float(place_w[0]), float(place_w[1]))
        off[2] = (surface - box.corner_w[2]) / box.cell_m - UNDER * box.cells[2]
        return off

    def wanted_shift(self, box: TankBox, place_w: np.ndarray) -> np.ndarray:
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


def cell_number(box: TankBox) -> np.ndarray:
    """(3,) int64 that the cell before the box's first has in the world."""
    return np.round(np.asarray(box.corner_w) / box.cell_m).astype(np.int64) - 1


def shifted(box: TankBox, shift: np.ndarray) -> TankBox:
    """A box that stands elsewhere by whole cells."""
    number = cell_number(box) + 1 + shift
    x, y, z = (float(n) * box.cell_m for n in number)
    return replace(box, corner_w=(x, y, z))
