"""The land under motions, what is built on it, and the water above it, as one mesh."""

from collections.abc import Sequence

import numpy as np

from export.motion import LaneMotion
from render.land.mesh import pad_mesh
from sim.groups.numeric import upright
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.shapes.surface import grid_indices
from sim.world import Pad, World

MARGIN_M = 60.0
_ABOVE_M = 6.0
"""By which what is endless is drawn higher than the motion."""
_CORNERS = 192
"""Of the piece of land, along each side."""
_SAND, _ROCK, _PAVING = (0.42, 0.27, 0.17), (0.24, 0.13, 0.085), (0.27, 0.26, 0.25)
_WATER, _BUILT, _OBSTACLE = (0.035, 0.105, 0.125), (0.36, 0.35, 0.33), (0.30, 0.33, 0.36)
_CONCRETE, _WHITE, _YELLOW = (0.24, 0.22, 0.195), (0.66, 0.64, 0.60), (0.62, 0.38, 0.05)
_RING_M, _PAINT_M = 5.0, 0.03
_TURN = np.linspace(0.0, 2.0 * np.pi, 65)
"""Of a pad: half the width of its ring, and how high paint lies, so that it is seen from afar."""
_SUNK_M = (1.5, 0.4)
"""How far about a pad land lies lower, and by how much, so that it is not seen through the slab."""
_STEEP = 0.72
"""z of the unit normal of land on which no sand stays."""


@dataclass(frozen=True, eq=False)
class GroundMesh:
    """A piece of land, the water above it, and what stands on it, in world coordinates."""

    positions: np.ndarray
    """(n, 3) m."""
    normals: np.ndarray
    """(n, 3) unit vectors."""
    triangles: np.ndarray
    """(m, 3)."""
    colours: np.ndarray
    """(n, 3) linear RGB."""
    water: int = 0
    """Triangles at the end that are the surface of water."""


def ground_under(
    world: World, motions: Sequence[LaneMotion], solids: Sequence[Shape] = (), margin_m: float = MARGIN_M
) -> GroundMesh:
    """The land under some motions and up to a distance around them, what is built on it, and other solids."""
    places = np.concatenate([motion.main[:, :2, 3] for motion in motions])
    low, high = places.min(axis=0) - margin_m, places.max(axis=0) + margin_m
    parts = [_land(world, low, high)]
    parts += [
        _pad(pad) for pad in world.pads if (pad.centre_w[:2] > low).all() and (pad.centre_w[:2] < high).all()
    ]
    if world.grounds is not None:
        walls = [wall for tunnel in world.grounds.tunnels for wall in tunnel.walls]
        built = [block.shape for block in (*world.grounds.blocks, *walls)]
        parts += [_solid(shape, _BUILT) for shape in built if _near(shape, low, high)]
    top_m = max(float(motion.main[:, 2, 3].max()) for motion in motions) + _ABOVE_M
    for shape in solids:
        foot_m = float(world.surface_m(*shape.middle_w[:2])) - 1.0
        parts.append(_solid(shape.between(foot_m, top_m), _OBSTACLE))
    wet = [] if world.water_level_m is None else [_water(world.water_level_m, low, high)]
    parts += wet
    first = np.cumsum([0, *(len(part.positions) for part in parts)])
    return GroundMesh(
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.triangles + k for part, k in zip(parts, first, strict=False)]),
        np.concatenate([part.colours for part in parts]),
        sum(len(part.triangles.reshape(-1, 3)) for part in wet),
    )


def _land(world: World, low: np.ndarray, high: np.ndarray) -> GroundMesh:
    x, y = (np.linspace(a, b, _CORNERS) for a, b in zip(low, high, strict=True))
    X, Y = np.meshgrid(x, y, indexing="ij")
    Z = np.broadcast_to(world.terrain.height(X, Y), X.shape)
    Z = np.array(Z)
    for pad in world.pads:
        local = (np.stack([X, Y], axis=-1) - pad.centre_w[:2]) @ upright(pad.heading_rad)[:2, :2]
        Z[np.abs(local).max(axis=-1) < pad.radius_m + _SUNK_M[0]] -= _SUNK_M[1]
    dx, dy = np.gradient(Z, x, y)
    normals = np.stack([-dx, -dy, np.ones_like(Z)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    colours = np.where(normals[..., 2:] < _STEEP, _ROCK, _SAND)
    if world.grounds is not None:
        colours[~world.grounds.clear_of(X, Y, 0.0)] = _PAVING
    return GroundMesh(
        np.stack([X, Y, Z], axis=-1).reshape(-1, 3),
        normals.reshape(-1, 3),
        grid_indices(_CORNERS, _CORNERS),
        colours.reshape(-1, 3),
    )


def _pad(pad: Pad) -> GroundMesh:
    """The slab in its apron, and the lines on it, which lie a hand's breadth higher."""
    slab = pad_mesh(pad)
    local, R = slab.vertices[:, 6:8], upright(pad.heading_rad)
    inside = np.abs(local).max(axis=1, keepdims=True) <= pad.radius_m + 1e-6
    parts = [(slab.vertices[:, :3], slab.vertices[:, 3:6], slab.indices, np.where(inside, _CONCRETE, _SAND))]
    edge = pad.radius_m - 0.5
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * 1.0
    round_ = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)
    for way, inner, outer, colour in (
        (square, edge - 0.3, edge, _WHITE),
        (round_, _RING_M - 0.22, _RING_M + 0.22, _YELLOW),
    ):
        n = len(way)
        flat = np.concatenate([inner * way, outer * way])
        points = np.column_stack([flat, np.full(2 * n, _PAINT_M)]) @ R.T + pad.centre_w
        k = np.arange(n - 1)
        faces = np.concatenate([np.stack([k, k + n, k + n + 1], 1), np.stack([k, k + n + 1, k + 1], 1)])
        parts.append((points, np.tile((0.0, 0.0, 1.0), (2 * n, 1)), faces, np.tile(colour, (2 * n, 1))))
    first = np.cumsum([0, *(len(points) for points, *_ in parts)])
    return GroundMesh(
        np.concatenate([points for points, *_ in parts]),
        np.concatenate([normals for _, normals, *_ in parts]),
        np.concatenate([faces.reshape(-1, 3) + k for (_, _, faces, _), k in zip(parts, first, strict=False)]),
        np.concatenate([colours for *_, colours in parts]),
    )


def _water(level_m: float, low: np.ndarray, high: np.ndarray) -> GroundMesh:
    x, y = np.meshgrid(*np.stack([low, high], axis=1), indexing="ij")
    points = np.stack([x, y, np.full_like(x, level_m)], axis=-1).reshape(-1, 3)
    flat = np.broadcast_to((0.0, 0.0, 1.0), points.shape)
    return GroundMesh(points, flat, grid_indices(2, 2), np.broadcast_to(_WATER, points.shape))


def _solid(shape: Shape, colour: tuple[float, float, float]) -> GroundMesh:
    points, normals, faces = shape.surface()
    return GroundMesh(points, normals, faces, np.broadcast_to(colour, points.shape))


def _near(shape: Shape, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether it stands over the piece of land."""
    x, y, _ = shape.middle_w
    return bool((np.array([x, y]) > low).all() and (np.array([x, y]) < high).all())
