"""What stands in the way of vehicles on the ground and afloat, hit by impulses, and cones that fly off as bodies."""

from sim.contact.obstacles.cones import Solids, solids_afloat, solids_of
from sim.contact.obstacles.obstacles import Obstacles, ObstaclesPicture, PropsPicture, obstacles_in

__all__ = [
    "Obstacles",
    "ObstaclesPicture",
    "PropsPicture",
    "Solids",
    "obstacles_in",
    "solids_afloat",
    "solids_of",
]
