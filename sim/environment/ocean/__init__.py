"""The sea: a random field of waves that is the same for everything that asks, at any place and time."""

from sim.environment.ocean.field import Ocean
from sim.environment.ocean.sea import Sea
from sim.environment.ocean.state import SeaState

__all__ = ["Ocean", "Sea", "SeaState"]
