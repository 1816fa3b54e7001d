"""What the levels of a desert or a workshop lie in: dunes, scrub and mesas at the horizon; or a hall, a floor of
concrete under roof lights, with windows, a crane and what stands along its walls.

What may be run into are blocks of the hall's grounds; frames, rails and trusses out of reach are only looked at."""

from collections.abc import Iterator

import numpy as np

from sim.native.function import native
from sim.world.props import Block, Grounds, Mark, Opening, Room
from sim.world.terrain import (
    Terrain,
    TerrainLayers,
    curvature,
    for_row_bands,
    fractal_noise,
    ridge_noise,
    sky_visibility,
    smoothstep,
)

HALF_EXTENT_M = (360.0, 243.0)
SPACING_M = 1.0
_SEED_STRIDE = 1000


@native
def _mesa(x: float, y: float, away: float, seed: int) -> float:
    """Table mountains in two tiers with slopes of scree below their walls."""
    field = fractal_noise(x / 560.0, y / 560.0, 4, seed + 91) + 0.03 * fractal_noise(
        x / 45.0, y / 45.0, 3, seed + 95
    )
    field = field * smoothstep(60.0, 260.0, away) + 0.03 * smoothstep(300.0, 1500.0, away)
    tall = 1.0 + 0.8 * smoothstep(500.0, 2500.0, away)
    steps = 30.0 * smoothstep(0.13, 0.138, field) + 26.0 * smoothstep(0.22, 0.227, field)
    return tall * (steps + 34.0 * smoothstep(0.02, 0.13, field))


@native
def desert_point(x: float, y: float, half_x: float, half_y: float, seed: int) -> tuple[float, float]:
    """Height [m] and looseness 0..1 at (x, y): exactly level within the half extents."""
    seed = seed * _SEED_STRIDE
    out_x, out_y = max(abs(x) - half_x, 0.0), max(abs(y) - half_y, 0.0)
    away = np.sqrt(out_x * out_x + out_y * out_y)
    if away <= 0.0:
        return 0.0, 0.9
    swell = 3.2 * fractal_noise(x / 85.0, y / 85.0, 3, seed + 7) + 0.5 * fractal_noise(
        x / 14.0, y / 14.0, 3, seed + 9
    )
    wash = 1.2 * ridge_noise(x / 70.0, y / 60.0, 3.0, seed + 13)
    mesa = _mesa(x, y, away, seed)
    z = smoothstep(0.0, 50.0, away) * (swell - wash + 0.9) + mesa
    loose = 0.85 * smoothstep(16.0, 4.0, mesa) + 0.1
    return z, loose


@native
def desert_rows(
    first: int,
    end: int,
    xs: np.ndarray,
    ys: np.ndarray,
    half: np.ndarray,
    seed: int,
    heights: np.ndarray,
    loose: np.ndarray,
) -> None:
    """Fill rows first..end of heights and loose, both (len(ys), len(xs))."""
    for j in range(first, end):
        for i in range(xs.shape[0]):
            heights[j, i], loose[j, i] = desert_point(xs[i], ys[j], half[0], half[1], seed)


def desert_field(
    level_half_m: tuple[float, float], x: np.ndarray, y: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Heights and looseness, each (len(y), len(x)), anywhere around a level part of these half extents."""
    heights, loose = np.empty((len(y), len(x))), np.empty((len(y), len(x)))
    for_row_bands(desert_rows, len(y), x, y, np.array(level_half_m), seed, heights, loose)
    return heights, loose


def grow_desert(grounds: Grounds, seed: int) -> tuple[Terrain, TerrainLayers]:
    """The map of a seed around a level ground: the same bytes on every run."""
    x, y = (np.arange(-half, half + 0.5 * SPACING_M, SPACING_M, dtype=float) for half in HALF_EXTENT_M)
    rough, loose = desert_field(grounds.half_m, x, y, seed)
    heights = rough.astype(np.float32)
    if grounds.lake is not None:
        heights = grounds.lake.dug(heights, x, y, seed * _SEED_STRIDE)
    layers = TerrainLayers(
        sky_visibility(heights, SPACING_M), loose.astype(np.float32), curvature(heights, SPACING_M)
    )
    return Terrain(heights, (float(x[0]), float(y[0])), SPACING_M), layers


HALF_M = (24.0, 15.0)
HEIGHT_M = 9.0
_WALL_M = 0.4
_BAY_M = 6.0
"""Between the columns."""
_COLUMNS_X = np.arange(-21.0, 21.1, _BAY_M)
_RAIL_M = 6.2
_BRIDGE_X = -12.5
_OPEN_HALF_M = (17.0, 9.0)
"""Nothing stands within this distance of the middle."""
_SMALL_M3 = 0.02
"""What is smaller is no obstacle."""


def _openings() -> tuple[Opening, ...]:
    """Two bands of roof lights, and windows between the columns of the long walls."""
    roof = [
        Opening("roof", (x0 + 0.3, x0 + _BAY_M - 0.3), (y - 2.2, y + 2.2))
        for x0 in _COLUMNS_X[:-1]
        for y in (-7.0, 7.0)
    ]
    sides = [
        Opening(wall, (x0 + 0.9, x0 + _BAY_M - 0.9), (2.3, 5.6))
        for x0 in _COLUMNS_X[:-1]
        for wall in ("south", "north")
    ]
    ends = [
        Opening(wall, (y - 2.0, y + 2.0), (2.8, 6.4)) for wall in ("west", "east") for y in (-9.0, 0.0, 9.0)
    ]
    return (*roof, *sides, *ends)


def _walls() -> tuple[Block, ...]:
    (x, y), thick = HALF_M, 0.5 * _WALL_M
    ways = [((0.0, side * (y + thick)), (x + _WALL_M, thick)) for side in (-1.0, 1.0)]
    ways += [((side * (x + thick), 0.0), (thick, y + _WALL_M)) for side in (-1.0, 1.0)]
    return tuple(Block(centre, half, HEIGHT_M, 0.0, "wall") for centre, half in ways)


def _beam(
    x: float, y: float, half_m: tuple[float, float], low_m: float, high_m: float, material: str
) -> Block:
    return Block((x, y), half_m, high_m, 0.0, material, low_m)


def _columns() -> Iterator[Block]:
    """Of rolled steel: two flanges and a web."""
    for x in _COLUMNS_X:
        for side in (-1.0, 1.0):
            y = side * (HALF_M[1] - 0.22)
            for flange in (-0.17, 0.17):
                yield _beam(x, y + flange, (0.16, 0.014), 0.0, HEIGHT_M - 0.7, "machine")
            yield _beam(x, y, (0.012, 0.16), 0.0, HEIGHT_M - 0.7, "machine")


def _crane() -> Iterator[Block]:
    """Rails on brackets along the long walls; a bridge of two girders, its trolley, and the hook."""
    for side in (-1.0, 1.0):
        y = side * (HALF_M[1] - 0.62)
        yield _beam(0.0, y, (HALF_M[0] - 0.2, 0.10), _RAIL_M - 0.42, _RAIL_M, "machine")
        yield _beam(0.0, y, (HALF_M[0] - 0.2, 0.035), _RAIL_M, _RAIL_M + 0.06, "steel")
        for x in _COLUMNS_X:
            yield _beam(x, side * (HALF_M[1] - 0.55), (0.09, 0.2), _RAIL_M - 0.65, _RAIL_M - 0.42, "machine")
        yield _beam(_BRIDGE_X, y, (1.7, 0.14), _RAIL_M + 0.08, _RAIL_M + 0.42, "crane")
    span = HALF_M[1] - 0.62
    for off in (-0.75, 0.75):
        yield _beam(_BRIDGE_X + off, 0.0, (0.17, span), _RAIL_M + 0.3, _RAIL_M + 1.0, "crane")
    x, y = _BRIDGE_X, 3.5
    yield _beam(x, y, (1.0, 0.6), _RAIL_M + 1.02, _RAIL_M + 1.2, "machine")
    yield _beam(x - 0.2, y, (0.42, 0.36), _RAIL_M + 1.2, _RAIL_M + 1.62, "crane")
    for rope in (-0.07, 0.07):
        yield _beam(x + rope, y, (0.008, 0.008), 4.3, _RAIL_M + 1.1, "iron")
    yield _beam(x, y, (0.16, 0.09), 3.9, 4.3, "crane")
    yield _beam(x, y, (0.03, 0.03), 3.72, 3.9, "steel")
    yield _beam(x + 0.07, y, (0.10, 0.03), 3.64, 3.72, "steel")


def _roof() -> Iterator[Block]:
    """Trusses over the columns, purlins along, glazing bars in the roof lights."""
    for x in _COLUMNS_X:
        yield _beam(x, 0.0, (0.09, HALF_M[1]), HEIGHT_M - 1.25, HEIGHT_M - 1.1, "roof")
        yield _beam(x, 0.0, (0.09, HALF_M[1]), HEIGHT_M - 0.18, HEIGHT_M - 0.02, "roof")
        for y in np.arange(-13.5, 13.6, 2.25):
            yield _beam(x, y, (0.045, 0.045), HEIGHT_M - 1.1, HEIGHT_M - 0.18, "roof")
    for y in (-12.0, -9.3, -4.7, 0.0, 4.7, 9.3, 12.0):
        yield _beam(0.0, y, (HALF_M[0], 0.06), HEIGHT_M - 0.2, HEIGHT_M - 0.02, "roof")
    for x0 in _COLUMNS_X[:-1]:
        for x in x0 + np.arange(1.2, _BAY_M - 0.5, 1.2):
            for y in (-7.0, 7.0):
                yield _beam(x, y, (0.03, 2.2), HEIGHT_M - 0.08, HEIGHT_M - 0.01, "roof")
    for x in _COLUMNS_X[:-1] + 0.5 * _BAY_M:
        for y in (-10.6, 10.6, 0.0):
            yield _beam(x, y, (0.85, 0.10), HEIGHT_M - 1.5, HEIGHT_M - 1.42, "roof")


def _bars() -> Iterator[Block]:
    """Of the windows in the long walls, which cast shadows."""
    for opening in _openings():
        if opening.wall not in ("south", "north"):
            continue
        y = (-1.0 if opening.wall == "south" else 1.0) * (HALF_M[1] + 0.03)
        (x0, x1), (low, high) = opening.along_m, opening.up_m
        for x in np.linspace(x0, x1, 6)[1:-1]:
            yield _beam(x, y, (0.022, 0.03), low, high, "iron")
        for z in np.linspace(low, high, 5)[1:-1]:
            yield _beam(0.5 * (x0 + x1), y, (0.5 * (x1 - x0), 0.025), z - 0.022, z + 0.022, "iron")


def _sills() -> Iterator[Block]:
    for opening in _openings():
        if opening.wall in ("south", "north"):
            side = -1.0 if opening.wall == "south" else 1.0
            (x0, x1), (low, _) = opening.along_m, opening.up_m
            half = (0.5 * (x1 - x0) + 0.1, 0.11)
            yield _beam(0.5 * (x0 + x1), side * (HALF_M[1] - 0.05), half, low - 0.09, low, "concrete")


def _bench(x: float, y: float, out: float) -> Iterator[Block]:
    """A fitter's bench with its back to a long wall; `out` points into the hall, -1 or 1."""
    half = (1.3, 0.4)
    yield _beam(x, y, half, 0.82, 0.90, "wood")
    for dx in (-1.2, 1.2):
        for dy in (-0.32, 0.32):
            yield _beam(x + dx, y + dy, (0.035, 0.035), 0.0, 0.82, "iron")
        yield _beam(x + dx, y, (0.03, 0.32), 0.16, 0.22, "iron")
    yield _beam(x, y, (1.2, 0.3), 0.20, 0.23, "wood")
    yield _beam(x + 0.72, y, (0.34, 0.36), 0.28, 0.80, "machine")
    for z in (0.42, 0.56, 0.70):
        yield _beam(x + 0.72, y + out * 0.37, (0.12, 0.012), z, z + 0.02, "steel")
    yield _beam(x - 0.85, y + out * 0.24, (0.09, 0.11), 0.90, 1.0, "iron")  # a vice
    yield _beam(x - 0.85, y + out * 0.30, (0.10, 0.05), 1.0, 1.10, "iron")
    yield _beam(x - 0.85, y + out * 0.47, (0.10, 0.035), 0.97, 1.10, "iron")
    yield _beam(x - 0.85, y + out * 0.62, (0.012, 0.13), 0.985, 1.01, "steel")
    for k, (dx, size) in enumerate(((-0.25, 0.10), (0.02, 0.07), (0.28, 0.12))):
        yield _beam(
            x + dx, y - out * 0.12, (size, 0.09), 0.90, 0.96 + 0.06 * k, ("crane", "steel", "machine")[k]
        )


def _tool_board(x: float, y: float, out: float) -> Iterator[Block]:
    """Above a bench, on the wall."""
    yield _beam(x, y, (1.25, 0.018), 1.12, 2.06, "wood")
    rng = np.random.default_rng(round(abs(10.0 * x + y)))
    for at in np.arange(-1.1, 1.11, 0.2):
        long = rng.uniform(0.18, 0.42)
        half = rng.uniform(0.014, 0.03)
        yield _beam(x + at, y + out * 0.03, (half, 0.012), 1.94 - long, 1.94, rng.choice(["steel", "iron"]))
        yield _beam(
            x + at, y + out * 0.03, (half + 0.02, 0.014), 1.86, 1.95, rng.choice(["iron", "crane", "wood"])
        )


def _cabinet(x: float, y: float, half_m: tuple[float, float]) -> Iterator[Block]:
    yield _beam(x, y, half_m, 0.06, 1.9, "machine")
    yield _beam(x, y, (half_m[0] - 0.03, half_m[1] - 0.03), 0.0, 0.06, "iron")


def _lathe(x: float, y: float, out: float) -> Iterator[Block]:
    """Bed on two feet, headstock with its chuck, saddle and tailstock."""
    for dx, half in ((-1.05, 0.42), (1.05, 0.26)):
        yield _beam(x + dx, y, (half, 0.32), 0.0, 0.72, "machine")
    yield _beam(x, y, (1.5, 0.26), 0.72, 0.84, "machine")
    for dy in (-0.17, 0.17):
        yield _beam(x + 0.25, y + dy, (1.2, 0.035), 0.84, 0.92, "steel")
    yield _beam(x - 1.08, y, (0.40, 0.34), 0.84, 1.36, "machine")
    yield _beam(x - 0.60, y, (0.08, 0.15), 0.98, 1.28, "steel")
    yield _beam(x - 0.50, y, (0.035, 0.09), 1.04, 1.22, "steel")
    yield _beam(x + 0.1, y + out * 0.04, (0.24, 0.32), 0.92, 1.02, "machine")
    yield _beam(x + 0.1, y + out * 0.30, (0.16, 0.05), 0.66, 0.94, "machine")
    yield _beam(x + 0.1, y + out * 0.02, (0.06, 0.06), 1.02, 1.16, "steel")
    yield _beam(x + 1.15, y, (0.20, 0.16), 0.92, 1.22, "machine")
    yield _beam(x + 0.86, y, (0.10, 0.03), 1.10, 1.16, "steel")
    yield _beam(x, y - out * 0.42, (1.5, 0.03), 0.5, 1.5, "machine")


def _drill(x: float, y: float, out: float) -> Iterator[Block]:
    """On a pillar, with its table."""
    yield _beam(x, y, (0.30, 0.38), 0.0, 0.10, "iron")
    yield _beam(x, y - out * 0.16, (0.07, 0.07), 0.10, 1.80, "steel")
    yield _beam(x, y + out * 0.10, (0.24, 0.24), 0.92, 0.98, "iron")
    yield _beam(x, y + out * 0.04, (0.17, 0.36), 1.52, 1.86, "machine")
    yield _beam(x, y + out * 0.24, (0.05, 0.05), 1.26, 1.52, "steel")
    yield _beam(x, y - out * 0.26, (0.12, 0.10), 1.58, 1.98, "iron")


def _rack(x: float, y: float, half_m: tuple[float, float]) -> Iterator[Block]:
    """Shelves with boxes and bars."""
    for dx in (-half_m[0], half_m[0]):
        for dy in (-half_m[1], half_m[1]):
            yield _beam(x + dx, y + dy, (0.04, 0.04), 0.0, 2.6, "crane")
    rng = np.random.default_rng(round(abs(7.0 * x - 3.0 * y)))
    for z in (0.25, 1.0, 1.75, 2.5):
        yield _beam(x, y, half_m, z, z + 0.05, "iron")
        for along in np.arange(-1.0, 1.01, 0.4) if z < 2.5 else ():
            tall = rng.uniform(0.12, 0.5)
            size = (0.15, 0.15) if half_m[0] < half_m[1] else (0.15, 0.2)
            dx, dy = (
                (0.0, along * (half_m[1] - 0.2))
                if half_m[0] < half_m[1]
                else (along * (half_m[0] - 0.2), 0.0)
            )
            kind = rng.choice(["wood", "machine", "steel", "wood", "iron"])
            yield _beam(x + dx, y + dy, size, z + 0.05, z + 0.05 + tall, kind)


def _pallets(x: float, y: float) -> Iterator[Block]:
    for dy in (-0.45, 0.0, 0.45):
        yield _beam(x, y + dy, (0.6, 0.06), 0.0, 0.10, "wood")
    yield _beam(x, y, (0.6, 0.5), 0.10, 0.14, "wood")
    yield _beam(x - 0.1, y, (0.42, 0.40), 0.14, 0.86, "wood")
    yield _beam(x + 0.05, y - 0.05, (0.30, 0.28), 0.86, 1.34, "wood")


def _furniture() -> Iterator[Block]:
    north, south = HALF_M[1] - 0.62, -HALF_M[1] + 0.62
    for x in (-12.0, -6.0, 6.0):
        yield from _bench(x, north - 0.1, -1.0)
        yield from _tool_board(x, HALF_M[1] - 0.06, -1.0)
    yield from _lathe(0.0, north - 0.6, -1.0)
    yield from _drill(11.6, north - 0.5, -1.0)
    for x in (9.2, 16.3, 17.3):
        yield from _cabinet(x, north + 0.2, (0.46, 0.32))
    yield from _bench(-8.0, south + 0.1, 1.0)
    yield from _lathe(1.5, south + 0.6, 1.0)
    yield from _lathe(-2.6, south + 0.6, 1.0)
    yield from _drill(6.4, south + 0.5, 1.0)
    for x in (10.0, 11.0, 12.0, -13.0):
        yield from _cabinet(x, south - 0.2, (0.46, 0.32))
    for y in (-6.5, -3.2, 6.5):
        yield from _rack(-HALF_M[0] + 0.75, y, (0.45, 1.35))
    yield from _rack(HALF_M[0] - 0.75, -7.0, (0.45, 1.35))
    for x, y in ((21.5, 11.8), (19.6, 12.6), (-20.8, -12.4), (-21.6, 11.4), (20.9, -12.2)):
        yield from _pallets(x, y)


def _marks() -> tuple[Mark, ...]:
    """Lanes to walk in, along the machines."""
    x, y = _OPEN_HALF_M[0] + 1.6, _OPEN_HALF_M[1] + 0.9
    round_way = np.array([(-x, -y), (x, -y), (x, y), (-x, y), (-x, -y)])
    return tuple(Mark(round_way[k : k + 2], 0.10, "yellow") for k in range(4))


def _volume_m3(block: Block) -> float:
    return 4.0 * block.half_m[0] * block.half_m[1] * (block.height_m - block.base_m)


def hall_grounds() -> Grounds:
    """The hall; its middle is free."""
    furniture = tuple(_furniture())
    massive = tuple(block for block in furniture if _volume_m3(block) > _SMALL_M3)
    small = (block for block in furniture if _volume_m3(block) <= _SMALL_M3)
    fittings = (*_crane(), *_roof(), *_bars(), *_sills(), *small)
    return Grounds(
        half_m=HALF_M,
        lap=np.zeros((0, 2)),
        lap_half_width_m=0.0,
        marks=_marks(),
        blocks=(*_walls(), *_columns(), *massive),
        room=Room(HALF_M, HEIGHT_M, _openings(), fittings),
    )
