"""Vehicles linearised about steady motions, by the equations of their form.

`linearise` is the door; `local_motion`, `trimmed` and `near` are its parts, for what need not be steady.
"""

from sim.linear.linearise import Linearisation, Mode, linearise, near, trimmed
from sim.linear.local_motion import Coordinate, LocalMotion, local_motion

__all__ = [
    "Coordinate",
    "Linearisation",
    "LocalMotion",
    "Mode",
    "linearise",
    "local_motion",
    "near",
    "trimmed",
]
