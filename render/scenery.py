"""The still parts of a world as meshes, as much of them as a quality can carry."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from render.geometry.boulders import boulder_meshes, place_boulders
from render.geometry.far_field import load_far_field
from render.geometry.mesh import ChunkedMesh, Mesh
from render.geometry.pad import pad_mesh
from render.geometry.props import PropMesh, prop_mesh
from render.geometry.scatter import Scatter
from render.geometry.terrain_mesh import chunk_errors_m, load_terrain_mesh
from render.geometry.vegetation import leaf_atlas, place_shrubs, shrub_mesh
from render.occlusion import Ridges
from render.quality import Quality
from sim.world import World

COARSEST_LEVEL = 3
SEED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenery:
    """Meshes and placements (formats as render.geometry makes them); empty where a world has none."""

    terrain: Sequence[ChunkedMesh]
    """Levels of detail, finest first."""
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
    props: PropMesh | None = None
    """What is laid out for wheeled vehicles."""
    terrain_errors_m: np.ndarray | None = None
    """(levels, chunks) by how much each level is off, where levels are chosen by that."""
    key: str = ""
    """Names the world that it was made of; empty where it was put together by hand."""


def load_scenery(world: World, quality: Quality) -> Scenery:
    """Everything still in `world`; a far field, plants and blocks only where the ground has features."""
    terrain = [load_terrain_mesh(world, level) for level in range(quality.finest_level, COARSEST_LEVEL + 1)]
    natural = world.layers is not None
    # Where light and grain come from a map, only the shape tells how coarse the mesh is.
    errors_m = chunk_errors_m(terrain) if natural and not quality.full_materials else None
    details = [boulder_meshes(detail=detail) for detail in quality.boulder_details]
    return Scenery(
        terrain=terrain,
        far=[load_far_field(world, 0 if quality.finest_level == 0 else 1)] if natural else [],
        pads=[pad_mesh(pad) for pad in world.pads],
        shrub_levels=[shrub_mesh(quads=quads, seed=SEED) for quads in quality.shrub_quads],
        shrubs=place_shrubs(world) if natural else None,
        boulder_levels=list(zip(*details, strict=True)),
        boulders=place_boulders(world) if natural else (),
        ridges=Ridges.of_world(world),
        leaves=leaf_atlas(size=256),
        props=prop_mesh(world.grounds) if world.grounds is not None else None,
        terrain_errors_m=errors_m,
        key=world.key,
    )
