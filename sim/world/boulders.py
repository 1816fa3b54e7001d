"""Boulders of a natural world: the sites where something may lie or grow, their shapes, and where they came to lie.

They are drawn from here; what drives on the ground meets them as discs about their widest sections, what is thrown as
hulls."""

from functools import cache
from itertools import combinations

import numpy as np

from sim.groups.numeric import upright
from sim.platform.cache import cached_arrays, package_digest
from sim.platform.values import dataclass
from sim.shapes import ConvexMesh, Shape
from sim.world.terrain import Terrain
from sim.world.world import World

_DRY_M = 9.0
"""Where there is no river, what may lie or grow is judged as if it were this far below."""
_MARGIN_M, _CLEAR_OF_GROUNDS_M = 2.0, 4.0


@dataclass(frozen=True, eq=False)
class Sites:
    """(n,) each, in the world's frame."""

    x: np.ndarray
    """m."""
    y: np.ndarray
    z: np.ndarray
    """m, of the ground."""
    upright: np.ndarray
    """Cosine of the slope."""
    above_river_m: np.ndarray
    loose: np.ndarray
    """How much lies loose, 0 to 1."""
    hollow: np.ndarray
    """Curvature, above 0 in hollows."""


def sites(world: World, count: int, rng: np.random.Generator) -> Sites:
    """So many, evenly over a world whose ground has features."""
    return sites_at(world, *_spread(world, count, rng))


def _spread(world: World, count: int, rng: np.random.Generator) -> np.ndarray:
    """(2, count) x, y [m], evenly over a world."""
    terrain = world.terrain
    low, high = np.array(terrain.low_m) + _MARGIN_M, np.array(terrain.high_m) - _MARGIN_M
    return rng.uniform(low, high, (count, 2)).T


def sites_at(world: World, x: np.ndarray, y: np.ndarray) -> Sites:
    """Those at x, y [m]."""
    assert world.layers is not None
    terrain, layers = world.terrain, world.layers
    z, upright = terrain.height(x, y), terrain.normal(x, y)[:, 2]
    above_river_m = z + _DRY_M if world.river is None else z - world.river.level_m
    loose, hollow = terrain.sample(layers.loose, x, y), terrain.sample(layers.curvature, x, y)
    return Sites(x, y, z, upright, above_river_m, loose, hollow)


def kept_free(world: World, at: Sites, around_pads_m: float) -> np.ndarray:
    """(n,) whether a site is clear of landing pads, by that distance [m], and of what people have built."""
    free = np.ones(at.x.size, bool)
    for pad in world.pads:
        free &= np.hypot(at.x - pad.centre_w[0], at.y - pad.centre_w[1]) > around_pads_m
    if world.grounds is not None:
        free &= world.grounds.clear_of(at.x, at.y, _CLEAR_OF_GROUNDS_M)
    return free


VARIANTS, SEED = 4, 5
LOW_M = 0.35
"""Boulders whose top stands less high above the ground are driven over; the others are in the way."""
_DIGEST = package_digest(__file__, ("boulders",))
_FLOATS = 8
_CUTS = 14
_CANDIDATES = 380_000
_CLEAR_OF_PADS_M = 16.0
_DEEPEST = 0.24
"""Of its size: no middle lies deeper in the ground."""
_HULL_DETAIL = 1
"""Of the shape whose hull others meet: 2 % of a boulder's size lie outside of it on the mean, a sixth at a corner."""
_SIDES, _FOOT, _BELLY = 8, 0.62, 0.16
"""A boulder's foot is a ring about its middle, so wide and so far below it, in units of its size."""


def boulder_shape(variant: int, detail: int = 2, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3), about 1 m in radius around the origin, and faces (20 * 4^detail, 3) of one kind, outward.

    A lump pushed inside random planes; the same shape at every detail.
    """
    rng = np.random.default_rng([seed, 606, variant])
    points, faces = _icosphere(detail)
    normals = rng.normal(size=(_CUTS, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    offsets = rng.uniform(0.45, 0.85, _CUTS)
    stretch = rng.uniform([0.8, 0.65, 0.5], [1.25, 0.95, 0.8])
    reach = points @ normals.T
    limit = np.min(np.where(reach > 1e-3, offsets / np.maximum(reach, 1e-3), np.inf), axis=1)
    return points * np.minimum(limit, 1.0)[:, None] * stretch, faces


@cache
def widest(variant: int, seed: int = SEED) -> tuple[float, float, float, float]:
    """(x, y of the middle, radius) of a disc as large as the boulder seen from above, and the height of its top.

    Of one of size 1, in its own frame.
    """
    name = f"boulder-disc-{variant}-{seed}-{_DIGEST}"
    x, y, radius, top = cached_arrays("worlds", name, lambda: {"disc": _widest(variant, seed)})["disc"]
    return float(x), float(y), float(radius), float(top)


def _widest(variant: int, seed: int) -> np.ndarray:
    """(4,) as `widest`."""
    points, _ = boulder_shape(variant, seed=seed)
    rim = _outline(points[:, :2])
    ahead = np.roll(rim, -1, axis=0)
    doubled = rim[:, 0] * ahead[:, 1] - rim[:, 1] * ahead[:, 0]
    x, y = ((rim + ahead) * doubled[:, None]).sum(axis=0) / (3.0 * doubled.sum())
    return np.array([x, y, np.sqrt(doubled.sum() / (2.0 * np.pi)), points[:, 2].max()])


def _outline(points: np.ndarray) -> np.ndarray:
    """(n, 2) corners of the convex hull of points (m, 2), anticlockwise, by A. M. Andrew's monotone chains (Inf.
    Process. Lett. 9, 1979)."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))].tolist()
    corners: list[list[float]] = []
    for way in (order, order[::-1]):
        side: list[list[float]] = []
        for x, y in way:
            while len(side) > 1:
                (ax, ay), (bx, by) = side[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                side.pop()
            side.append([x, y])
        corners += side[:-1]
    return np.array(corners)


def boulder_instances(world: World, variants: int = VARIANTS, seed: int = SEED) -> tuple[np.ndarray, ...]:
    """(k, 8) float32 for each kind: middle 3 [m], size, tint 3 (linear albedo), yaw [rad].

    They lie on scree, under cliffs and in the shallows; none where the ground has no features.
    """
    if world.layers is None:
        return tuple(np.zeros((0, _FLOATS), np.float32) for _ in range(variants))
    name = f"boulders-{world.key}-{variants}-{seed}-{_DIGEST}"
    kinds = cached_arrays("worlds", name, lambda: _placed(world, variants, seed))
    return tuple(kinds[f"kind{k}"] for k in range(variants))


def boulder_discs(world: World, *, higher_than_m: float = 0.0) -> np.ndarray:
    """(n, 4) x, y of the middle, radius, z of the top [m], of those whose top is so far above the ground."""
    found = np.concatenate([_discs(placed, k) for k, placed in enumerate(boulder_instances(world))])
    return found[_heights(world, found) > higher_than_m]


def boulders_near(world: World, places_w: np.ndarray, within_m: float) -> tuple[Shape, ...]:
    """Those that stop what drives and are so near to one of places (n, 3), as seen from above: their hulls, a little
    within what is drawn."""
    found: list[Shape] = []
    for kind, placed in enumerate(boulder_instances(world)):
        off = placed[:, None, :2].astype(float) - np.asarray(places_w, float).reshape(-1, 3)[:, :2]
        near = placed[np.hypot(off[..., 0], off[..., 1]).min(axis=1, initial=np.inf) < within_m]
        points, _ = boulder_shape(kind, _HULL_DETAIL)
        for x, y, z, size, *_, yaw in near[stopping(world, near, kind)].astype(float):
            corners_w = size * points @ upright(yaw).T + [x, y, z]
            found.append(ConvexMesh(tuple((a, b, c) for a, b, c in corners_w.tolist())))
    return tuple(found)


def stopping(world: World, placed: np.ndarray, variant: int, seed: int = SEED) -> np.ndarray:
    """(k,) bool: which of the boulders `placed` (k, 8) of one kind stop what drives on the ground."""
    return _heights(world, _discs(placed, variant, seed)) > LOW_M


def _discs(placed: np.ndarray, variant: int, seed: int = SEED) -> np.ndarray:
    """(k, 4) x, y of the middle, radius, z of the top [m] of the boulders `placed` (k, 8) of one kind."""
    x, y, z, size = placed[:, :4].astype(float).T
    c, s = np.cos(placed[:, 7]), np.sin(placed[:, 7])
    aside_x, aside_y, radius, top = widest(variant, seed)
    x, y = x + size * (c * aside_x - s * aside_y), y + size * (s * aside_x + c * aside_y)
    return np.column_stack([x, y, radius * size, z + top * size])


def _heights(world: World, discs: np.ndarray) -> np.ndarray:
    """(k,) m by which the tops of `discs` (k, 4) stand above the ground."""
    return discs[:, 3] - world.terrain.height(discs[:, 0], discs[:, 1])


@cache
def _icosphere(detail: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit sphere of 20 * 4^detail triangles, outward."""
    g = (1.0 + np.sqrt(5.0)) / 2.0
    corners = [(s, t * g, 0.0) for t in (1.0, -1.0) for s in (-1.0, 1.0)]
    points = np.array([np.roll(corner, shift) for shift in (0, 1, 2) for corner in corners])
    far = np.linalg.norm(points[:, None] - points, axis=-1)
    faces = np.array(
        [face for face in combinations(range(len(points)), 3) if far[face, np.roll(face, 1)].max() < 2.1]
    )
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    for _ in range(detail):
        a, b, c = faces.T
        pairs = np.sort(np.concatenate([np.stack(e, axis=1) for e in ((a, b), (b, c), (c, a))]), axis=1)
        edges, which = np.unique(pairs, axis=0, return_inverse=True)
        middle = points[edges].sum(axis=1)
        ab, bc, ca = (len(points) + which.reshape(-1)).reshape(3, -1)
        points = np.concatenate([points, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        faces = np.concatenate(
            [np.stack(f, axis=1) for f in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        )
    return points, faces


def bedded(terrain: Terrain, x: np.ndarray, y: np.ndarray, size: np.ndarray) -> np.ndarray:
    """(n,) z of the middle of boulders of these sizes at which their downhill side, too, lies in the ground."""
    angle = np.arange(_SIDES) * (2.0 * np.pi / _SIDES)
    around_x = x + _FOOT * size * np.cos(angle)[:, None]
    around_y = y + _FOOT * size * np.sin(angle)[:, None]
    return terrain.height(around_x, around_y).min(axis=0) + _BELLY * size


def _placed(world: World, variants: int, seed: int) -> dict[str, np.ndarray]:
    """(k, 8) for every variant."""
    rng = np.random.default_rng([world.seed, seed, 707])
    x, y = _spread(world, _CANDIDATES, rng)
    drawn = rng.random(_CANDIDATES)
    assert world.layers is not None
    loose, hollow = (world.terrain.sample(f, x, y) for f in (world.layers.loose, world.layers.curvature))
    # Slopes take most of the time, and no factor is above 1: most draws are lost before they are looked at.
    likely = drawn < 0.41 * loose + 0.48 * np.clip(hollow, 0.0, 1.0) ** 2 + 0.011
    at, drawn = sites_at(world, x[likely], y[likely]), drawn[likely]
    patches = 0.5 + 0.5 * np.sin(at.x / 29.0 + 2.5 * np.sin(at.y / 17.0)) * np.sin(
        at.y / 27.0 + 2.5 * np.sin(at.x / 21.0)
    )
    chance = 0.41 * at.loose * patches + 0.48 * np.clip(at.hollow, 0.0, 1.0) ** 2 + 0.011
    chance *= np.clip((at.upright - 0.55) / 0.2, 0.0, 1.0)
    chance *= (at.above_river_m > -1.2) * (at.above_river_m < 150.0)
    chance *= np.where(at.above_river_m < 1.2, 0.35, 1.0)
    chance *= kept_free(world, at, _CLEAR_OF_PADS_M)
    keep = drawn < chance
    x, y, z = at.x[keep], at.y[keep], at.z[keep]
    n = x.size
    size = np.minimum(0.33 * (1.0 - rng.random(n)) ** -0.6, 4.5)
    instances = np.empty((n, _FLOATS))
    instances[:, 0], instances[:, 1], instances[:, 3] = x, y, size
    instances[:, 2] = z + size * rng.uniform(0.05, 0.22, n)
    instances[:, 2] = np.minimum(instances[:, 2], bedded(world.terrain, x, y, size))
    instances[:, 4:7] = np.array([0.255, 0.165, 0.108]) * rng.uniform(0.7, 1.12, (n, 1))
    instances[:, 4:7] += rng.normal(0.0, 0.003, (n, 3))
    instances[:, 7] = rng.uniform(0.0, 2.0 * np.pi, n)
    kind = rng.integers(0, variants, n)
    rests = z - instances[:, 2] < _DEEPEST * size  # from steeper slopes they have rolled down
    instances, kind = instances[rests], kind[rests]
    return {f"kind{k}": instances[kind == k].astype(np.float32) for k in range(variants)}
