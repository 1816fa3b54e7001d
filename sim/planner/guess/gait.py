"""Guesses for what moves by wriggling: a gait, simulated."""

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.compiler import OK
from sim.integrators import integrator
from sim.planner.task.task import Task
from sim.sampled import Law
from sim.steppers.choice import stepper_of
from sim.vehicles.forms.form import State
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle

_WAVES = ((3, 2), (2, 3), (2, 1), (2, 2), (1, 2))
"""Periods of the rotor and of the steering in gaits that drive sideways, turn and drive ahead."""


@dataclass(frozen=True)
class Gait:
    """Sines of the shape's coordinates, which swell from rest and die away."""

    periods: tuple[float, ...]
    """In the task's time, one for each coordinate."""
    amplitudes: tuple[float, ...]
    phases_rad: tuple[float, ...]


def wriggled(vehicle: NonholonomicVehicle, task: Task, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size) of gaits under the integrator itself."""
    others = len(vehicle.shape_coordinates) - 1
    for first, other in _WAVES:
        for side in (1.0, -1.0):
            gait = Gait((first, *(other,) * others), (side * 1.2, *(0.6,) * others), (0.0,) * (others + 1))
            yield gait_motion(vehicle, task, steps, gait)


def random_gait(vehicle: NonholonomicVehicle, rng: np.random.Generator) -> Gait:
    """Of one to four periods, and of any phases."""
    count = len(vehicle.shape_coordinates)
    sizes = (
        np.r_[1.2, np.full(count - 1, 0.6)] * rng.uniform(0.5, 1.5, count) * rng.choice([-1.0, 1.0], count)
    )
    waves = rng.integers(1, 5, count) + rng.choice([0.0, 0.5], count)
    return Gait(tuple(waves), tuple(sizes), tuple(rng.uniform(-0.5, 0.5, count) * np.pi))


def gait_motion(
    vehicle: NonholonomicVehicle, task: Task, steps: int, gait: Gait
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (N+1, node size) and planned inputs (N+1, size): the shape follows a gait as its controls allow."""
    h = task.duration_s / steps
    amplitude, waves, phases = (np.array(part) for part in (gait.amplitudes, gait.periods, gait.phases_rad))
    stiffness, at = (20.0 / task.duration_s * waves.max()) ** 2, vehicle.node_layout
    inertia = _shape_inertia(vehicle)
    low, high = np.array([[c.low, c.high] for c in vehicle.controls]).T

    def follow(t: float, state: State) -> np.ndarray:
        s = min(t / task.duration_s, 1.0)
        envelope = np.sin(np.pi * s) ** 2
        wanted = task.start.shape + amplitude * np.sin(2 * np.pi * waves * s + phases) * envelope
        rate = -2.0 * np.sqrt(stiffness) * state.node[at.shape_velocity]
        return np.clip(inertia * (stiffness * (wanted - state.shape) + rate), low, high)

    fine = max(1, int(np.ceil(h / 0.01)))
    nodes, held = _held(vehicle, task.start, follow, h / fine, steps * fine)
    inputs = held.reshape(steps, fine, -1).mean(axis=1)
    return nodes[::fine], np.concatenate([inputs, inputs[-1:]])


def _held(
    vehicle: NonholonomicVehicle, start: State, law: Law, h: float, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (count+1, node size) and controls (count, n_controls), which are those of a step's start throughout it: a
    guess needs no second order, for which `simulate` takes three times as long. NaN from where a step has no solution.
    """
    stepper, p = stepper_of(vehicle, integrator("variational")), vehicle.parameter_vector
    nothing = np.zeros(vehicle.wrench_size)
    nodes = np.full((count + 1, vehicle.node_layout.size), np.nan)
    held = np.zeros((count, len(vehicle.controls)))
    nodes[0], y = start.node, stepper.start(start.node, vehicle.neutral_controls, p, h)
    for k in range(count):
        held[k] = law(k * h, vehicle.state_at_node(nodes[k]))
        _, status, _ = stepper.advance(y, held[k], nothing, p, h, 1)
        if status != OK:
            break
        nodes[k + 1] = stepper.node(y, held[k], p, h)
    return nodes, held


def _shape_inertia(vehicle: NonholonomicVehicle) -> np.ndarray:
    """(n_shape,) about the straight shape."""
    n = len(vehicle.shape_coordinates)
    r, u, xi = ca.SX.zeros(n), ca.SX.sym("u", n), ca.SX.zeros(vehicle.group.dim)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    mass = ca.hessian(vehicle.lagrangian(r, u, xi, q), u)[0]
    return np.array(ca.evalf(ca.densify(ca.diag(mass)))).ravel()
