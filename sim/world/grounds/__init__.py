"""Level grounds for wheeled vehicles in the desert: what stands and is painted on them, as data."""

from sim.world.grounds.driving import driving_grounds
from sim.world.grounds.harbour import harbour_grounds
from sim.world.grounds.lake import Lake
from sim.world.grounds.plaza import plaza_grounds
from sim.world.grounds.props import Bay, Block, Grounds, Kerb, Mark, Parked, Paving, Tunnel
from sim.world.grounds.street import street_grounds
from sim.world.grounds.underpass import underpass_grounds

__all__ = [
    "Bay",
    "Block",
    "Grounds",
    "Kerb",
    "Lake",
    "Mark",
    "Parked",
    "Paving",
    "Tunnel",
    "driving_grounds",
    "harbour_grounds",
    "plaza_grounds",
    "street_grounds",
    "underpass_grounds",
]
