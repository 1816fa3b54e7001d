"""Shrubs, tufts of grass, reeds and boulders: their meshes, and where they stand, sorted into cells that can be culled.

Instances (k, 8) float32: position 3, scale 1, tint 3 (linear albedo), yaw 1 [rad]; a mesh point p goes to
position + scale * Rz(yaw) p. Within a cell they are in order of importance, so the first part of a cell is a fair
thinning of it.

Shrub vertices (n, 8) float32: position 3, normal 3, uv 2 into the leaf atlas. A shrub is about 1 m
in radius with its base at z = 0; normals blend lobe, crown and chance, so that it shades as a bush, not as a ball.
Boulder vertices (n, 6) float32: position 3, normal 3, about 1 m in radius around the origin; normals are those of the
faces, softened, so that edges catch the light and nothing looks like an egg.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

import sim.world.boulders
from render.land.mesh import Mesh, quad_indices
from sim.groups.numeric import upright
from sim.platform.cache import cached_arrays, source_digest
from sim.platform.values import dataclass
from sim.world import World
from sim.world.boulders import (
    SEED,
    VARIANTS,
    boulder_instances,
    boulder_shape,
    kept_free,
    sites,
    sites_at,
    stopping,
)
from sim.world.props import Grounds

if TYPE_CHECKING:
    from PIL import ImageDraw

_ATLAS_TILES = 2
_OVERSAMPLING = 4
_STEMS = 10


def _twig(draw: "ImageDraw.ImageDraw", size: float, rng: np.random.Generator) -> None:
    """One tile: stems that fan out from the lower middle, with leaves along them."""
    for stem in range(_STEMS):
        angle = 1.9 * ((stem + rng.uniform(0.2, 0.8)) / _STEMS - 0.5)
        length = size * rng.uniform(0.6, 0.92) / (1.0 + 0.45 * abs(angle))
        bend = rng.normal(0.0, 0.35)
        for k in range(34):
            t = (k + 1) / 34
            lean = angle + bend * t
            x = 0.5 * size + length * t * np.sin(lean)
            y = 0.96 * size - length * t * np.cos(lean)
            turn = lean + (1.0 if k % 2 else -1.0) * rng.uniform(0.6, 1.2)
            _leaf(draw, x, y, turn, size * rng.uniform(0.04, 0.07) * (1.15 - 0.4 * t), rng)


def _leaf(
    draw: "ImageDraw.ImageDraw", x: float, y: float, turn: float, length: float, rng: np.random.Generator
) -> None:
    """A pointed oval, lighter or darker by chance."""
    along = np.array([np.sin(turn), -np.cos(turn)])
    across = np.array([along[1], -along[0]])
    t = np.linspace(0.0, 1.0, 9)
    width = 0.42 * np.sin(np.pi * t**0.8)
    spine, half = np.outer(2.0 * t, along), np.outer(width, across)
    edge = np.concatenate([spine + half, (spine - half)[::-1]])
    shade = rng.uniform(0.62, 1.3)
    red, green, blue = (int(min(255.0, c * shade)) for c in (122, 134, 104))
    draw.polygon([(x + length * a, y + length * b) for a, b in edge], fill=(red, green, blue, 255))


def leaf_atlas(size: int = 256) -> np.ndarray:
    """(size, size, 4) uint8, straight alpha, 2 x 2 twigs; row 0 is the top of the picture (v = 1).

    RGB is a grey-green multiplier of mean about one half; it is filled in under the transparent part
    too, so that filtering draws no dark rim.
    """
    name = f"leaves-{size}-{_DIGEST}"
    return cached_arrays("meshes", name, lambda: {"leaves": _draw_atlas(size)})["leaves"]


def _draw_atlas(size: int) -> np.ndarray:
    rng = np.random.default_rng([SEED, 505])
    big = size * _OVERSAMPLING
    tile = big // _ATLAS_TILES
    from PIL import Image, ImageDraw  # takes a while, and the picture is kept

    image = Image.new("RGBA", (big, big), (0, 0, 0, 0))
    for row in range(_ATLAS_TILES):
        for column in range(_ATLAS_TILES):
            part = Image.new("RGBA", (tile, tile), (0, 0, 0, 0))
            _twig(ImageDraw.Draw(part), tile, rng)
            image.paste(part, (column * tile, row * tile))
    pixels = np.asarray(image, np.float64).reshape(size, _OVERSAMPLING, size, _OVERSAMPLING, 4)
    alpha = pixels[..., 3:].mean(axis=(1, 3)) / 255.0
    colour = (pixels[..., :3] * (pixels[..., 3:] > 0)).mean(axis=(1, 3))
    colour = np.where(alpha > 0.02, colour / np.maximum(alpha, 0.02), (122.0, 134.0, 104.0))
    return np.concatenate([np.clip(colour, 0, 255), 255.0 * alpha], axis=-1).astype(np.uint8)


INSTANCE_FLOATS = 8
_CELL_M = 64.0


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A run of instances and the box around their positions, padded by their sizes."""

    first: int
    count: int
    low: np.ndarray
    """(3,) m."""
    high: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Instances sorted by cell."""

    instances: np.ndarray
    cells: tuple[Cell, ...]
    obstacles: np.ndarray
    """(k,) bool: what can be run into."""


def _cell_of(instances: np.ndarray) -> np.ndarray:
    """(k, 2) integer cell of each instance."""
    return np.floor(instances[:, :2] / _CELL_M).astype(int)


def by_cell(instances: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """Instances (k, 8) float32 sorted into square cells, the most important of each cell first."""
    instances = instances.astype(np.float32)
    column, row = _cell_of(instances).T
    return np.ascontiguousarray(instances[np.lexsort((-importance, row, column))])


def scatter_of(instances: np.ndarray, obstacles: np.ndarray | None = None) -> Scatter:
    """The cells of instances that `by_cell` has sorted; `obstacles`: (k,) bool, none of them where it is left out."""
    key = _cell_of(instances)
    if obstacles is None:
        obstacles = np.zeros(len(instances), dtype=bool)
    if not len(key):
        return Scatter(instances, (), obstacles)
    starts = np.flatnonzero(np.r_[True, np.any(np.diff(key, axis=0) != 0, axis=1)])
    counts = np.diff(starts, append=len(key))
    reach = (1.6 * np.maximum.reduceat(instances[:, 3], starts).astype(float)).astype(instances.dtype)[
        :, None
    ]
    low = np.minimum.reduceat(instances[:, :3], starts, axis=0) - reach
    high = np.maximum.reduceat(instances[:, :3], starts, axis=0) + reach
    cells = map(Cell, starts.tolist(), counts.tolist(), low, high)
    return Scatter(instances, tuple(cells), obstacles)


__all__ = ["leaf_atlas", "place_reeds", "place_shrubs", "place_tufts", "reed_mesh", "shrub_mesh", "tuft_mesh"]

_DIGEST = source_digest(__file__, sim.world.boulders.__file__)
_LOBES = 7
_CANDIDATES = 330_000
_CLEAR_OF_PADS_M = 15.0


def _directions(n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 3) unit vectors, even over the sphere with some chance."""
    z = 1.0 - 2.0 * (np.arange(n) + 0.5) / n
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(n)
    r = np.sqrt(1.0 - z * z)
    d = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1) + 0.35 * rng.normal(size=(n, 3))
    return d / np.linalg.norm(d, axis=1, keepdims=True)


def shrub_mesh(quads: int = 96) -> Mesh:
    """A shrub of `quads` leaf cards; fewer cards are larger, so that the bush keeps its bulk."""
    if quads < 1:
        raise ValueError("a shrub needs at least one card")
    rng = np.random.default_rng([SEED, 303])
    turn = rng.uniform(0.0, 2.0 * np.pi) + np.arange(_LOBES) * 2.4
    spread = np.where(np.arange(_LOBES) == 0, 0.0, rng.uniform(0.42, 0.68, _LOBES))
    height = np.where(np.arange(_LOBES) == 0, 0.72, rng.uniform(0.30, 0.62, _LOBES))
    centres = np.stack([spread * np.cos(turn), spread * np.sin(turn), height], axis=1)
    radii = rng.uniform(0.30, 0.44, _LOBES)
    lobe = np.arange(quads) % _LOBES
    out = _directions(quads, rng)
    out[:, 2] = np.where(out[:, 2] < -0.3, -out[:, 2], out[:, 2])
    centre = centres[lobe] + radii[lobe, None] * out * rng.uniform(0.55, 1.0, (quads, 1))
    size = 0.21 * (96.0 / quads) ** 0.36 * rng.uniform(0.8, 1.25, quads)
    facing = out + 0.6 * rng.normal(size=(quads, 3))
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    side = np.cross(facing, [0.0, 0.0, 1.0]) + 1e-6
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(side, facing)
    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    span = corners[None, :, :1] * side[:, None] + corners[None, :, 1:] * up[:, None]
    position = centre[:, None] + size[:, None, None] * span
    position[..., 2] = np.maximum(position[..., 2], 0.0)
    crown = centre - [0.0, 0.0, 0.15]
    crown /= np.linalg.norm(crown, axis=1, keepdims=True)
    normal = 0.5 * out + 0.7 * crown + 0.25 * rng.normal(size=(quads, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    tile = rng.integers(0, _ATLAS_TILES, (quads, 2))
    uv = (tile[:, None, :] + 0.5 + 0.49 * corners[None]) / _ATLAS_TILES
    normals = np.repeat(normal[:, None], 4, axis=1)
    vertices = np.concatenate([position, normals, uv], axis=2).reshape(-1, 8)
    return Mesh(vertices.astype(np.float32), quad_indices(quads))


def place_shrubs(world: World) -> Scatter:
    """Shrubs where there is soil: thick along the river, in hollows and on benches, sparse on the plateau."""
    name = f"shrubs-{world.key}-{_DIGEST}"
    return scatter_of(cached_arrays("meshes", name, lambda: {"shrubs": _shrubs(world)})["shrubs"])


def _shrubs(world: World) -> np.ndarray:
    """(k, 8) instances by cell."""
    rng = np.random.default_rng([world.seed, SEED, 404])
    at = sites(world, _CANDIDATES, rng)
    bank = np.exp(-(((at.above_river_m - 3.0) / 4.5) ** 2)) * (at.above_river_m > 0.7)
    patches = 0.5 + 0.5 * np.sin(at.x / 23.0 + 2.0 * np.sin(at.y / 31.0)) * np.sin(
        at.y / 19.0 + 2.0 * np.sin(at.x / 37.0)
    )
    chance = 0.95 * bank * patches**1.5 + 0.7 * (at.above_river_m > 1.5) * (
        0.10 + 0.30 * np.clip(at.hollow, 0.0, 1.0) + 0.12 * at.loose * patches
    )
    chance *= np.clip((at.upright - 0.62) / 0.25, 0.0, 1.0)
    chance *= np.where(at.above_river_m > 150.0, 0.55, 1.0)
    chance *= kept_free(world, at, _CLEAR_OF_PADS_M)
    keep = rng.random(_CANDIDATES) < chance
    moist = (bank * patches)[keep]
    n = int(keep.sum())
    instances = np.empty((n, INSTANCE_FLOATS))
    size = rng.lognormal(np.log(0.62), 0.38, n) * (1.0 + 1.3 * moist)
    instances[:, 0], instances[:, 1], instances[:, 3] = at.x[keep], at.y[keep], size
    instances[:, 2] = at.z[keep] - 0.08 * size
    dry, green = np.array([0.150, 0.140, 0.070]), np.array([0.062, 0.094, 0.033])
    mix = np.clip(0.15 + 0.9 * moist + 0.2 * rng.normal(size=n), 0.0, 1.0)[:, None]
    instances[:, 4:7] = (dry + mix * (green - dry)) * rng.uniform(0.75, 1.25, (n, 1))
    instances[:, 7] = rng.uniform(0.0, 2.0 * np.pi, n)
    if world.grounds is not None:
        planted = _planted(world.grounds, rng)
        instances = np.concatenate([instances, planted])
        size = np.concatenate([size, planted[:, 3]])
        n = len(size)
    return by_cell(instances, size * rng.uniform(0.3, 1.0, n))


def _planted(grounds: Grounds, rng: np.random.Generator) -> np.ndarray:
    """(k, 8) instances in the earth of planters."""
    rows = []
    for bed in (block for block in grounds.blocks if block.material == "soil"):
        count = max(int(5.0 * 4.0 * bed.half_m[0] * bed.half_m[1]), 3)
        place = rng.uniform(-0.8, 0.8, (count, 2)) * bed.half_m + bed.centre_m
        size = rng.uniform(0.28, 0.55, count)
        tint = np.array([0.075, 0.105, 0.036]) * rng.uniform(0.7, 1.4, (count, 1))
        height, yaw = np.full(count, bed.height_m - 0.05), rng.uniform(0.0, 2.0 * np.pi, count)
        rows.append(np.column_stack([place, height, size, tint, yaw]))
    return np.concatenate(rows) if rows else np.zeros((0, INSTANCE_FLOATS))


_TUFTS, _TUFTS_HALF_M = 60_000, 90.0
"""Candidates; how far they stand about the middle of a ground that has no bounds."""
_VERGE_M = 2.5


def tuft_mesh(cards: int) -> Mesh:
    """A tuft of grass about 1 m high of so many cards that lean outwards, in the format of shrubs."""
    return _leaning(
        cards, np.random.default_rng([SEED, 606]), width=(0.45, 0.65), lean=(0.25, 0.6), spread=0.08
    )


def reed_mesh(cards: int) -> Mesh:
    """Reeds about 1 m high, of so many narrow cards that stand nearly upright, in the format of shrubs."""
    return _leaning(
        cards, np.random.default_rng([SEED, 616]), width=(0.13, 0.2), lean=(0.02, 0.22), spread=0.3
    )


def _leaning(
    cards: int,
    rng: np.random.Generator,
    *,
    width: tuple[float, float],
    lean: tuple[float, float],
    spread: float,
) -> Mesh:
    """Cards that stand on a ring so wide, in units of their height."""
    turn = 2.0 * np.pi * (np.arange(cards) + rng.uniform(-0.25, 0.25, cards)) / cards
    out = np.stack([np.cos(turn), np.sin(turn), np.zeros(cards)], axis=1)
    side = np.stack([-np.sin(turn), np.cos(turn), np.zeros(cards)], axis=1)
    up = np.array([0.0, 0.0, 1.0]) + rng.uniform(*lean, (cards, 1)) * out
    corners = np.array([(-1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (-1.0, 1.0)])
    half, height = rng.uniform(*width, (cards, 1, 1)), rng.uniform(0.7, 1.1, (cards, 1, 1))
    position = spread * out[:, None] + half * corners[None, :, :1] * side[:, None]
    position = position + height * corners[None, :, 1:] * up[:, None]
    normal = np.repeat(0.45 * out + [0.0, 0.0, 0.9], 4, axis=0)
    tile = rng.integers(0, _ATLAS_TILES, (cards, 1, 2))
    uv = (tile + 0.5 + 0.49 * (corners * [1.0, 2.0] - [0.0, 1.0])) / _ATLAS_TILES
    vertices = np.concatenate([position.reshape(-1, 3), normal, uv.reshape(-1, 2)], axis=1)
    return Mesh(vertices.astype(np.float32), quad_indices(cards))


_REEDS, _BANK_M = 120_000, 9.0
"""Candidates; how far from where the shore usually is they stand at most."""


def place_reeds(world: World) -> Scatter:
    """Reeds in patches along the water's edge, some of them in the water."""
    name = f"reeds-{world.key}-{_DIGEST}"
    return scatter_of(cached_arrays("meshes", name, lambda: {"reeds": _reeds(world)})["reeds"])


def _reeds(world: World) -> np.ndarray:
    """(k, 8) instances by cell."""
    rng = np.random.default_rng([world.seed, SEED, 808])
    river = world.river
    assert river is not None
    x = rng.uniform(world.terrain.low_m[0], world.terrain.high_m[0], _REEDS)
    aside = rng.choice((-1.0, 1.0), _REEDS) * (river.half_width_m + rng.uniform(-_BANK_M, _BANK_M, _REEDS))
    at = sites_at(world, x, np.clip(river.centre(x) + aside, world.terrain.low_m[1], world.terrain.high_m[1]))
    patches = 0.5 + 0.5 * np.sin(at.x / 13.0 + 2.0 * np.sin(at.y / 29.0)) * np.sin(
        at.y / 11.0 + np.sin(at.x / 23.0)
    )
    chance = np.exp(-(((at.above_river_m - 0.15) / 0.35) ** 2)) * np.clip(2.2 * patches - 0.7, 0.0, 1.0)
    chance *= np.clip((at.upright - 0.75) / 0.2, 0.0, 1.0) * kept_free(world, at, _CLEAR_OF_PADS_M)
    chance *= at.above_river_m > -0.4
    keep = rng.random(_REEDS) < chance
    n = int(keep.sum())
    size = rng.lognormal(np.log(1.25), 0.25, n)
    straw, green = np.array([0.21, 0.18, 0.075]), np.array([0.075, 0.115, 0.034])
    mix = np.clip(0.65 + 0.3 * rng.normal(size=n), 0.0, 1.0)[:, None]
    tint = (straw + mix * (green - straw)) * rng.uniform(0.75, 1.2, (n, 1))
    place = np.column_stack([at.x[keep], at.y[keep], at.z[keep] - 0.05])
    return by_cell(np.column_stack([place, size, tint, rng.uniform(0.0, 2.0 * np.pi, n)]), rng.random(n))


def place_tufts(world: World) -> Scatter:
    """Dry grass on level sand: in patches, and thick where rain runs off what is paved; along a river, in bunches."""
    name = f"tufts-{world.key}-{_DIGEST}"
    return scatter_of(cached_arrays("meshes", name, lambda: {"tufts": _tufts(world)})["tufts"])


def _tufts(world: World) -> np.ndarray:
    """(k, 8) instances by cell."""
    rng = np.random.default_rng([world.seed, SEED, 707])
    if world.river is not None:
        return _bunches(world, rng)
    grounds = world.grounds
    half = np.full(2, _TUFTS_HALF_M) if grounds is None else np.array(grounds.half_m)
    place = rng.uniform(-half, half, (_TUFTS, 2))
    x, y = place.T
    off_m = np.full(_TUFTS, np.inf)
    for pad in world.pads:
        off_m = np.minimum(off_m, np.abs(place - pad.centre_w[:2]).max(axis=1) - pad.radius_m - 4.0)
    if grounds is not None:
        for paving in grounds.paving:
            off_m = np.minimum(off_m, _distance_m(place, paving.points) - paving.half_width_m)
        walls = [wall for tunnel in grounds.tunnels for wall in tunnel.walls]
        for block in (*grounds.blocks, *walls):
            within = np.abs((place - block.centre_m) @ upright(block.heading_rad)[:2, :2]) - block.half_m
            off_m = np.minimum(off_m, within.max(axis=1))
    patches = 0.5 + 0.5 * np.sin(x / 11.0 + 2.0 * np.sin(y / 17.0)) * np.sin(y / 9.0 + 2.0 * np.sin(x / 13.0))
    chance = 0.30 * patches**4 + 0.55 * np.exp(-np.maximum(off_m, 0.0) / _VERGE_M) * (0.3 + 0.7 * patches)
    z = world.terrain.height(x, y)
    dry = np.full(_TUFTS, True) if world.water_level_m is None else z > world.water_level_m + 0.8
    keep = (rng.random(_TUFTS) < chance) & (off_m > 0.15) & dry
    n = int(keep.sum())
    size = rng.lognormal(np.log(0.17), 0.45, n)
    straw, green = np.array([0.31, 0.25, 0.13]), np.array([0.105, 0.115, 0.042])
    mix = np.clip(0.25 + 0.3 * rng.normal(size=n), 0.0, 1.0)[:, None]
    tint = (straw + mix * (green - straw)) * rng.uniform(0.7, 1.2, (n, 1))
    instances = np.column_stack([place[keep], z[keep] - 0.02, size, tint, rng.uniform(0.0, 2.0 * np.pi, n)])
    return by_cell(instances, rng.random(n))


_BUNCHES = 330_000


def _bunches(world: World, rng: np.random.Generator) -> np.ndarray:
    """Bunch grass of a valley, dry above the reach of its river; (k, 8) instances by cell."""
    at = sites(world, _BUNCHES, rng)
    patches = 0.5 + 0.5 * np.sin(at.x / 17.0 + 2.0 * np.sin(at.y / 27.0)) * np.sin(
        at.y / 21.0 + np.sin(at.x / 14.0)
    )
    chance = (0.06 + 0.55 * np.clip(at.loose, 0.0, 1.0) * patches**2) * (at.above_river_m > 0.8)
    chance *= np.clip((at.upright - 0.75) / 0.2, 0.0, 1.0) * kept_free(world, at, _CLEAR_OF_PADS_M)
    keep = rng.random(_BUNCHES) < chance
    n = int(keep.sum())
    size = rng.lognormal(np.log(0.42), 0.35, n)
    straw, green = np.array([0.34, 0.26, 0.12]), np.array([0.15, 0.15, 0.055])
    near_water = np.exp(-at.above_river_m[keep] / 9.0)
    mix = np.clip(0.1 + 0.6 * near_water + 0.25 * rng.normal(size=n), 0.0, 1.0)[:, None]
    tint = (straw + mix * (green - straw)) * rng.uniform(0.75, 1.2, (n, 1))
    place = np.column_stack([at.x[keep], at.y[keep], at.z[keep] - 0.03])
    return by_cell(np.column_stack([place, size, tint, rng.uniform(0.0, 2.0 * np.pi, n)]), rng.random(n))


def _distance_m(points: np.ndarray, line: np.ndarray) -> np.ndarray:
    """(n,) from each point (n, 2) to a polyline (k, 2)."""
    nearest = np.full(len(points), np.inf)
    for start, end in pairwise(line):
        way = end - start
        share = np.clip((points - start) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - start - share[:, None] * way, axis=1))
    return nearest


def _boulder(variant: int, detail: int, shared: bool) -> Mesh:
    points, faces = boulder_shape(variant, detail)
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    flat = np.cross(b - a, c - a)
    smooth = np.zeros_like(points)
    for corner in range(3):
        np.add.at(smooth, faces[:, corner], flat)
    smooth /= np.linalg.norm(smooth, axis=1, keepdims=True)
    if shared:
        return Mesh(np.concatenate([points, smooth], axis=1).astype(np.float32), faces.astype(np.uint32))
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    normal = 0.8 * np.repeat(flat[:, None], 3, axis=1) + 0.2 * smooth[faces]
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    vertices = np.concatenate([points[faces], normal], axis=-1).reshape(-1, 6)
    return Mesh(vertices.astype(np.float32), np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3))


def boulder_meshes(variants: int = VARIANTS, detail: int = 2, *, shared: bool = False) -> tuple[Mesh, ...]:
    """Different boulders of 20 * 4^detail triangles; the same shapes at every detail.

    `shared`: faces share their corners, whose normals are the mean ones; `boulder.frag` finds those of the faces.
    """
    return tuple(_boulder(k, detail, shared) for k in range(variants))


def place_boulders(world: World, variants: int = VARIANTS) -> tuple[Scatter, ...]:
    """One Scatter for each variant of the mesh, the largest of each cell first."""
    kinds = [by_cell(placed, placed[:, 3]) for placed in boulder_instances(world, variants)]
    return tuple(scatter_of(placed, stopping(world, placed, k)) for k, placed in enumerate(kinds))
