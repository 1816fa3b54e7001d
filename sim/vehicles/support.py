"""What carries a vehicle, and so where in a world its own frame is put."""

from enum import Enum
from functools import cache

import numpy as np

from sim.groups import LieGroup


class Support(Enum):
    """Data by which a configuration without height, or without a place, gets one in a world."""

    NOTHING = "nothing"
    """It moves in space: its bodies tell their places in the world, and it may touch the ground."""
    GROUND = "ground"
    """It moves in a plane, which is laid on the ground."""
    SURFACE = "surface"
    """Its plane is laid on the water where there is some, else on the ground."""
    WATER = "water"
    """It moves in space and floats: water carries it by its hull."""
    STAND = "stand"
    """Its origin is a fixed point of the world, above the ground."""


@cache
def natural_support(group: LieGroup) -> Support:
    """By what a group's motions leave out: all linear motion, or that along the vertical."""
    linear = np.any(group.twist_embedding[3:], axis=1)
    if not linear.any():
        return Support.STAND
    return Support.NOTHING if linear[2] else Support.SURFACE
