"""Random free rigid bodies, their exact motion, and how far a method is from it."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

import sim
from sim.compiler import Kernel, compile_kernel
from sim.integrators import integrator

SAMPLE_S = 1.0
"""Errors are taken at multiples of this; steps are parts of it."""
FREE = np.zeros(6)
OUT_OF_PLOT_M = 1e3
"""A mean position error beyond this counts as a blow-up, like a number that is not finite."""


@dataclass(frozen=True, slots=True)
class FreeBody:
    """One body, its start, and its exact nodes at the samples."""

    parameters: np.ndarray
    start: np.ndarray
    exact: np.ndarray
    """(samples, 18)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Means over the bodies that did not blow up."""

    position_m: float
    rotation_rad: float
    omega_radps: float
    velocity_mps: float
    cpu_s: float
    """Of one run."""
    blown_up: int
    energy: float
    """Largest relative energy error of any run."""
    solver_failures: int


def random_bodies(count: int, seconds: float, seed: int) -> list[FreeBody]:
    """Bodies with real moments of inertia, tumbling with up to 5 rad/s and drifting."""
    rng, vehicle = np.random.default_rng(seed), sim.vehicle("rigid-body")
    kernel = compile_kernel(vehicle, integrator("rkmk54", tolerance=1e-12))
    samples = round(seconds / SAMPLE_S)

    def one(values: tuple[np.ndarray, float, np.ndarray, np.ndarray]) -> FreeBody:
        J, mass, omega, v = values
        body = vehicle.with_parameters(inertia=tuple(J), mass=mass)
        p, node = body.parameter_vector, body.state(omega=omega, v=v).node
        y = kernel.start(node, FREE, p, SAMPLE_S)
        nodes, done, _ = kernel.trajectory(y, FREE[None], p, SAMPLE_S, samples)
        assert done == samples
        return FreeBody(p, node, nodes)

    drawn = []
    for _ in range(count):
        J = rng.uniform(0.2, 2.0, 3) @ (1 - np.eye(3))
        direction = rng.normal(size=3)
        omega = direction / np.linalg.norm(direction) * rng.uniform(1.0, 5.0)
        drawn.append((J, float(rng.uniform(0.5, 5.0)), omega, rng.normal(size=3)))
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, drawn))


def measure(kernel: Kernel, bodies: list[FreeBody], h: float) -> Outcome:
    """Run every body with the step h, which divides SAMPLE_S."""
    stride = round(SAMPLE_S / h)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda body: _errors(kernel, body, h, stride), bodies))
    good = [f for f in found if np.all(np.isfinite(f)) and f[0] < OUT_OF_PLOT_M]
    means = np.mean([f[:4] for f in good], axis=0) if good else np.full(4, np.nan)
    energy = max((f[4] for f in good), default=np.nan)
    failures = sum(int(f[5]) for f in found)
    cpu = float(np.median([cpu_of(kernel, body, h) for body in bodies[:5]]))
    position, rotation, omega, velocity = map(float, means)
    blown_up = len(bodies) - len(good)
    return Outcome(position, rotation, omega, velocity, cpu, blown_up, float(energy), failures)


def _errors(kernel: Kernel, body: FreeBody, h: float, stride: int) -> np.ndarray:
    """Mean errors (position, rotation, omega, v), the largest relative energy error, and whether the solver failed."""
    samples = len(body.exact) - 1
    y = kernel.start(body.start, FREE, body.parameters, h)
    nodes = np.full_like(body.exact, np.nan)
    for k in range(samples):
        nodes[k] = kernel.node(y, FREE, body.parameters, h)
        _, status, _ = kernel.advance(y, FREE, FREE, body.parameters, h, stride)
        if status:
            return np.array([np.inf] * 5 + [float(status == 1)])
    nodes[samples] = kernel.node(y, FREE, body.parameters, h)
    apart = nodes - body.exact
    R, exact = (n[:, :9].reshape(-1, 3, 3) for n in (nodes, body.exact))
    chord = np.linalg.norm(R - exact, axis=(1, 2)) / np.sqrt(8)
    energy = kernel.energies(nodes, body.parameters)
    with np.errstate(all="ignore"):
        return np.array(
            [
                np.linalg.norm(apart[:, 9:12], axis=1).mean(),
                (2 * np.arcsin(np.clip(chord, 0, 1))).mean(),
                np.linalg.norm(apart[:, 12:15], axis=1).mean(),
                np.linalg.norm(apart[:, 15:18], axis=1).mean(),
                np.abs(energy / energy[0] - 1).max(),
                0.0,
            ]
        )


def cpu_of(kernel: Kernel, body: FreeBody, h: float) -> float:
    """CPU seconds of one run of a body, all of it in one call."""
    y = kernel.start(body.start, FREE, body.parameters, h)
    began = time.thread_time()
    kernel.advance(y, FREE, FREE, body.parameters, h, round(SAMPLE_S / h) * (len(body.exact) - 1))
    return time.thread_time() - began
