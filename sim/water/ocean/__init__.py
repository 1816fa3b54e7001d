"""The sea: a random field of waves that is the same for everything that asks, at any place and time."""

from sim.water.ocean.field import Ocean
from sim.water.ocean.sea import Sea
from sim.water.ocean.state import SeaState

__all__ = ["Ocean", "Sea", "SeaState"]
