"""The body wrench that each control makes, where they make it linearly."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.vehicles import Vehicle
from sim.vehicles.structure import Structure


def wrench_effect(vehicle: Vehicle) -> np.ndarray:
    """(6, n_controls) torque [N m] and force [N] in the body frame per unit of each control; not to be written to."""
    return _effect(Structure.of(vehicle), vehicle.parameter_vector.tobytes())


@lru_cache(maxsize=64)
def _effect(structure: Structure, numbers: bytes) -> np.ndarray:
    vehicle = structure.vehicle
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX(np.frombuffer(numbers))
    wrench = vehicle.control_wrench(u, vehicle.symbols(p))
    return np.array(ca.evalf(ca.densify(ca.jacobian(wrench, u))))
