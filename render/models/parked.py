"""Vehicles that belong to a world and stay where they are."""

import numpy as np

from render.frame import DrawnVehicle
from sim.vehicle_config.model import turn
from sim.world import World


def parked_vehicles(world: World) -> tuple[DrawnVehicle, ...]:
    """All that stand or lie on the world's grounds."""
    grounds = getattr(world, "grounds", None)
    vehicles = []
    for parked in grounds.parked if grounds is not None else ():
        T_wb = turn("z", parked.heading_rad)
        T_wb[:3, 3] = parked.position_w
        vehicles.append(
            DrawnVehicle(
                model=parked.model,
                T_wb=T_wb,
                controls=np.zeros(0),
                shape=np.zeros(0),
                tint=parked.paint or (1.0, 1.0, 1.0),
            )
        )
    return tuple(vehicles)
