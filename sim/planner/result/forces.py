"""What the inputs of a plan push with."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.planner.result.record import PlanRecord
from sim.planner.task.bodies import acted
from sim.vehicles.forms.base import Structure

_SPATIAL = 6
"""Components of a wrench in space."""


def control_forces_b(record: PlanRecord) -> np.ndarray:
    """(N+1, 3) force of the controls at the nodes [N], body frame."""
    function = _wrench(Structure.of(record.vehicle))
    wrench = np.array(function(record.controls.T, record.vehicle.parameter_vector)).T
    if acted(record.vehicle) and wrench.shape[1] != _SPATIAL:
        return np.zeros((len(wrench), 3))
    if wrench.shape[1] == _SPATIAL:
        return wrench[:, 3:]
    return np.c_[wrench[:, 1:], np.zeros(len(wrench))]


@lru_cache(maxsize=64)
def _wrench(structure: Structure) -> ca.Function:
    """(controls, parameters) -> body wrench."""
    vehicle = structure.vehicle
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    return ca.Function("wrench", [u, p], [ca.densify(vehicle.control_wrench(u, vehicle.symbols(p)))])
