"""Level grounds for wheeled vehicles in the desert: what stands and is painted on them, as data."""

from sim.world.grounds.driving import driving_grounds
from sim.world.grounds.plaza import plaza_grounds
from sim.world.grounds.props import Bay, Block, Grounds, Kerb, Mark, Paving, Tunnel

__all__ = [
    "Bay",
    "Block",
    "Grounds",
    "Kerb",
    "Mark",
    "Paving",
    "Tunnel",
    "driving_grounds",
    "plaza_grounds",
]
