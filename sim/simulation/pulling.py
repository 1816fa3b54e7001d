"""A hand that pulls at a body: a damped spring whose impulses are found together with what they do to the body."""

from functools import singledispatch

import numpy as np

from sim.commands import Pull
from sim.simulation.method import Method
from sim.steppers import Stepper
from sim.trees.stepper import TreeStepper
from sim.vehicles import ArticulatedVehicle, Vehicle
from sim.vehicles.form import TREES
from sim.vehicles.impulses import AtPoint, at_point, moves
from sim.vehicles.observation import Observation, ObservationLayout

RATE_RADPS = 7.0
"""Of the spring with all of the vehicle's mass at its end: its stiffness is mass times the square of that."""
STRONGEST_MPS2 = 60.0
"""What it gives the whole mass at most, however far the hand is."""


def unpulled(vehicle: Vehicle, body: str, layout: ObservationLayout) -> str:
    """Why a body of a vehicle cannot be pulled, in a line; empty where it can."""
    if body not in layout.bodies:
        return f"{vehicle.name} has no body {body!r}; allowed: {', '.join(list(layout.bodies)[:8])}"
    if vehicle.form in TREES:
        return ""
    if not moves(vehicle, body):
        movable = [name for name in layout.bodies if moves(vehicle, name)][:8]
        allowed = ", ".join(movable) or "nothing: its space tells no velocities"
        return f"{vehicle.name}: {body} cannot be pulled, no force moves it; allowed: {allowed}"
    return ""


def pull_impulse(
    pull: Pull, method: Method, y: np.ndarray, u: np.ndarray, seen: Observation, poses_w: np.ndarray
) -> np.ndarray:
    """(impulse_size,) of one control period, for `strike`; poses_w (bodies, 4, 4) of the vehicle in the world.

    The spring is that of its end: the velocity that its own impulse leads to is within, so that no body is too light
    for it. Critically damped with the whole mass at its end; with less it is damped more.
    """
    k = list(seen.layout.bodies).index(pull.body)
    T_wb, dt = poses_w[k], method.control_period_s
    at_b = np.array(pull.at_b)
    point_w = T_wb[:3, :3] @ at_b + T_wb[:3, 3]
    v_w, J, A = _reached(method.kernel, method, y, u, seen, pull.body, at_b)
    turned = T_wb[:3, :3] @ seen.poses[k, :3, :3].T
    J, v_w, A = J @ turned.T, turned @ v_w, turned @ A @ turned.T
    mass = _mass_kg(method.vehicle)
    stiffness, damping = mass * RATE_RADPS**2, 2.0 * mass * RATE_RADPS
    way = np.array(pull.to_w) - point_w
    farthest = STRONGEST_MPS2 / RATE_RADPS**2
    way *= min(1.0, farthest / max(float(np.linalg.norm(way)), 1e-12))
    wanted = dt * (stiffness * (way - dt * v_w) - damping * v_w)
    given: np.ndarray = J @ np.linalg.solve(np.eye(3) + dt * (damping + dt * stiffness) * A, wanted)
    return given


@singledispatch
def _reached(
    kernel: Stepper,
    method: Method,
    y: np.ndarray,
    u: np.ndarray,
    seen: Observation,
    body: str,
    at_b: np.ndarray,
) -> AtPoint:
    """A point of a body, in the axes of the vehicle's own poses."""
    node = kernel.node(y, u, method.parameters, method.step_s)
    return at_point(method.vehicle, node, body, at_b)


@_reached.register
def _(
    kernel: TreeStepper,
    method: Method,
    y: np.ndarray,
    u: np.ndarray,
    seen: Observation,
    body: str,
    at_b: np.ndarray,
) -> AtPoint:
    p = method.parameters
    node = kernel.node(y, u, p, method.step_s)
    at = method.vehicle.node_layout
    k = list(seen.layout.bodies).index(body)
    rows = kernel.impulses_at(node[at.pose], body, at_b, seen.poses[k, :3, :3], p)
    answered = np.array([kernel.answer(node[at.pose], row, p) for row in rows])
    return AtPoint(rows @ node[at.velocity], rows.T, rows @ answered.T)


def _mass_kg(vehicle: Vehicle) -> float:
    """Of all that it consists of."""
    if isinstance(vehicle, ArticulatedVehicle):
        return float(vehicle.tree.arrays.mass.sum())
    return float(sum(np.sum(vehicle.values[q.name]) for q in vehicle.parameters if q.unit == "kg")) or 1.0
