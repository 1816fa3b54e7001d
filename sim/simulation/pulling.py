"""A hand that pulls at a body: a damped spring whose impulses are found together with what they do to the body."""

from functools import singledispatch

import numpy as np

from sim.commands import Pull
from sim.simulation.method import Method
from sim.steppers import Stepper
from sim.take.pushes import strike
from sim.trees.stepper import TreeStepper
from sim.vehicles import ArticulatedVehicle, Vehicle
from sim.vehicles.observation import Observation, ObservationLayout
from sim.vehicles.slung import SlungLoad

RATE_RADPS = 7.0
"""Of the spring with all of the vehicle's mass at its end: its stiffness is mass times the square of that."""
STRONGEST_MPS2 = 60.0
"""What it gives the whole mass at most, however far the hand is."""


def unpulled(vehicle: Vehicle, body: str, layout: ObservationLayout) -> str:
    """Why a body of a vehicle cannot be pulled, in a line; empty where it can."""
    if body not in layout.bodies:
        return f"{vehicle.name} has no body {body!r}; allowed: {', '.join(list(layout.bodies)[:8])}"
    if isinstance(vehicle, SlungLoad) and body != layout.main:
        return f"{vehicle.name}: {body} cannot be pulled; allowed: {layout.main}, from which it hangs"
    if vehicle.wrench_size == 0:
        return f"{vehicle.name} cannot be pulled: nothing acts on it but its controls"
    return ""


def pull_impulse(
    pull: Pull, method: Method, y: np.ndarray, u: np.ndarray, seen: Observation, poses_w: np.ndarray
) -> np.ndarray:
    """(wrench_size,) of one control period, for `strike`; poses_w (bodies, 4, 4) of the vehicle in the world.

    The spring is that of its end: the velocity that its own impulse leads to is within, so that no body is too light
    for it. Critically damped with the whole mass at its end; with less it is damped more.
    """
    k = list(seen.layout.bodies).index(pull.body)
    T_wb, dt = poses_w[k], method.control_period_s
    at_b = np.array(pull.at_b)
    point_w = T_wb[:3, :3] @ at_b + T_wb[:3, 3]
    J, v_w, A = _mobility(method.kernel, method, y, u, seen, poses_w, pull.body, at_b)
    mass = _mass_kg(method.vehicle)
    stiffness, damping = mass * RATE_RADPS**2, 2.0 * mass * RATE_RADPS
    way = np.array(pull.to_w) - point_w
    farthest = STRONGEST_MPS2 / RATE_RADPS**2
    way *= min(1.0, farthest / max(float(np.linalg.norm(way)), 1e-12))
    wanted = dt * (stiffness * (way - dt * v_w) - damping * v_w)
    given: np.ndarray = J @ np.linalg.solve(np.eye(3) + dt * (damping + dt * stiffness) * A, wanted)
    return given


@singledispatch
def _mobility(
    kernel: Stepper,
    method: Method,
    y: np.ndarray,
    u: np.ndarray,
    seen: Observation,
    poses_w: np.ndarray,
    body: str,
    at_b: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(J (wrench_size, 3) of impulses along x, y, z; velocity of the point (3,); what they change it by (3, 3))."""
    vehicle, h, p = method.vehicle, method.step_s, method.parameters
    k = list(seen.layout.bodies).index(body)
    point_w = poses_w[k, :3, :3] @ at_b + poses_w[k, :3, 3]
    R, x = poses_w[0, :3, :3], poses_w[0, :3, 3]
    arm_b = R.T @ (point_w - x)  # what else a vehicle has goes with its main body
    J = vehicle.reach(arm_b, R)

    def velocity(state: np.ndarray) -> np.ndarray:
        twist_b = kernel.observe(kernel.node(state, u, p, h), u, p).twist_b
        moving: np.ndarray = R @ (twist_b[3:] + np.cross(twist_b[:3], arm_b))
        return moving

    now = velocity(y)
    A = np.empty((3, 3))
    for axis in range(3):
        state = y.copy()
        strike(kernel, vehicle, state, J[:, axis], u, h)
        A[:, axis] = velocity(state) - now
    return J, now, A


@_mobility.register
def _(
    kernel: TreeStepper,
    method: Method,
    y: np.ndarray,
    u: np.ndarray,
    seen: Observation,
    poses_w: np.ndarray,
    body: str,
    at_b: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p = method.parameters
    node = kernel.node(y, u, p, method.step_s)
    at = method.vehicle.node_layout
    k = list(seen.layout.bodies).index(body)
    rows = kernel.impulses_at(node[at.pose], body, at_b, seen.poses[k, :3, :3], p)
    answers = np.array([kernel.answer(node[at.pose], row, p) for row in rows])
    return rows.T, rows @ node[at.velocity], rows @ answers.T


def _mass_kg(vehicle: Vehicle) -> float:
    if isinstance(vehicle, ArticulatedVehicle):
        return float(vehicle.tree.arrays.mass.sum())
    return float(np.max(vehicle.values.get("mass", 1.0)))
