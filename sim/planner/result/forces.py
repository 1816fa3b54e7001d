"""What the inputs of a plan push with."""

from functools import cache

import casadi as ca
import numpy as np

from sim.planner.result.record import PlanRecord
from sim.vehicles import Vehicle


def control_forces_b(record: PlanRecord) -> np.ndarray:
    """(N+1, 3) force of the controls at the nodes [N], body frame."""
    wrench = np.array(_wrench(type(record.vehicle))(record.controls.T, record.vehicle.parameter_vector)).T
    if wrench.shape[1] == 6:
        return wrench[:, 3:]
    return np.c_[wrench[:, 1:], np.zeros(len(wrench))]


@cache
def _wrench(kind: type[Vehicle]) -> ca.Function:
    """(controls, parameters) -> body wrench, of a class of vehicles."""
    vehicle = kind()
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    return ca.Function("wrench", [u, p], [vehicle.control_wrench(u, vehicle.symbols(p))])  # type: ignore[attr-defined]
