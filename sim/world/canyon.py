"""The canyon, grown from its seed: landform, erosion by droplets, levelled pads, layers.

The landform is a function of the plane. Distance to the river is bent by noise and read through a profile: river bed,
bank, four tiers of cliff with benches between, rim, plateau with mesas far out. Each tier is bent by its own noise as
well, so that the edges of the cliffs do not run parallel and benches widen, narrow and vanish. It is defined
everywhere: the far field evaluates it kilometres outside the map.

Droplets then run downhill over it, take up rock where they are fast and steep and drop it where they slow. Soft strata
give way faster, which cuts flutes into the cliffs and gullies into the slopes.
"""

import numpy as np

from sim.groups.numeric import median
from sim.native.function import inline, native
from sim.world.path import Pad, River, level_ground
from sim.world.smoothing import smoothed
from sim.world.terrain import (
    Terrain,
    TerrainLayers,
    curvature,
    for_row_bands,
    fractal_noise,
    gradient_noise,
    ridge_noise,
    sky_visibility,
    smoothstep,
)

# distance from the centre line [m] -> height [m] of everything that is not cliff
_GROUND_D = np.array([0.0, 9.0, 13.0, 18.0, 27.0, 58.0, 70.0, 100.0, 122.0, 150.0, 176.0, 250.0, 520.0])
_GROUND_Z = np.array([-3.4, -2.1, -0.3, 1.5, 3.6, 19.0, 22.0, 33.0, 36.0, 46.0, 49.0, 60.0, 66.0])
# tiers: distance where the cliff starts, its width, its height, how far its own noise moves it [m]
_TIERS = np.array(
    [
        [59.0, 5.5, 48.0, 5.0],
        [99.0, 5.0, 23.0, 13.0],
        [121.0, 8.0, 27.0, 12.0],
        [152.0, 5.0, 12.0, 16.0],
    ]
)
_LAYER_M = 6.5
_SEED_STRIDE = 1000


@native
def river_distance(x: float, y: float, river: np.ndarray) -> float:
    """Signed distance to the centre line [m], first order in the bend; positive on the +y side."""
    centre = river[0] * np.sin(x / river[1] + river[2]) + river[3] * np.sin(x / river[4] + river[5])
    slope = river[0] / river[1] * np.cos(x / river[1] + river[2])
    slope += river[3] / river[4] * np.cos(x / river[4] + river[5])
    return (y - centre) / np.sqrt(1.0 + slope * slope)


@native
def _clearing(x: float, y: float, sites: np.ndarray) -> float:
    """How far the walls stand back around the building sites [m]."""
    back = 0.0
    for k in range(sites.shape[0]):
        r2 = ((x - sites[k, 0]) / 60.0) ** 2 + ((y - sites[k, 1]) / 60.0) ** 2
        back = max(back, 55.0 * np.exp(-r2 * r2))
    return back


@native
def _bent_distance(d: float, x: float, y: float, side: float, seed: int) -> float:
    """Distance with buttresses, alcoves and side gullies: larger means higher up the wall."""
    wx = x + 9.0 * fractal_noise(x / 45.0, y / 45.0, 3, seed + 11)
    wy = y + 9.0 * fractal_noise(x / 45.0 + 9.0, y / 45.0, 3, seed + 17)
    away = smoothstep(16.0, 58.0, d)
    bend = 34.0 * fractal_noise(wx / 125.0, wy / 125.0 + 7.0 * side, 2, seed + 3)
    bend += 17.0 * fractal_noise(wx / 40.0, wy / 40.0, 4, seed + 5)
    deep = ridge_noise(wx / 150.0 + 31.0 * side, wy / 105.0, 2.3, seed + 41)
    gully = 40.0 * deep * deep * deep
    small = ridge_noise(wx / 47.0, wy / 40.0 + 13.0 * side, 2.2, seed + 43)
    gully += 9.0 * small * small
    shore = 3.5 * gradient_noise(x / 34.0, y / 34.0, seed + 47) * smoothstep(4.0, 14.0, d)
    bent = d + (1.0 - away) * shore + away * (bend - gully * smoothstep(30.0, 70.0, d) + 4.0)
    return max(bent, 0.40 * d)


@native
def _level(d: float) -> float:
    """Height of all that is not cliff at bent distance d >= 0. (`np.interp` takes a second to compile.)"""
    k = 0
    while k < len(_GROUND_D) - 2 and d >= _GROUND_D[k + 1]:
        k += 1
    slope = (_GROUND_Z[k + 1] - _GROUND_Z[k]) / (_GROUND_D[k + 1] - _GROUND_D[k])
    return slope * (min(d, _GROUND_D[k + 1]) - _GROUND_D[k]) + _GROUND_Z[k]


@native
def _cliff(t: float) -> float:
    """Rise of a cliff over its width: a steep face that leans back near the top."""
    t = min(max(t, 0.0), 1.0)
    return t * (1.55 - 0.55 * t)


@native
def _tiers(d: float, x: float, y: float, side: float, seed: int) -> float:
    """Summed height of the cliffs at bent distance d."""
    height = 0.0
    for k in range(_TIERS.shape[0]):
        if d < _TIERS[k, 0] - 2.0 * _TIERS[k, 3]:
            continue
        own = fractal_noise(x / 64.0 + 17.0 * k, y / 64.0 + 5.0 * side, 3, seed + 61 + 7 * k)
        flutes = fractal_noise(x / 9.0 + 3.0 * k, y / 9.0, 2, seed + 63 + 7 * k)
        at = d - _TIERS[k, 0] + 2.0 * _TIERS[k, 3] * own + 2.2 * flutes
        height += _TIERS[k, 2] * _cliff(at / _TIERS[k, 1])
    return height


@native
def _ledges(z: float, x: float, y: float, seed: int) -> float:
    """Height pulled towards hard layers: treads and risers of the bedding, dipping gently."""
    phase = (z + 0.012 * x + 2.5 * gradient_noise(z / 13.0, x / 700.0, seed + 83)) / _LAYER_M
    phase += 0.35 * gradient_noise(x / 90.0, y / 90.0, seed + 85)
    part = phase - np.floor(phase)
    riser = smoothstep(0.55, 1.0, part)
    return z + _LAYER_M * 0.85 * (riser - part)


@native
def _mesas(d: float, x: float, y: float, seed: int) -> float:
    """Table mountains on the plateau, only well away from the canyon."""
    if d < 520.0:
        return 0.0
    field = fractal_noise(x / 1500.0, y / 1500.0, 4, seed + 91) * smoothstep(520.0, 1400.0, d)
    field += 0.03 * fractal_noise(x / 120.0, y / 120.0, 3, seed + 95)
    steps = 75.0 * smoothstep(0.115, 0.124, field) + 60.0 * smoothstep(0.19, 0.197, field)
    return steps + 60.0 * smoothstep(-0.05, 0.115, field) * smoothstep(520.0, 1400.0, d)


@native
def canyon_point(x: float, y: float, river: np.ndarray, sites: np.ndarray, seed: int) -> tuple[float, float]:
    """Height [m] and looseness 0..1 of the uneroded canyon at (x, y) [m]."""
    seed = seed * _SEED_STRIDE
    signed = river_distance(x, y, river)
    side = 1.0 if signed > 0.0 else -1.0
    d = abs(signed)
    away = smoothstep(16.0, 58.0, d)
    bent = _bent_distance(d, x, y, side, seed)
    back = _clearing(x, y, sites)
    if bent > 30.0:
        bent = max(bent - back, min(bent, 30.0))
    z = _level(bent) + _tiers(bent, x, y, side, seed)
    rough = fractal_noise(x / 22.0, y / 22.0, 4, seed + 23)
    if z > 9.0:
        z += smoothstep(9.0, 16.0, z) * smoothstep(190.0, 165.0, z) * (_ledges(z, x, y, seed) - z)
    z += rough * (0.8 + 2.2 * away) + _mesas(d, x, y, seed)
    loose = smoothstep(5.0, 2.0, z) * smoothstep(60.0, 30.0, bent)
    # scree cones lean on the lower cliff and on the bench above it
    for k in range(2):
        foot = _TIERS[k, 0]
        if d < 19.0 or bent > foot + 9.0:
            continue
        crest = (28.0 if k == 0 else 88.0) + 24.0 * fractal_noise(x / 52.0, y / 52.0, 3, seed + 77 + k)
        scree = crest - 0.67 * max(foot - bent, -7.0)
        if scree > z and (k == 0 or bent > _TIERS[0, 0] + 8.0):
            loose = max(loose, min(0.5 * (scree - z), 1.0))
            runnel = ridge_noise(x / 17.0, y / 17.0, 2.0, seed + 97)
            z = scree + 1.1 * fractal_noise(x / 7.0, y / 7.0, 3, seed + 93) - 1.8 * runnel * runnel
    return z, loose


@native
def canyon_rows(
    first: int,
    end: int,
    xs: np.ndarray,
    ys: np.ndarray,
    river: np.ndarray,
    sites: np.ndarray,
    seed: int,
    heights: np.ndarray,
    loose: np.ndarray,
) -> None:
    """Fill rows first..end of heights and loose, both (len(ys), len(xs))."""
    for j in range(first, end):
        for i in range(xs.shape[0]):
            heights[j, i], loose[j, i] = canyon_point(xs[i], ys[j], river, sites, seed)


_STEPS = 64
_INERTIA = 0.3
_CAPACITY = 3.0
_TAKE = 0.12
_DROP = 0.3
_GRAVITY = 0.2


@native
def _softness(z: float) -> float:
    """How readily rock at height z gives way, 0.35..1: the strata."""
    return 0.35 + 0.65 * (0.5 + 0.5 * np.sin(0.9 * z + 2.0 * np.sin(0.37 * z)))


_STRIP = 8
"""Columns of a strip of `_strips`, whose cells are a line of the processor's cache."""
_ROW = 2 * _STRIP
"""Numbers of a row of a strip: heights, then sediment."""


def _strips(heights: np.ndarray) -> np.ndarray:
    """(n, rows, 2, _STRIP): heights, and sediment of none, so that what lies about a cell is near it in memory."""
    rows, columns = heights.shape
    count = -(-columns // _STRIP)
    cells = np.zeros((count, rows, 2, _STRIP))
    padded = np.pad(heights, ((0, 0), (0, count * _STRIP - columns)))
    cells[:, :, 0] = padded.reshape(rows, count, _STRIP).transpose(1, 0, 2)
    return cells


@inline
def _cell(i: int, j: int, over: int) -> int:
    """Index in strips whose next one is `over` numbers on; the cell above is _ROW further."""
    return (i >> 3) * over + _ROW * j + (i & 7)


@inline
def _right(cell: int, over: int) -> int:
    return cell + 1 if (cell & 7) < 7 else cell + over - 7


@inline
def _left(cell: int, over: int) -> int:
    return cell - 1 if (cell & 7) > 0 else cell - over + 7


@inline
def _take(cells: np.ndarray, at: int, over: int, amount: float) -> None:
    """Remove `amount` of rock around a cell: a 3 x 3 brush, so that droplets carve grooves, not pits."""
    left, right = _left(at, over), _right(at, over)
    for row in range(-_ROW, _ROW + 1, _ROW):
        part = amount / (4.0 if row == 0 else 8.0)
        cells[left + row] -= 0.5 * part
        cells[at + row] -= part
        cells[right + row] -= 0.5 * part


@native
def _droplet(cells: np.ndarray, rows: int, columns: int, x: float, y: float, floor_m: float) -> None:
    over = _ROW * rows
    dx = dy = load = 0.0
    speed = water = 1.0
    for _ in range(_STEPS):
        i = int(x)
        j = int(y)
        u = x - i
        v = y - j
        at = _cell(i, j, over)
        right = _right(at, over)
        z00 = cells[at]
        z10 = cells[right]
        z01 = cells[at + _ROW]
        z11 = cells[right + _ROW]
        z = (z00 * (1.0 - u) + z10 * u) * (1.0 - v) + (z01 * (1.0 - u) + z11 * u) * v
        dx = _INERTIA * dx - (1.0 - _INERTIA) * ((z10 - z00) * (1.0 - v) + (z11 - z01) * v)
        dy = _INERTIA * dy - (1.0 - _INERTIA) * ((z01 - z00) * (1.0 - u) + (z11 - z10) * u)
        length = np.sqrt(dx * dx + dy * dy)
        if length < 1e-6:
            return
        dx /= length
        dy /= length
        x += dx
        y += dy
        if x < 2.0 or y < 2.0 or x > columns - 4.0 or y > rows - 4.0:
            return
        a = int(x)
        b = int(y)
        u2 = x - a
        v2 = y - b
        to = _cell(a, b, over)
        beside = _right(to, over)
        low = cells[to] * (1.0 - u2) + cells[beside] * u2
        high = cells[to + _ROW] * (1.0 - u2) + cells[beside + _ROW] * u2
        drop = z - (low * (1.0 - v2) + high * v2)
        if z - drop < floor_m:
            return
        capacity = max(min(drop, 4.0), 0.02) * speed * water * _CAPACITY
        if drop < 0.0 or load > capacity:
            moved = min(-drop, load) if drop < 0.0 else (load - capacity) * _DROP
            load -= moved
            cells[at] += moved * (1.0 - u) * (1.0 - v)
            cells[right] += moved * u * (1.0 - v)
            cells[at + _ROW] += moved * (1.0 - u) * v
            cells[right + _ROW] += moved * u * v
            cells[at + _STRIP] += moved
        else:
            moved = min((capacity - load) * _TAKE * _softness(z), 0.5 * drop)
            load += moved
            _take(cells, at, over, moved)
        speed = np.sqrt(min(max(speed * speed + drop * _GRAVITY, 0.05), 9.0))
        water *= 0.985


@native
def _droplets(cells: np.ndarray, rows: int, columns: int, starts: np.ndarray, floor_m: float) -> None:
    for k in range(starts.shape[0]):
        _droplet(cells, rows, columns, starts[k, 0], starts[k, 1], floor_m)


def erode(heights: np.ndarray, starts: np.ndarray, floor_m: float) -> tuple[np.ndarray, np.ndarray]:
    """(heights, sediment) after one droplet after another from `starts` (n, 2) (column, row); arrays float64.

    Droplets end in the river, at `floor_m`. One thread: the order of the droplets is part of the result.
    """
    rows, columns = heights.shape
    cells = _strips(heights)
    _droplets(cells.reshape(-1), rows, columns, starts, floor_m)
    whole = cells.transpose(2, 1, 0, 3).reshape(2, rows, -1)[:, :, :columns]
    return whole[0], whole[1]


ORIGIN_M = (-60.0, -432.0)
SHAPE = (865, 1681)
SPACING_M = 1.0
_DROPLETS = 420_000
_PAD_X_M = (("start", 70.0), ("landing", 1470.0))
_PAD_OFF_RIVER_M = 34.0
_PAD_HALF_M = 8.0
_NO_SITES = np.full((1, 2), 1e9)


def _natural_height(x: float, y: float, river: River, seed: int) -> float:
    """Height [m] before anything is built, by the machine code that fills whole rows."""
    heights, loose = np.empty((1, 1)), np.empty((1, 1))
    canyon_rows(0, 1, np.array([x]), np.array([y]), river.coefficients, _NO_SITES, seed, heights, loose)
    return float(heights[0, 0])


def _site(x_near: float, river: River, seed: int) -> tuple[float, float]:
    """(x, y) of the building site near x, on either bank, whose natural surroundings are lowest."""
    angle = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    options = []
    for x in x_near + np.arange(-40.0, 41.0, 20.0):
        for side in (1.0, -1.0):
            y = float(river.centre(x)) + side * _PAD_OFF_RIVER_M * float(np.hypot(1.0, river.slope(x)))
            ring = [
                _natural_height(x + r * np.cos(a), y + r * np.sin(a), river, seed)
                for a in angle
                for r in (22.0, 45.0)
            ]
            options.append((float(np.mean(ring)), float(x), y))
    return min(options)[1:]


def _rough_canyon(river: River, sites: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Heights and looseness (ny, nx) float64 before erosion."""
    ys = ORIGIN_M[1] + SPACING_M * np.arange(SHAPE[0])
    xs = ORIGIN_M[0] + SPACING_M * np.arange(SHAPE[1])
    heights, loose = np.empty(SHAPE), np.empty(SHAPE)
    for_row_bands(canyon_rows, SHAPE[0], xs, ys, river.coefficients, sites, seed, heights, loose)
    return heights, loose


def _eroded(heights: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Heights after erosion and what was deposited where [m]."""
    rng = np.random.default_rng([seed, 202])
    room = np.array([SHAPE[1] - 8, SHAPE[0] - 8], float)
    heights, sediment = erode(heights, 3.0 + rng.random((_DROPLETS, 2)) * room, 0.2)
    return 0.85 * heights + 0.15 * smoothed(heights, 1.0), smoothed(sediment, 1.0)


def _build_pads(heights: np.ndarray, loose: np.ndarray, sites: np.ndarray, river: River) -> tuple[Pad, ...]:
    """Level the ground at the sites, in place."""
    xs = ORIGIN_M[0] + SPACING_M * np.arange(SHAPE[1])
    ys = ORIGIN_M[1] + SPACING_M * np.arange(SHAPE[0])
    pads = []
    for (name, _), site in zip(_PAD_X_M, sites, strict=True):
        near = np.hypot(xs[None, :] - site[0], ys[:, None] - site[1]) < 16.0
        z = float(np.float32(np.clip(median(heights[near]), 2.2, 4.5)))
        weight = level_ground(heights, xs, ys, site, z)
        np.maximum(loose, weight, out=loose)
        heading = float(np.arctan(river.slope(site[0])))
        pads.append(Pad(name, np.array([site[0], site[1], z]), _PAD_HALF_M, heading))
    return tuple(pads)


def grow_canyon(seed: int) -> tuple[Terrain, TerrainLayers, River, tuple[Pad, ...]]:
    """Build the canyon of a seed: the same bytes on every run. Takes seconds; `load_world` caches it."""
    river = River.meandering(seed)
    sites = np.array([_site(x, river, seed) for _, x in _PAD_X_M])
    heights, loose = _rough_canyon(river, sites, seed)
    heights, sediment = _eroded(heights, seed)
    slope = np.hypot(*np.gradient(heights, SPACING_M))
    loose = np.clip(np.maximum(loose, 0.8 * sediment * (slope < 1.1)), 0.0, 1.0)
    pads = _build_pads(heights, loose, sites, river)
    heights = heights.astype(np.float32)
    layers = TerrainLayers(
        sky_visibility(heights, SPACING_M), loose.astype(np.float32), curvature(heights, SPACING_M)
    )
    return Terrain(heights, ORIGIN_M, SPACING_M), layers, river, pads
