"""Places to move in, by name and seed: `load_world` gives a `World` of ground, what stands on it, pads and water.

Natural ground is grown (canyon, desert), level ground is laid out (driving, level_grounds); `props` has the shapes that
stand on it, `store` keeps what was grown."""

from sim.world.path import Pad, River
from sim.world.terrain import Terrain, TerrainLayers
from sim.world.world import World, load_world, worlds

__all__ = ["Pad", "River", "Terrain", "TerrainLayers", "World", "load_world", "worlds"]
