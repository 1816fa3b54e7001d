"""Obstacles of a plan as the things that they stand for: buoys, masts, parked cars."""

import zlib

import numpy as np

from render.frame import DrawnVehicle
from sim.planner.task.obstacles import Obstacle
from sim.shapes.surface import upright
from sim.vehicle_config import config_named
from sim.world import World

_BUILT_IN = ("", "kerb")
"""Looks that need no model: the bare shape, and what the world's own ground already shows."""
_PAINTS = ((0.30, 0.02, 0.02), (0.03, 0.07, 0.16), (0.42, 0.43, 0.44), (0.05, 0.12, 0.09))


def obstacle_model(obstacle: Obstacle, world: World) -> DrawnVehicle | None:
    """The model an obstacle looks like, on the ground or the water; None where it has none.

    What is round is as wide as the obstacle; cars have their own size.
    """
    if obstacle.look in _BUILT_IN:
        return None
    x, y, _ = obstacle.middle_w
    T_wb = np.eye(4)
    T_wb[:3, :3] = (
        upright(obstacle.heading) if obstacle.turns else max(obstacle.half_thickness_m, 1e-3) * np.eye(3)
    )
    T_wb[:3, 3] = x, y, float(world.surface_m(x, y))
    paint = _PAINTS[zlib.crc32(obstacle.name.encode()) % len(_PAINTS)]
    return DrawnVehicle(
        model=obstacle.look,
        config=config_named(obstacle.look),
        T_wb=T_wb,
        controls=np.zeros(0),
        shape=np.zeros(0),
        tint=paint,
        still=True,
    )
