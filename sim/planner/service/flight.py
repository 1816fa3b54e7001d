"""Flying a plan."""

import numpy as np

from sim.commands import FlyPlan
from sim.planner.result.record import PlanRecord
from sim.planner.service.requests import FlyShown
from sim.platform.errors import InputError
from sim.vehicles import Vehicle


def flight(plan: PlanRecord | None, request: FlyShown) -> FlyPlan:
    """What tells the simulation to fly it as asked for. InputError where there is no plan that leads there."""
    if plan is None or not plan.solved:
        raise InputError("there is no solved plan to fly")
    blown = in_wind(plan.vehicle, request.wind_mps)
    return FlyPlan(plan.vehicle, plan.method, plan.step_s, plan.nodes, plan.controls, request.tracked, blown)


def in_wind(vehicle: Vehicle, more_mps: tuple[float, float]) -> Vehicle | None:
    """The vehicle in a horizontal wind that comes on top of its own; None where there is none, or it feels none."""
    if not any(more_mps) or "wind" not in vehicle.values:
        return None
    wind = np.array(vehicle.values["wind"], float)
    wind[:2] += more_mps
    return vehicle.with_parameters(wind=tuple(wind))
