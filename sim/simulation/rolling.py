"""What wheels and blades do: the nonholonomic momentum, and how far from rolling the next step is."""

import math
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.integrators.base import Inputs
from sim.simulation.method import Method
from sim.snapshot import Rolling
from sim.vehicles import NonholonomicVehicle
from sim.vehicles.structure import Structure

_STEERING = {"car": lambda r: math.atan(r[1]), "snakeboard": lambda r: float(r[1])}
"""Angle of the wheels to the left [rad] from the shape, for vehicles whose model shows it."""


def rolling(method: Method, y: np.ndarray, u: np.ndarray, node: np.ndarray) -> Rolling | None:
    """At a node with private state y, under controls u; None for vehicles without constraints."""
    vehicle, kernel, h = method.vehicle, method.kernel, method.step_s
    if not isinstance(vehicle, NonholonomicVehicle):
        return None
    ahead, w = y.copy(), np.zeros(kernel.dim)
    kernel.rollout(ahead, u, w, method.parameters, h, 1)
    next_node = kernel.node(ahead, u, method.parameters, h)
    slip, momentum = _gauge(Structure.of(vehicle))(node, next_node, h, method.parameters)
    steering = _STEERING.get(vehicle.name)
    shape = node[vehicle.node_layout.shape]
    return Rolling(
        slip_mps=float(slip),
        momentum=np.array(momentum).ravel(),
        steering_rad=math.nan if steering is None else steering(shape),
    )


@lru_cache(maxsize=32)
def _gauge(structure: Structure) -> ca.Function:
    """(node, next node, h, p) -> largest violation of a constraint along the arc between them, and p."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, NonholonomicVehicle)
    inputs, at, group = Inputs.of(vehicle), vehicle.node_layout, vehicle.group
    q = vehicle.symbols(inputs.p)
    here, there, h = inputs.node, ca.SX.sym("next", at.size), inputs.h
    between = group.compose(group.inverse(here[at.pose]), there[at.pose])
    if group.name == "SE2":
        between[0] = ca.atan2(ca.sin(between[0]), ca.cos(between[0]))
    xi, u = group.log(between) / h, (there[at.shape] - here[at.shape]) / h
    slip = vehicle.constraints((here[at.shape] + there[at.shape]) / 2, q) @ ca.vertcat(u, xi)
    return ca.Function(
        "gauge",
        [here, there, h, inputs.p],
        [ca.norm_inf(ca.densify(slip)), ca.densify(vehicle.nonholonomic_momentum(here, q))],
    )
