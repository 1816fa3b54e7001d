"""Vehicles linearised about steady motions, by the equations of their form.

`linearise` is the door, `steady` finds the motion first, and `root_locus` follows eigenvalues over a parameter or the
speed; `local_motion`, `trimmed` and `near` are parts, for what need not be steady.
"""

from sim.linear.linearise import Linearisation, Mode, linearise, near, trimmed
from sim.linear.local_motion import Coordinate, LocalMotion, local_motion
from sim.linear.root_locus import RootLocus, root_locus, steady

__all__ = [
    "Coordinate",
    "Linearisation",
    "LocalMotion",
    "Mode",
    "RootLocus",
    "linearise",
    "local_motion",
    "near",
    "root_locus",
    "steady",
    "trimmed",
]
