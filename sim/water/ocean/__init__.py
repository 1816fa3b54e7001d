"""The sea: a random field of waves that is the same for everything that asks, at any place and time.

`waves` draws the waves of a `Sea`, `synthesis` makes their surface at a time, `field` reads it at any place.
"""

from sim.water.ocean.field import Ocean, SeaState
from sim.water.ocean.waves import Sea

__all__ = ["Ocean", "Sea", "SeaState"]
