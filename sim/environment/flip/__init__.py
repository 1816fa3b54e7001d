"""A box of water that splashes: particles carry it, a grid keeps it incompressible, bodies float in it and push it."""

from sim.environment.flip.body import Body, Floating
from sim.environment.flip.box import Box
from sim.environment.flip.coupled import TankWater
from sim.environment.flip.tank import Tank

__all__ = ["Body", "Box", "Floating", "Tank", "TankWater"]
