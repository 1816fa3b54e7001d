"""What panels, keys, planner and scripts ask of the simulation: another name for `sim.simulation.commands`."""

from sim.simulation.commands import *  # noqa: F403
from sim.simulation.commands import __all__ as __all__
