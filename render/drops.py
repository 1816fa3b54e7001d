"""Drops of spray that are too small to be a surface: points, white by sky and sun, fainter where they are less than a
pixel wide."""

import moderngl

from render.flying_points import FlyingPoints
from render.programs import Programs
from sim.water.picture import MOST_DROPS

_DROP_M = 0.008
"""Radius."""


def drops(ctx: moderngl.Context, programs: Programs) -> FlyingPoints:
    """Of places (n, 3) [m]."""
    shaders = "spray.vert", "drop.frag"
    return FlyingPoints(ctx, programs, shaders, name="place", numbers=3, most=MOST_DROPS, drop_m=_DROP_M)
