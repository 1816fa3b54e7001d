"""Moving water and wind about a hull, as kernels feel them once a step."""

from sim.environment.water.draft import afloat, at_rest
from sim.environment.water.inline import WATER
from sim.environment.water.water import Water
from sim.environment.water.weather import Weather

__all__ = ["WATER", "Water", "Weather", "afloat", "at_rest"]
