"""The sea at any place and time: read from its tiles by compiled steps, asked in Python, and as a state for pictures.

Surface particles are read by where they rest, the water by where it is.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sim.native.function import inline, native, unordered
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.water.ocean.synthesis import (
    EAST,
    FIELDS,
    HEIGHT,
    NORTH,
    RISE,
    SPEED_EAST,
    SPEED_NORTH,
    synthesise,
    twiddles,
)
from sim.water.ocean.waves import (
    DEEP_KD,
    LEAST_POINTS,
    MOST_POINTS,
    TILES_M,
    Sea,
    Waves,
    mean_wave_numbers,
    raise_waves,
)

_SEARCHES = 12
_FOUND_M = 1e-3
_SHALLOWEST = 0.1
"""Fraction of the depth that is left of it under the lowest trough."""


@unordered
def add_tile(grid: np.ndarray, edge: float, x: float, y: float, out: np.ndarray) -> None:
    """Add the fields of one tile (points, points, FIELDS), at the particle that rests at (x, y), to out (FIELDS,)."""
    points = grid.shape[0]
    u, v = x / edge * points, y / edge * points
    floor_u, floor_v = math.floor(u), math.floor(v)
    u -= floor_u
    v -= floor_v
    i, j = int(floor_u) % points, int(floor_v) % points
    i1, j1 = (i + 1) % points, (j + 1) % points
    near, right, far, across = grid[j, i], grid[j, i1], grid[j1, i], grid[j1, i1]
    a, b, c, d = (1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v
    for k in range(FIELDS):
        out[k] += a * near[k] + b * right[k] + c * far[k] + d * across[k]


@native
def particle(grids: np.ndarray, edges: np.ndarray, x: float, y: float, out: np.ndarray) -> None:
    """The fields of the particle that rests at (x, y), all tiles together, out (FIELDS,)."""
    out[:] = 0.0
    for tile in range(grids.shape[0]):
        add_tile(grids[tile], edges[tile], x, y, out)


@native
def rest_place(
    grids: np.ndarray, edges: np.ndarray, x: float, y: float, work: np.ndarray
) -> tuple[float, float]:
    """Where the surface's particle rests that is at (x, y) now; work (FIELDS,) gets its fields."""
    rest_x, rest_y = x, y
    for _ in range(_SEARCHES):
        particle(grids, edges, rest_x, rest_y, work)
        off_x, off_y = x - work[EAST] - rest_x, y - work[NORTH] - rest_y
        rest_x += off_x
        rest_y += off_y
        if off_x * off_x + off_y * off_y < _FOUND_M**2:
            break
    return rest_x, rest_y


@inline
def left_below(k: float, below: float, surface: float, depth: float) -> tuple[float, float]:
    """What is left of a wave over a level bed, `below` its surface, which stands `surface` over the mean level: of its
    pressure and its motion along the level, cosh(k (z + d)) / cosh(k d), and of the rise, the same of sinh.

    z runs from the bed, where the second is zero, to the surface (J. D. Wheeler, "Method for calculating forces
    produced by irregular waves", 1970); in deep water both are e^(-k below).
    """
    left = math.exp(-k * below) if below > 0.0 else 1.0
    if below <= 0.0 or k <= 0.0 or k * depth > DEEP_KD:
        return left, left
    column = max(depth + surface, _SHALLOWEST * depth)
    up, all_up = math.exp(k * depth * max(1.0 - below / column, 0.0)), math.exp(k * depth)
    return (up + 1.0 / up) / (all_up + 1.0 / all_up), (up - 1.0 / up) / (all_up - 1.0 / all_up)


@native
def velocity_below(
    grids: np.ndarray,
    edges: np.ndarray,
    decay: np.ndarray,
    rest_x: float,
    rest_y: float,
    below: float,
    depth: float,
    work: np.ndarray,
) -> tuple[float, float, float]:
    """World velocity of the water `below` the particle that rests there; none of it above.

    decay (tiles,) [rad/m]: each tile's motion fades as its mean wave's does; depth [m] of the bed; work (FIELDS,) has
    the particle's fields.
    """
    vx = vy = vz = 0.0
    surface = work[HEIGHT]
    for tile in range(grids.shape[0]):
        work[:] = 0.0
        add_tile(grids[tile], edges[tile], rest_x, rest_y, work)
        left, left_up = left_below(decay[tile], below, surface, depth)
        vx += left * work[SPEED_EAST]
        vy += left * work[SPEED_NORTH]
        vz += left_up * work[RISE]
    return vx, vy, vz


@native
def heights_at(grids: np.ndarray, edges: np.ndarray, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Height of the surface at world places x, y (n,), out (n,)."""
    work = np.empty(FIELDS)
    for k in range(len(x)):
        rest_place(grids, edges, x[k], y[k], work)
        out[k] = work[0]


@native
def velocities_at(
    grids: np.ndarray,
    edges: np.ndarray,
    decay: np.ndarray,
    depth: float,
    place_w: np.ndarray,
    out: np.ndarray,
) -> None:
    """Velocity of the water at world places (n, 3), out (n, 3)."""
    work = np.empty(FIELDS)
    for k in range(len(place_w)):
        rest_x, rest_y = rest_place(grids, edges, place_w[k, 0], place_w[k, 1], work)
        below = work[HEIGHT] - place_w[k, 2]
        vx, vy, vz = velocity_below(grids, edges, decay, rest_x, rest_y, below, depth, work)
        out[k, 0], out[k, 1], out[k, 2] = vx, vy, vz


POINTS = 128
"""Along the edge of a tile, wherever nobody asks for another number: simulation and pictures have the same sea."""
_STEP_M = 0.05


class Ocean:
    """A sea that goes on for ever. The same description and number of points give the same water everywhere.

    Answers are those of the grids, read between their points in proportion.
    """

    def __init__(self, sea: Sea, *, points: int = POINTS) -> None:
        """points: along the edge of a tile. Raises InputError where that is no power of two, or out of range."""
        if not LEAST_POINTS <= points <= MOST_POINTS or points & (points - 1):
            raise InputError(
                f"ocean: points = {points!r} is refused; allowed: powers of two, {LEAST_POINTS} to {MOST_POINTS}"
            )
        self.sea, self.points = sea, points
        self.edges = np.array(TILES_M)
        self.waves = Waves.of(sea.seed, points, sea.depth_m)
        self.heights = np.empty(self.waves.drawn.shape, np.float32)
        """(n, 4) of the waves and their opposites, real and imaginary part of each [m]."""
        self.decay = np.empty(len(TILES_M))
        """(tiles,) by which each tile's motion fades with the depth [rad/m]."""
        self.twiddles = twiddles(points)
        self._work = np.empty((FIELDS // 2 + 1, 2, points, points), np.float32)
        self._grids = np.empty((len(TILES_M), points, points, FIELDS), np.float32)
        self._at_s = np.nan
        raise_waves(self.waves.number, self.waves.drawn, sea.numbers, self.heights)
        mean_wave_numbers(self.waves.start, self.waves.number, self.heights, self.decay)

    def grids(self, time_s: float) -> np.ndarray:
        """(tiles, points, points, FIELDS) float32 of a time, see `synthesis`; the next call may write to it."""
        if time_s != self._at_s:
            synthesise(
                self.waves.start,
                self.waves.place,
                self.waves.number,
                self.heights,
                self.sea.choppiness,
                time_s,
                self.twiddles,
                self._work,
                self._grids,
            )
            self._at_s = time_s
        return self._grids

    def height(self, x: ArrayLike, y: ArrayLike, time_s: float) -> np.ndarray:
        """Height of the surface [m] over world x, y of any one shape."""
        at_x, at_y = (np.array(a, float) for a in np.broadcast_arrays(x, y))
        out = np.empty(at_x.size)
        heights_at(self.grids(time_s), self.edges, at_x.ravel(), at_y.ravel(), out)
        return out.reshape(at_x.shape)

    def normal(self, x: ArrayLike, y: ArrayLike, time_s: float) -> np.ndarray:
        """(..., 3) upward unit normal of the surface over world x, y."""
        at_x, at_y = (np.array(a, float) for a in np.broadcast_arrays(x, y))
        slope_x, slope_y = (
            (self.height(at_x + dx, at_y + dy, time_s) - self.height(at_x - dx, at_y - dy, time_s))
            / (2 * _STEP_M)
            for dx, dy in ((_STEP_M, 0.0), (0.0, _STEP_M))
        )
        normal = np.stack([-slope_x, -slope_y, np.ones_like(slope_x)], axis=-1)
        return normal / np.linalg.norm(normal, axis=-1, keepdims=True)

    def velocity(self, place_w: ArrayLike, time_s: float) -> np.ndarray:
        """(..., 3) velocity of the water [m/s] at world places (..., 3); above the surface that of the surface."""
        places = np.array(place_w, float)
        out = np.empty((places.size // 3, 3))
        grids, depth_m = self.grids(time_s), self.sea.depth_m
        velocities_at(grids, self.edges, self.decay, depth_m, places.reshape(-1, 3), out)
        return out.reshape(places.shape)


def sea_arrays(sea: Sea, points: int) -> tuple[np.ndarray, ...]:
    """start, place, number and drawn of `Waves`, edges of the tiles [m], twiddles of the transform."""
    drawn = Waves.of(sea.seed, points, sea.depth_m)
    return drawn.start, drawn.place, drawn.number, drawn.drawn, np.array(TILES_M), twiddles(points)


CHANGE_S = 8.0
"""A change of the sea takes this time [s]."""


@native
def changing(before: np.ndarray, after: np.ndarray, since_s: float, time_s: float, out: np.ndarray) -> None:
    """The sea (4,) of a time: from the one before its last change to the one after, with no jump."""
    fraction = min(max((time_s - since_s) / CHANGE_S, 0.0), 1.0)
    fraction = fraction * fraction * (3.0 - 2.0 * fraction)
    for k in range(4):
        out[k] = (1.0 - fraction) * before[k] + fraction * after[k]


def other_sea(now: np.ndarray, target: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """The sea (4,) to go over to from now, with its direction the shorter way round; None where that is under way."""
    towards = wanted.copy()
    towards[1] = now[1] + math.remainder(wanted[1] - now[1], 2 * math.pi)
    return None if np.abs(towards - target).max() <= 1e-12 * np.abs(target).max() else towards


@dataclass(frozen=True, slots=True, eq=False)
class SeaState:
    """Arrays that are never written to again; time counts as the lane's does."""

    waves: tuple[np.ndarray, ...]
    """As `sea_arrays` has them."""
    before: np.ndarray
    after: np.ndarray
    """(4,) wind [m/s], direction [rad], fetch [m], choppiness: of the sea before its last change, and after."""
    since_s: float
    """When it was."""
    level_m: float
    """World z of the mean surface."""
    depth_m: float
    """Of the bed under it."""

    @classmethod
    def steady(cls, sea: Sea, level_m: float, points: int = POINTS) -> "SeaState":
        """A sea that stays as it is; points: along an edge of each of its tiles."""
        return cls(sea_arrays(sea, points), sea.numbers, sea.numbers, 0.0, level_m, sea.depth_m)

    def numbers(self, time_s: float) -> np.ndarray:
        """(4,) as `Sea.numbers` has them, at a time."""
        out = np.empty(4)
        changing(self.before, self.after, self.since_s, time_s, out)
        return out

    def over(self, sea: Sea) -> "SeaState":
        """The same over another depth; itself where the depth is this one."""
        if sea.depth_m == self.depth_m:
            return self
        return replace(self, waves=sea_arrays(sea, len(self.waves[5])), depth_m=sea.depth_m)

    def changed_to(self, wanted: np.ndarray, time_s: float) -> "SeaState":
        """From that time on it goes over to another sea (4,)."""
        now = self.numbers(time_s)
        towards = other_sea(now, self.after, wanted)
        return self if towards is None else replace(self, before=now, after=towards, since_s=time_s)
