"""What screws throw: streams of foam and air on the water, astern where they push ahead and ahead where they pull."""

import math
from dataclasses import dataclass

import numpy as np

from render.frame import DrawnVehicle
from render.models.rigs import values_of
from sim.vehicle_config import config_of

REACH_M = 5.0
"""Length of the stream of a screw that gives all that it can."""
_LEAST = 0.04
_DEEPEST_M = 1.2
"""Screws that are deeper, or in the air, leave no mark."""


@dataclass(frozen=True, slots=True)
class Wash:
    """The stream of one screw."""

    place_w: tuple[float, float]
    """Where it begins [m]."""
    along_w: tuple[float, float]
    """Unit vector of the way that the water is thrown."""
    strength: float
    """0..1."""


def washes(vehicle: DrawnVehicle, water_level_m: float) -> tuple[Wash, ...]:
    """Of all screws of a vehicle that turn in the water."""
    hull = config_of(vehicle.model).hull
    if hull is None or vehicle.ghost or vehicle.wreck or not np.isfinite(vehicle.T_wb).all():
        return ()
    if not hull.screws or vehicle.time_s is None:
        return ()
    values, found = values_of(vehicle), []
    ahead = vehicle.T_wb[:2, 0] / max(float(np.linalg.norm(vehicle.T_wb[:2, 0])), 1e-6)
    for screw in hull.screws:
        push = screw.push.value(values)
        at = vehicle.T_wb @ [*screw.at_m, 1.0]
        if not math.isfinite(push) or abs(push) < _LEAST or abs(at[2] - water_level_m) > _DEEPEST_M:
            continue
        along = -math.copysign(1.0, push) * ahead
        found.append(
            Wash((float(at[0]), float(at[1])), (float(along[0]), float(along[1])), min(abs(push), 1.0))
        )
    return tuple(found)
