"""The box that holds the water: its cells, where it stands, how its arrays are laid out, and the particles in it.

Arrays over cells have one cell more on every side, so that none of them asks where the box ends: cell (i, j, k) along
world x, y, z, counted from 1, is at [k, j, i]. Arrays over faces have an axis in front: [c, k, j, i] is the face that
is crossed along axis c and is the lower one of its cell.

Particles carry the water. Their place (n, 3) float32 is in units of cells along world x, y, z, their velocity (n, 3)
float32 in cells a second.

The sides of a box of water: velocities at and beyond them, the paddle that makes waves, and a hull that meets them.

The walls stop the corner of a hull that is farthest out, a cell before the glass: water in a thinner gap has no room on
the grid to flow out of it."""

import math

import numpy as np

from sim.environment.environment import BodyState
from sim.native.function import native
from sim.platform.errors import InputError
from sim.platform.values import dataclass

WATER_DENSITY = 1000.0
"""[kg/m^3]"""
PER_CELL = 8
"""Particles in a cell that is full."""
FEWEST_CELLS, MOST_CELLS = 8, 256
_MOST_MB = 2000.0
_BYTES_A_CELL = 4 * 40 + PER_CELL * 4 * 13
"""About what the arrays of a cell and its particles take."""


@dataclass(frozen=True, slots=True)
class TankBox:
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


CROWDED = 2 * PER_CELL
"""A cell with more particles hands some over ..."""
SPARSE = PER_CELL // 2
"""... to a cell within the water that has fewer."""


def seeded(depth: np.ndarray, cells: tuple[int, int, int], seed: int) -> np.ndarray:
    """Particles (n, 3) float32 up to the depth [cells] over each column of cells, (ny, nx).

    Each lies in an eighth of a cell of its own, at random about its middle.
    """
    random = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*(np.arange(2 * n) for n in cells), indexing="ij"), axis=-1).reshape(-1, 3)
    place = 1.0 + 0.5 * (grid + random.uniform(0.25, 0.75, grid.shape))
    top = 1.0 + np.asarray(depth, float)[grid[:, 1] // 2, grid[:, 0] // 2]
    return place[place[:, 2] < top].astype(np.float32)


class Particles:
    """Place and velocity of those that there are, with room for those that may come."""

    def __init__(self, place: np.ndarray, room_for: int = 0) -> None:
        """At rest. `room_for`: so many at least."""
        self._room_for = room_for
        self.hold(place, np.zeros_like(place))

    def hold(self, place: np.ndarray, velocity: np.ndarray) -> None:
        """Take these (n, 3) in the place of all."""
        self.count, size = len(place), (max(len(place), self._room_for), 3)
        self.own = np.zeros(size, np.float32), np.zeros(size, np.float32)
        """(place, velocity), each (room, 3); the first `count` rows are used."""
        self._spare = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.own[0][: self.count], self.own[1][: self.count] = place, velocity

    @property
    def place(self) -> np.ndarray:
        """(count, 3)."""
        return self.own[0][: self.count]

    @property
    def velocity(self) -> np.ndarray:
        """(count, 3)."""
        return self.own[1][: self.count]

    def order(self, end: np.ndarray) -> None:
        """Lay them in memory by cells; end (nz + 2, ny + 2, nx + 2) int64 gets where each cell's end."""
        sort(*self.own, *self._spare, self.count, end)
        self.own, self._spare = self._spare, self.own


@native
def sort(
    place: np.ndarray,
    velocity: np.ndarray,
    sorted_place: np.ndarray,
    sorted_velocity: np.ndarray,
    count: int,
    end: np.ndarray,
) -> None:
    """Order the first `count` particles by cells; end (nz + 2, ny + 2, nx + 2) int64 gets where each cell's end."""
    ends = end.reshape(-1)
    deep, wide = end.shape[1], end.shape[2]
    ends[:] = 0
    for q in range(count):
        ends[(int(place[q, 2]) * deep + int(place[q, 1])) * wide + int(place[q, 0])] += 1
    total = 0
    for cell in range(ends.size):
        here = ends[cell]
        ends[cell] = total
        total += here
    for q in range(count):
        cell = (int(place[q, 2]) * deep + int(place[q, 1])) * wide + int(place[q, 0])
        to = ends[cell]
        ends[cell] += 1
        for c in range(3):
            sorted_place[to, c] = place[q, c]
            sorted_velocity[to, c] = velocity[q, c]


@native
def even_out(
    place: np.ndarray,
    velocity: np.ndarray,
    end: np.ndarray,
    density: np.ndarray,
    faces: np.ndarray,
    draw: np.ndarray,
) -> int:
    """Move particles from crowded cells to sparse ones within the water, where they take the velocity of the faces.

    The number of particles stays. Particles are sorted; draw (1,) uint64 is the state of the random numbers.
    Returns how many were moved.
    """
    ends = end.reshape(-1)
    deep, wide = end.shape[1], end.shape[2]
    giving, spare, moved = 0, 0, 0
    for k in range(1, end.shape[0] - 1):
        for j in range(1, deep - 1):
            for i in range(1, wide - 1):
                cell = (k * deep + j) * wide + i
                has = ends[cell] - ends[cell - 1]
                if has >= SPARSE or not _within(density, k, j, i):
                    continue
                for _ in range(SPARSE - has):
                    while spare == 0 and giving + 1 < ends.size:
                        giving += 1
                        spare = max(ends[giving] - ends[giving - 1] - CROWDED, 0)
                    if spare == 0:
                        return moved
                    spare -= 1
                    q = ends[giving] - 1 - spare
                    place[q, 0] = i + _random(draw)
                    place[q, 1] = j + _random(draw)
                    place[q, 2] = k + _random(draw)
                    velocity[q, 0] = np.float32(0.5) * (faces[0, k, j, i] + faces[0, k, j, i + 1])
                    velocity[q, 1] = np.float32(0.5) * (faces[1, k, j, i] + faces[1, k, j + 1, i])
                    velocity[q, 2] = np.float32(0.5) * (faces[2, k, j, i] + faces[2, k + 1, j, i])
                    moved += 1
    return moved


@native
def _within(density: np.ndarray, k: int, j: int, i: int) -> bool:
    """Whether the cell and its neighbours are full of water."""
    least = density[k, j, i]
    least = min(least, density[k, j, i - 1], density[k, j, i + 1])
    least = min(least, density[k, j - 1, i], density[k, j + 1, i])
    return min(least, density[k - 1, j, i], density[k + 1, j, i]) > 0.6


@native
def _random(draw: np.ndarray) -> np.float32:
    """Uniform over [0, 1), by Marsaglia's xorshift."""
    s = draw[0]
    s ^= s << np.uint64(13)
    s ^= s >> np.uint64(7)
    s ^= s << np.uint64(17)
    draw[0] = s
    return np.float32(s >> np.uint64(40)) * np.float32(2.0**-24)


_RETURN = 0.2
"""Fraction of the way out that is taken back at each exchange ..."""
_RETURN_MPS = 0.3
"""... no faster than this."""


def wall_impulse(state: BodyState, vertices_b: np.ndarray, box: TankBox, dt_s: float) -> np.ndarray:
    """(6,) on the body, body frame, from the four sides and the floor: they only push, and nothing bounces."""
    R, x_w = state.T_wb[:3, :3], state.T_wb[:3, 3]
    corners_w = vertices_b @ R.T + x_w
    low = np.asarray(box.corner_w) + box.cell_m
    high = low + box.size_m - 2.0 * box.cell_m
    mobility = np.linalg.inv(state.inertia_b)
    total = np.zeros(6)
    twist = state.twist_b.copy()
    sides = [(0, 1.0, low[0]), (0, -1.0, high[0]), (1, 1.0, low[1]), (1, -1.0, high[1]), (2, 1.0, low[2])]
    for axis, inwards, place in sides:
        out = inwards * (place - corners_w[:, axis])
        farthest = int(out.argmax())
        if out[farthest] <= 0.0:
            continue
        normal_b = inwards * R[axis]
        lever = np.concatenate([np.cross(vertices_b[farthest], normal_b), normal_b])
        wanted = min(_RETURN * out[farthest] / dt_s, _RETURN_MPS)
        impulse = max((wanted - float(lever @ twist)) / float(lever @ mobility @ lever), 0.0) * lever
        twist += mobility @ impulse
        total += impulse
    return total


@native
def hold_border(faces: np.ndarray, border: np.ndarray) -> None:
    """Faces on the sides get the velocity across that `border` (3, nz + 2, ny + 2, nx + 2) has there; along the sides
    the water slips, so that what lies outside is the mirror image of what lies inside."""
    _, nz, ny, nx = faces.shape
    for k in range(nz):
        for j in range(ny):
            faces[0, k, j, 1] = border[0, k, j, 1]
            faces[0, k, j, nx - 1] = border[0, k, j, nx - 1]
            faces[0, k, j, 0] = faces[0, k, j, 1]
            for c in range(1, 3):
                faces[c, k, j, 0] = faces[c, k, j, 1]
                faces[c, k, j, nx - 1] = faces[c, k, j, nx - 2]
    for k in range(nz):
        for i in range(nx):
            faces[1, k, 1, i] = border[1, k, 1, i]
            faces[1, k, ny - 1, i] = border[1, k, ny - 1, i]
            faces[1, k, 0, i] = faces[1, k, 1, i]
            for c in range(0, 3, 2):
                faces[c, k, 0, i] = faces[c, k, 1, i]
                faces[c, k, ny - 1, i] = faces[c, k, ny - 2, i]
    for j in range(ny):
        for i in range(nx):
            faces[2, 1, j, i] = border[2, 1, j, i]
            faces[2, nz - 1, j, i] = border[2, nz - 1, j, i]
            faces[2, 0, j, i] = faces[2, 1, j, i]
            for c in range(2):
                faces[c, 0, j, i] = faces[c, 1, j, i]
                faces[c, nz - 1, j, i] = faces[c, nz - 2, j, i]


@native
def extrapolate(faces: np.ndarray, valid: np.ndarray, layers: int) -> None:
    """Carry velocities into faces that have none, `layers` faces far: each gets the mean of its known neighbours.

    valid (3, nz + 2, ny + 2, nx + 2) uint8: 1 where a velocity is known; gets 2, 3, ... layer by layer.
    """
    _, nz, ny, nx = faces.shape
    for layer in range(layers):
        known = layer + 1
        for c in range(3):
            for k in range(1, nz - 1):
                for j in range(1, ny - 1):
                    for i in range(1, nx - 1):
                        if valid[c, k, j, i] != 0:
                            continue
                        total, count = np.float32(0.0), 0
                        if 0 < valid[c, k, j, i - 1] <= known:
                            total += faces[c, k, j, i - 1]
                            count += 1
                        if 0 < valid[c, k, j, i + 1] <= known:
                            total += faces[c, k, j, i + 1]
                            count += 1
                        if 0 < valid[c, k, j - 1, i] <= known:
                            total += faces[c, k, j - 1, i]
                            count += 1
                        if 0 < valid[c, k, j + 1, i] <= known:
                            total += faces[c, k, j + 1, i]
                            count += 1
                        if 0 < valid[c, k - 1, j, i] <= known:
                            total += faces[c, k - 1, j, i]
                            count += 1
                        if 0 < valid[c, k + 1, j, i] <= known:
                            total += faces[c, k + 1, j, i]
                            count += 1
                        if count:
                            faces[c, k, j, i] = total / np.float32(count)
                            valid[c, k, j, i] = known + 1


_BEGINS_OVER = 2.0
"""Periods over which it grows to its full stroke, so that it begins without a jerk."""


@dataclass(frozen=True, slots=True)
class Paddle:
    """Moves by half its stroke to either side of its middle. Raises InputError for numbers out of range."""

    stroke_m: float
    period_s: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.stroke_m) and 0.0 <= self.stroke_m <= 10.0):
            raise InputError(f"wave maker: stroke_m = {self.stroke_m!r} is refused; allowed: 0 to 10 m")
        if not (math.isfinite(self.period_s) and 0.1 <= self.period_s <= 60.0):
            raise InputError(f"wave maker: period_s = {self.period_s!r} is refused; allowed: 0.1 to 60 s")

    def place_m(self, time_s: float) -> float:
        """How far it stands from the box's side."""
        grown = min(time_s / (_BEGINS_OVER * self.period_s), 1.0)
        swing = 0.5 * self.stroke_m * grown * grown * (3.0 - 2.0 * grown)
        return 0.5 * self.stroke_m - swing * math.cos(2.0 * math.pi * time_s / self.period_s)


@native
def block_off(at: float, blocked: np.ndarray, room: np.ndarray) -> None:
    """Block what lies behind the paddle, which is at `at` cells from where the box begins."""
    _, nz, ny, nx = blocked.shape
    for c in range(3):
        for i in range(2 if c == 0 else 1, nx - 1):
            beyond = i + (0.0 if c == 0 else 0.5) - 1.0 - at
            if beyond >= 1.0:
                break
            fraction = np.float32(min(max(0.5 - beyond, 0.0), 1.0))
            s = min(max(beyond, -1.0), 1.0)
            free = np.float32(0.5 + s - 0.5 * s * abs(s))
            for k in range(nz):
                for j in range(ny):
                    blocked[c, k, j, i] = max(blocked[c, k, j, i], fraction)
                    room[c, k, j, i] = min(room[c, k, j, i], free)


@native
def displace(at: float, speed: float, diagonal: np.ndarray, right: np.ndarray) -> None:
    """Add what the paddle's motion [cells/s] takes from the room of the cells about it."""
    nz, ny, nx = diagonal.shape
    for i in range(1, nx - 1):
        beyond = i - 1.0 - at
        if beyond >= 1.0:
            break
        low = min(max(0.5 - beyond, 0.0), 1.0)
        top = min(max(-0.5 - beyond, 0.0), 1.0)
        gain = np.float32((low if i > 1 else 0.0) - top) * np.float32(speed)
        for k in range(1, nz - 1):
            for j in range(1, ny - 1):
                if diagonal[k, j, i] > 0.0:
                    right[k, j, i] += gain


@native
def keep_before(at: float, place: np.ndarray, count: int) -> None:
    """No particle stays behind the paddle."""
    least = np.float32(1.0 + at)
    for q in range(count):
        if place[q, 0] < least:
            place[q, 0] = least
