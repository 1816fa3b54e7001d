"""The sea's fields as textures, and the grid on which it is drawn.

The waves are those of the simulation, worked out by the same functions at the time of the picture.

Rings lie at d = near / r^3 with r falling evenly, so that steps grow as d^(4/3). The vertex shader makes the places.
No water is drawn inside hulls, whose half breadths are laid out here by length and height."""

import math
from itertools import pairwise

import numpy as np

from render.frame import View
from sim.native.function import unordered
from sim.platform.values import dataclass
from sim.vehicle_config.config import HullMesh
from sim.water.ocean import SeaState
from sim.water.ocean.synthesis import EAST, HEIGHT, NORTH, synthesise
from sim.water.ocean.waves import raise_waves

FAR_M = 11_500.0
_LEAST_NEAR_M, _MOST_NEAR_M = 0.4, 400.0
_MARGIN_RAD = 0.12
"""By which the wedge is wider than the view: waves move the water aside."""
_CORNERS = np.array([(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)])


def ring_mesh(rings: int, columns: int, bands: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 2) float32: ring and column, 0..1, and indices (k,) uint32 of triangles, nearest rings first: of one
    band of columns after the other."""
    ring, column = np.meshgrid(
        np.linspace(0.0, 1.0, rings + 1), np.linspace(0.0, 1.0, columns + 1), indexing="ij"
    )
    vertices = np.stack([ring.ravel(), column.ravel()], axis=1).astype("f4")
    number = np.arange((rings + 1) * (columns + 1)).reshape(rings + 1, columns + 1)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    indices = np.stack([a, b, c, a, c, d], axis=-1).astype("u4")
    firsts = _first_columns(columns, bands)
    return vertices, np.concatenate([indices[:, i:j].ravel() for i, j in pairwise(firsts)])


def _first_columns(columns: int, bands: int) -> list[int]:
    """Of every band, and where the last one ends."""
    return np.linspace(0, columns, bands + 1).round().astype(int).tolist()


Spans = list[tuple[int, int]]
"""First index and number of indices."""


def spans_of(part: np.ndarray, rings: int, columns: int, bands: int) -> tuple[Spans, Spans]:
    """Of the indices of a `ring_mesh` those in a part of it, in whole rings and bands, and all others.

    part (2, 2): first and last ring and column, 0..1; nothing where the last is before the first.
    """
    within: Spans = []
    without: Spans = []
    start = 0
    (low, left), (high, right) = part
    first, end = math.floor(low * rings), max(math.ceil(high * rings), math.floor(low * rings))
    for i, j in pairwise(_first_columns(columns, bands)):
        ring = 6 * (j - i)
        of_part = (first, end) if left * columns < j and right * columns > i and left <= right else (0, 0)
        cuts = [0, *of_part, rings]
        for k, into in enumerate((without, within, without)):
            count = ring * (cuts[k + 1] - cuts[k])
            if not count:
                continue
            if into and sum(into[-1]) == start:
                into[-1] = into[-1][0], into[-1][1] + count
            else:
                into.append((start, count))
            start += count
    return within, without


@dataclass(frozen=True, slots=True)
class Wedge:
    """Where the rings begin and between which bearings they lie."""

    near_m: float
    bearing_rad: float
    """Of the first column, from world x towards y."""
    span_rad: float

    def part_about(self, off_m: np.ndarray, radius_m: float) -> np.ndarray:
        """(2, 2) first and last ring and column, 0..1, of a circle whose middle is so far (2,) off from the eye; the
        last before the first where it is aside of the wedge."""
        distance_m = float(np.hypot(*off_m))
        low, high = self._ring_at(distance_m - radius_m), self._ring_at(distance_m + radius_m)
        if distance_m <= radius_m:
            return np.array([[low, 0.0], [high, 1.0]])
        middle_rad = self.bearing_rad + 0.5 * self.span_rad
        aside_rad = math.remainder(math.atan2(off_m[1], off_m[0]) - middle_rad, 2.0 * math.pi)
        half = math.asin(radius_m / distance_m)
        if abs(aside_rad) + half > math.pi:  # it lies across from the middle, on both sides
            return np.array([[low, 0.0], [high, 1.0]])
        across = 0.5 + np.array([aside_rad - half, aside_rad + half]) / self.span_rad
        return np.array([[low, max(across[0], 0.0)], [high, min(across[1], 1.0)]])

    def _ring_at(self, distance_m: float) -> float:
        """0..1, as `ring` in `sea.glsl` has their distances."""
        last = (self.near_m / FAR_M) ** (1.0 / 3.0)
        root = (self.near_m / max(distance_m, self.near_m)) ** (1.0 / 3.0)
        return min((1.0 - root) / (1.0 - last), 1.0)


def wedge(view: View, level_m: float, deviation_m: float, columns: int) -> Wedge:
    """Of the sea at `level_m`, its height deviating so much, that a camera can see.

    A full circle where it sees what is under it.
    """
    far = (
        np.array([[*corner, 1.0, 1.0] for corner in _CORNERS]) @ np.linalg.inv(view.projection @ view.view).T
    )
    rays = far[:, :3] / far[:, 3:] - view.eye_w
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    height_m = max(abs(float(view.eye_w[2]) - level_m) - 3.0 * deviation_m, 1.0)
    steepest = float(np.abs(rays[:, 2]).max())
    near_m = float(
        np.clip(
            0.3 * height_m * np.sqrt(max(1.0 - steepest**2, 0.0)) / max(steepest, 1e-6),
            _LEAST_NEAR_M,
            _MOST_NEAR_M,
        )
    )
    middle = np.arctan2(*rays[len(rays) // 2, 1::-1])
    off = np.angle(np.exp(1j * (np.arctan2(rays[:, 1], rays[:, 0]) - middle)))
    half = float(np.abs(off).max()) + _MARGIN_RAD + np.arctan(2.5 * deviation_m / height_m)
    if half > 0.45 * np.pi or steepest > 0.9:
        return Wedge(_LEAST_NEAR_M, 0.0, 2.0 * np.pi)
    # Columns keep to fixed bearings, else the waves would swim as the camera turns.
    step = 2.0 * half / columns
    return Wedge(near_m, step * round(float(middle - half) / step), 2.0 * half)


STATIONS, WATERLINES = 64, 32


def half_breadths(hull: HullMesh) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """(WATERLINES, STATIONS) float32 [m] at the middles of cells, zero outside the hull, and where these lie in the
    body frame: least x, least z, length, height [m].
    """
    low, high = hull.vertices.min(axis=0), hull.vertices.max(axis=0)
    x = low[0] + (np.arange(STATIONS) + 0.5) / STATIONS * (high[0] - low[0])
    z = low[2] + (np.arange(WATERLINES) + 0.5) / WATERLINES * (high[2] - low[2])
    breadth = np.zeros((WATERLINES, STATIONS))
    _widen(np.ascontiguousarray(hull.vertices[hull.triangles], float), x, z, breadth)
    return breadth.astype(np.float32), (float(low[0]), float(low[2]), *(high - low)[[0, 2]].tolist())


@unordered
def _widen(faces: np.ndarray, x: np.ndarray, z: np.ndarray, breadth: np.ndarray) -> None:
    """Let a hull be as wide at places x and z (rows) as each of its faces (n, 3, 3) is there."""
    for face in range(faces.shape[0]):
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        twice = (b[0] - a[0]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[0] - a[0])
        if abs(twice) < 1e-12:
            continue
        for j in range(z.shape[0]):
            if z[j] < min(a[2], b[2], c[2]) or z[j] > max(a[2], b[2], c[2]):
                continue
            for i in range(x.shape[0]):
                v = ((x[i] - a[0]) * (c[2] - a[2]) - (z[j] - a[2]) * (c[0] - a[0])) / twice
                w = ((b[0] - a[0]) * (z[j] - a[2]) - (b[2] - a[2]) * (x[i] - a[0])) / twice
                if v >= 0.0 and w >= 0.0 and v + w <= 1.0:
                    reach = abs(a[1] + v * (b[1] - a[1]) + w * (c[1] - a[1]))
                    breadth[j, i] = max(breadth[j, i], reach)


EAST_M, NORTH_M, HEIGHT_M = range(3)
"""Of a shape: displacement along world x and y, height over the mean level [m]; the fourth number is not used."""
SLOPE_X, SLOPE_Y, STEEPNESS, STRETCH = range(4)
"""Of a slope: dz/dx, dz/dy, the sum of their squares, and how much the surface is drawn out (below zero: folded up)."""
_DRAWN_FIELDS = 4
_SEARCHES = 4
"""Steps towards where the particle rests that is at a place."""


@unordered
def _derive(grid: np.ndarray, texel_m: float, shape: np.ndarray, slope: np.ndarray) -> None:
    """Shape and slope (points, points, 4) of one tile (points, points, fields)."""
    points = grid.shape[0]
    scale = np.float32(0.5 / texel_m)
    for j in range(points):
        above, below = grid[(j + 1) % points], grid[j - 1]
        for i in range(points):
            i1 = (i + 1) % points
            shape[j, i, EAST_M] = grid[j, i, EAST]
            shape[j, i, NORTH_M] = grid[j, i, NORTH]
            shape[j, i, HEIGHT_M] = grid[j, i, HEIGHT]
            dx = scale * (grid[j, i1, HEIGHT] - grid[j, i - 1, HEIGHT])
            dy = scale * (above[i, HEIGHT] - below[i, HEIGHT])
            slope[j, i, SLOPE_X], slope[j, i, SLOPE_Y] = dx, dy
            slope[j, i, STEEPNESS] = dx * dx + dy * dy
            along = grid[j, i1, EAST] - grid[j, i - 1, EAST]
            slope[j, i, STRETCH] = scale * (along + above[i, NORTH] - below[i, NORTH])


@unordered
def _halve(fine: np.ndarray, coarse: np.ndarray) -> None:
    """Means of four, (n, n, 4) from (2 n, 2 n, 4)."""
    for j in range(coarse.shape[0]):
        for i in range(coarse.shape[1]):
            for k in range(4):
                coarse[j, i, k] = np.float32(0.25) * (
                    fine[2 * j, 2 * i, k]
                    + fine[2 * j, 2 * i + 1, k]
                    + fine[2 * j + 1, 2 * i, k]
                    + fine[2 * j + 1, 2 * i + 1, k]
                )


@unordered
def _sample(level: np.ndarray, edge_m: float, rest: np.ndarray, component: int, out: np.ndarray) -> None:
    """Add to `out` (n,) what the nearest texel of a tile (points, points, 4) has at places (n, 2)."""
    points = level.shape[0]
    for k in range(rest.shape[0]):
        x, y = math.floor(rest[k, 0] / edge_m * points), math.floor(rest[k, 1] / edge_m * points)
        out[k] += level[int(y) & (points - 1), int(x) & (points - 1), component]


@unordered
def _blend(texels: np.ndarray, edge_m: float, rest: np.ndarray, out: np.ndarray) -> None:
    """Add to `out` (n, 3) what a tile (points, points, 4) has between the texels about places (n, 2)."""
    points = texels.shape[0]
    for k in range(rest.shape[0]):
        x, y = rest[k, 0] / edge_m * points, rest[k, 1] / edge_m * points
        floor_x, floor_y = math.floor(x), math.floor(y)
        u, v = x - floor_x, y - floor_y
        i, j = int(floor_x) & (points - 1), int(floor_y) & (points - 1)
        i1, j1 = (i + 1) & (points - 1), (j + 1) & (points - 1)
        for c in range(3):
            near = (1.0 - u) * texels[j, i, c] + u * texels[j, i1, c]
            far = (1.0 - u) * texels[j1, i, c] + u * texels[j1, i1, c]
            out[k, c] += (1.0 - v) * near + v * far


class SeaFields:
    """Works out the textures of one sea at a time after the other."""

    def __init__(self, state: SeaState) -> None:
        edges, points = state.waves[4], len(state.waves[5])
        self.edges_m, self.points = edges, points
        sizes = [points >> level for level in range(int(math.log2(points)) + 1)]
        self.shapes = [[np.zeros((n, n, 4), np.float32) for n in sizes] for _ in edges]
        """Of each tile its levels, finest first."""
        self.slopes = [[np.zeros((n, n, 4), np.float32) for n in sizes] for _ in edges]
        self._heights = np.zeros(state.waves[3].shape, np.float32)
        self._raised: tuple[object, bytes] | None = None
        self._known: tuple[object, bytes, float] | None = None
        self._work = np.zeros((_DRAWN_FIELDS // 2 + 1, 2, points, points), np.float32)
        self._grids = np.zeros((len(edges), points, points, _DRAWN_FIELDS), np.float32)

    def fits(self, state: SeaState) -> bool:
        """Whether a sea has as many points and waves."""
        return len(state.waves[5]) == self.points and state.waves[3].shape == self._heights.shape

    def work_out(self, state: SeaState, time_s: float) -> bool:
        """Take up a sea at a time; whether anything has changed since."""
        start, place, number, drawn, _, twiddles = state.waves
        sea = state.numbers(time_s)
        raised = (drawn, sea.tobytes())
        if self._known is not None and self._known[0] is drawn and self._known[1:] == (raised[1], time_s):
            return False
        if self._raised is None or self._raised[0] is not drawn or self._raised[1] != raised[1]:
            raise_waves(number, drawn, sea, self._heights)
            self._raised = raised
        self._known = (*raised, time_s)
        synthesise(start, place, number, self._heights, sea[3], time_s, twiddles, self._work, self._grids)
        for tile, edge_m in enumerate(self.edges_m):
            shapes, slopes = self.shapes[tile], self.slopes[tile]
            _derive(self._grids[tile], edge_m / self.points, shapes[0], slopes[0])
            for levels in (shapes, slopes):
                for fine, coarse in pairwise(levels):
                    _halve(fine, coarse)
        return True

    def heights_m(self, places: np.ndarray, searches: int = _SEARCHES) -> np.ndarray:
        """(n,) heights of the surface over the mean level at world places (n, 2), found in so many steps."""
        at = np.ascontiguousarray(places, float)
        rest, shape = at, np.zeros((len(at), 3))
        for _ in range(searches):
            shape[:] = 0.0
            for levels, edge_m in zip(self.shapes, self.edges_m, strict=True):
                _blend(levels[0], edge_m, rest, shape)
            rest = at - shape[:, :2]
        return shape[:, HEIGHT_M]

    def displaced_m(self, rest: np.ndarray) -> np.ndarray:
        """(n, 3) by which water at rest at places (n, 2) is displaced, to the nearest texel."""
        places = [
            self._texels(levels[0], edge_m, rest)[:, :3]
            for levels, edge_m in zip(self.shapes, self.edges_m, strict=True)
        ]
        return np.sum(places, axis=0, dtype=float)

    def stretch(self, rest: np.ndarray, width_m: float) -> tuple[np.ndarray, float]:
        """(n,) how much the surface is drawn out at places (n, 2), over about a width, and its standard deviation."""
        read = self.slopes_over(width_m)
        stretch = np.zeros(len(rest))
        for level, edge_m in zip(read, self.edges_m, strict=True):
            _sample(level, edge_m, rest, STRETCH, stretch)
        return stretch, stretch_deviation(read)

    def slopes_over(self, width_m: float) -> list[np.ndarray]:
        """Of each tile the slopes at the level whose texels are at least so wide."""
        texels = self.edges_m / self.points
        return [
            levels[max(math.ceil(math.log2(width_m / texel)), 0)]
            for levels, texel in zip(self.slopes, texels, strict=True)
        ]

    @staticmethod
    def _texels(level: np.ndarray, edge_m: float, rest: np.ndarray) -> np.ndarray:
        i, j = (np.floor(rest / edge_m * len(level)).astype(int) % len(level)).T
        return level[j, i]

    @property
    def steepness(self) -> float:
        """Mean square slope of the waves that the tiles have."""
        return float(sum(levels[-1][0, 0, STEEPNESS] for levels in self.slopes))

    @property
    def deviation_m(self) -> float:
        """Standard deviation of the height."""
        return math.sqrt(0.5 * float((self._heights**2).sum()))


def stretch_deviation(levels: list[np.ndarray]) -> float:
    """Standard deviation of the stretch that one level of each tile (n, n, 4) has together."""
    return math.sqrt(sum(float(level[..., STRETCH].var()) for level in levels))
