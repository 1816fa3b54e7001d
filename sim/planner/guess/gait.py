"""Guesses for what moves by wriggling: a gait, simulated."""

from collections.abc import Iterator

import casadi as ca
import numpy as np

from sim.planner.task.task import Task
from sim.trajectory import simulate
from sim.vehicles.nonholonomic import NonholonomicVehicle
from sim.vehicles.state import State

_WAVES = ((3, 2), (2, 1), (2, 2))
"""Periods of the rotor and of the steering in gaits that drive sideways, turn and drive ahead."""


def wriggled(vehicle: NonholonomicVehicle, task: Task, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size) of gaits under the integrator itself."""
    for waves in _WAVES:
        for side in (1.0, -1.0):
            yield _wriggled(vehicle, task, steps, waves, side)


def _wriggled(
    vehicle: NonholonomicVehicle, task: Task, steps: int, periods: tuple[int, int], side: float
) -> tuple[np.ndarray, np.ndarray]:
    """Shapes follow sines of two frequencies and drift sideways."""
    h, n = task.duration_s / steps, len(vehicle.shape_coordinates)
    amplitude = np.array([side * 1.2, *([0.6] * (n - 1))])
    waves = np.array([periods[0], *([periods[1]] * (n - 1))])
    stiffness, at = (20.0 / task.duration_s * max(waves)) ** 2, vehicle.node_layout
    inertia = _shape_inertia(vehicle)
    low, high = np.array([[c.low, c.high] for c in vehicle.controls]).T

    def follow(t: float, state: State) -> np.ndarray:
        s = min(t / task.duration_s, 1.0)
        envelope = np.sin(np.pi * s) ** 2
        wanted = task.start.shape + amplitude * np.sin(2 * np.pi * waves * s) * envelope
        rate = -2.0 * np.sqrt(stiffness) * state.node[at.shape_velocity]
        return np.clip(inertia * (stiffness * (wanted - state.shape) + rate), low, high)

    fine = max(1, int(np.ceil(h / 0.01)))
    run = simulate(
        vehicle, "variational", step=h / fine, duration=task.duration_s, initial=task.start, controls=follow
    )
    inputs = run.controls.reshape(steps, fine, -1).mean(axis=1)
    return run.nodes[::fine], np.concatenate([inputs, inputs[-1:]])


def _shape_inertia(vehicle: NonholonomicVehicle) -> np.ndarray:
    """(n_shape,) about the straight shape."""
    n = len(vehicle.shape_coordinates)
    r, u, xi = ca.SX.zeros(n), ca.SX.sym("u", n), ca.SX.zeros(vehicle.group.dim)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    mass = ca.hessian(vehicle.lagrangian(r, u, xi, q), u)[0]
    return np.array(ca.evalf(ca.densify(ca.diag(mass)))).ravel()
