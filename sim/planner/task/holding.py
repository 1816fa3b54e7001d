"""Inputs that hold still what moves about a space of its own, and how large its inputs are."""

import casadi as ca
import numpy as np

from sim.planner.task.inputs import input_map_of
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.homogeneous import ActionVehicle

_SHARE, _STEPS = 0.5, 8
_LITTLE = 1e-9


def holding(vehicle: Vehicle, node: np.ndarray) -> np.ndarray:
    """(planned inputs,) under which the state changes least: Gauss and Newton's steps from the neutral ones."""
    input_map = input_map_of(vehicle)
    planned = input_map.planned_vehicle
    assert isinstance(planned, ActionVehicle)
    u, p = ca.SX.sym("u", input_map.size), ca.SX.sym("p", vehicle.parameter_count)
    x = ca.SX.sym("x", node.size)
    rate = ca.densify(planned.generator(x, u, planned.symbols(p)))
    found = ca.Function("rate", [x, u, p], [rate, ca.densify(ca.jacobian(rate, u))])
    a = input_map.planned(vehicle.neutral_controls[None])[0]
    for _ in range(_STEPS):
        value, slope = (np.array(part) for part in found(node, a, vehicle.parameter_vector))
        a = a - np.linalg.lstsq(slope, value.ravel(), rcond=1e-6)[0]
    return np.asarray(a)


def holding_scale(vehicle: Vehicle) -> np.ndarray:
    """(planned inputs,) magnitudes: what comes with the inputs, half of their ranges, or what holds it still."""
    input_map = input_map_of(vehicle)
    natural = input_map.natural_scale()
    if natural is not None:
        return natural
    ranges = np.array([[c.low, c.high] for c in vehicle.controls], float)
    half = _SHARE * np.abs(ranges).max(axis=1)
    held = np.abs(holding(vehicle, vehicle.default_state().node))
    return np.where(held > _LITTLE, np.minimum(half, np.maximum(held, _LITTLE)), half)
