"""Worlds: procedural ground, pads, river, and the contact of bodies with the ground."""

from sim.world.layers import TerrainLayers
from sim.world.pad import Pad
from sim.world.river import River
from sim.world.terrain import Terrain
from sim.world.world import World, load_world, worlds

__all__ = ["Pad", "River", "Terrain", "TerrainLayers", "World", "load_world", "worlds"]
