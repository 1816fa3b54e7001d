"""The still parts of a world as meshes, as much of them as a quality can carry.

Landing pads: a slab with a painted H, and the apron of earth about it.

Vertices (n, 8) float32: position 3 (world), normal 3, uv 2 = metres in the pad's frame, u along its heading and v to
the left: the paint is drawn from uv. The top is the ground of the physics."""

from collections.abc import Sequence
from functools import cached_property

import moderngl
import numpy as np

from render.land.far_field import load_far_field
from render.land.ground_cover import (
    Scatter,
    boulder_meshes,
    leaf_atlas,
    place_boulders,
    place_reeds,
    place_shrubs,
    place_tufts,
    reed_mesh,
    shrub_mesh,
    tuft_mesh,
)
from render.land.mapped import MappedGround
from render.land.mesh import ChunkedMesh, Mesh, pad_mesh
from render.land.props import PropMesh, prop_mesh
from render.land.terrain_mesh import load_terrain_meshes
from render.passes.culling import Ridges
from render.passes.targets import PassContext
from render.programs import Programs, Resources, vertex_array
from render.quality import Quality, preset
from sim.platform.values import dataclass
from sim.world import World, load_world


class Pads:
    """All pads of a world in one draw call."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, meshes: Sequence[Mesh]):
        """`meshes`: vertices (n, 8) position, normal, uv in metres of the pad; indices (m, 3)."""
        self._resources = Resources()
        self._arrays: dict[str, moderngl.VertexArray] = {}
        if not meshes:
            return
        before = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
        vertices = np.concatenate([mesh.vertices for mesh in meshes]).astype("f4")
        indices = np.concatenate([mesh.indices.ravel() + n for mesh, n in zip(meshes, before, strict=True)])
        index = self._resources.own(ctx.buffer(indices.astype("u4")))
        content = [
            (self._resources.own(ctx.buffer(vertices)), "3f 3f 2f", "position", "normal", "uv"),
        ]
        for name, files in (
            ("opaque", ("pad.vert", "pad.frag")),
            ("shadow", ("terrain_depth.vert", "depth.frag")),
        ):
            array = vertex_array(ctx, programs.load(*files), content, index)
            self._arrays[name] = self._resources.own(array)

    def draw(self, context: PassContext) -> None:
        """Draw every pad into an opaque or shadow pass."""
        array = self._arrays.get("shadow" if context.name == "shadow" else "opaque")
        if array is not None:
            array.render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Free buffers and arrays."""
        self._resources.close()


COARSEST_LEVEL = 3


@dataclass(frozen=True, kw_only=True)
class Scenery:
    """Meshes and placements (formats as `render.land` makes them); empty where a world has none."""

    terrain: Sequence[ChunkedMesh]
    """Levels of detail, finest first; none where the ground is part of the backdrop."""
    far: Sequence[ChunkedMesh]
    pads: Sequence[Mesh]
    shrub_levels: Sequence[Mesh]
    shrubs: Scatter | None
    boulder_levels: Sequence[Sequence[Mesh]]
    """For each variant its levels, finest first."""
    boulders: Sequence[Scatter]
    ridges: Ridges
    """Of the ground, which hide what is behind them."""
    leaves: np.ndarray
    """(n, n, 4) uint8."""
    tuft_levels: Sequence[Mesh] = ()
    tufts: Scatter | None = None
    reed_levels: Sequence[Mesh] = ()
    reeds: Scatter | None = None
    props: PropMesh | None = None
    """What is laid out for wheeled vehicles."""
    key: str = ""
    """Names the world that it was made of; empty where it was put together by hand."""

    @cached_property
    def mapped_ground(self) -> MappedGround:
        """Of the finest terrain, for a quality that chooses its triangles anew for every view."""
        return MappedGround(self.terrain[0], self.ridges)


def load_scenery(world: World, quality: Quality) -> Scenery:
    """Everything still in `world`; plants and blocks only where the ground has features."""
    scenery = _meshes_of(world, quality)
    if scenery.terrain and not quality.full_materials:
        _ = scenery.mapped_ground  # now, where no frame waits for it
    return scenery


def _meshes_of(world: World, quality: Quality) -> Scenery:
    # Where light and grain come from a map, the finest mesh is thinned for every view.
    coarsest = COARSEST_LEVEL if quality.full_materials else quality.finest_level
    levels = range(quality.finest_level, coarsest + 1) if world.orbit_m is None else ()
    terrain = load_terrain_meshes(world, levels)
    natural = world.layers is not None
    surrounded = natural or world.far_desert
    shared = not quality.full_materials
    details = [boulder_meshes(detail=detail, shared=shared) for detail in quality.boulder_details]
    return Scenery(
        terrain=terrain,
        far=[load_far_field(world, 0 if quality.finest_level == 0 else 1)] if surrounded else [],
        pads=[pad_mesh(pad) for pad in world.pads],
        shrub_levels=[shrub_mesh(quads=quads) for quads in quality.shrub_quads],
        shrubs=place_shrubs(world) if natural else None,
        boulder_levels=list(zip(*details, strict=True)),
        boulders=place_boulders(world) if natural else (),
        tuft_levels=[tuft_mesh(cards) for cards in quality.tuft_cards],
        tufts=place_tufts(world) if _grassy(world) else None,
        reed_levels=[reed_mesh(2 * cards) for cards in quality.tuft_cards],
        reeds=place_reeds(world) if natural and world.river is not None else None,
        ridges=Ridges.of_world(world),
        leaves=leaf_atlas(size=256),
        props=prop_mesh(world.grounds) if world.grounds is not None else None,
        key=world.key,
    )


def grow(world: str, seed: int, quality: str) -> None:
    """Have a world and its meshes in the cache: what that does not keep is not made."""
    _meshes_of(load_world(world, seed=seed), preset(quality))


def _grassy(world: World) -> bool:
    """Whether there is sand under the sky, level or along a river."""
    return world.far_desert or (
        world.layers is not None and (world.grounds is not None or world.river is not None)
    )


_NO_WATER_M = -1e4
_DRY_GROUND_M = -2.2
"""Level ground in the desert is as sandy as a bank this far above water."""
_AROUND_GROUNDS_M = 25.0
"""Shadows of small things need a fine map: that of a level ground reaches no further than this around it."""


def ground_bounds_m(world: World) -> tuple[np.ndarray, np.ndarray]:
    """Low and high corner (3,) of the ground, with room for what stands on it; of a level ground only what is near."""
    terrain = world.terrain
    low = np.array([*terrain.origin_m, float(terrain.heights.min())])
    extent = np.array(terrain.heights.shape[::-1]) - 1.0
    grounds = getattr(world, "grounds", None)
    if grounds is not None:
        if grounds.room is not None:
            high = np.array([*grounds.half_m, grounds.room.height_m]) + 0.5
            return np.array([*-high[:2], -0.5]), high
        half = np.array(grounds.half_m) + _AROUND_GROUNDS_M
        return np.array([*-half, -5.0]), np.array([*half, 25.0])
    return low, np.array([*(low[:2] + extent * terrain.spacing_m), float(terrain.heights.max()) + 6.0])


def material_water_level_m(world: World) -> float:
    """Of river or lake; or what the materials of the ground take for it."""
    if world.water_level_m is not None:
        return world.water_level_m
    dry = getattr(world, "grounds", None) is not None or world.far_desert
    return _DRY_GROUND_M if dry else _NO_WATER_M
