"""Parameters of a vehicle out of what it was measured to do."""

from sim.identification.fit import identify
from sim.identification.outcome import Identified
from sim.identification.recording import Recording

__all__ = ["Identified", "Recording", "identify"]
