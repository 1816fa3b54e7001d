"""A box of water that splashes: particles carry it, a grid keeps it incompressible, bodies float in it and push it."""

from sim.water.flip.body import Floating, FloatingBody
from sim.water.flip.box import TankBox
from sim.water.flip.coupled import TankWater
from sim.water.flip.tank import Tank

__all__ = ["FloatingBody", "TankBox", "Floating", "Tank", "TankWater"]
