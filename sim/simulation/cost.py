"""What a step costs: Newton iterations, and wall time measured now and then beside the simulation."""

import time
from dataclasses import dataclass

import numpy as np

from sim.environment.ground import env_of
from sim.environment.surroundings import Surroundings
from sim.simulation.method import Method

EVERY = 60
"""Snapshots between two measurements."""
STEPS = 64
"""Steps of a measurement: enough that calling the kernel from Python does not count."""


class StepCost:
    """Wall time of one step [s], smoothed; 0 before the first measurement."""

    def __init__(self) -> None:
        self.step_s = 0.0
        self._looks = 0

    def look(self, method: Method, y: np.ndarray, u: np.ndarray, ground: Surroundings | None) -> None:
        """Maybe measure: run a copy of the private state a little ahead, and forget it."""
        self._looks += 1
        if self._looks % EVERY != 1:
            return
        m, ahead, nothing = method, y.copy(), np.zeros(method.kernel.dim)
        began = time.perf_counter()
        done, _, _ = m.kernel.advance(ahead, u, nothing, m.parameters, m.step_s, STEPS, env_of(ground))
        cost = (time.perf_counter() - began) / max(done, 1)
        self.step_s += 0.3 * (cost - self.step_s) if self.step_s else cost


@dataclass(slots=True)
class Tally:
    """Newton iterations since the last snapshot."""

    steps: int = 0
    iterations: int = 0
    mean: float = 0.0
    """Per step, before the last snapshot."""

    def add(self, steps: int, iterations: int) -> None:
        """One rollout."""
        self.steps += steps
        self.iterations += iterations

    def take(self) -> float:
        """Mean iterations per step since the last call; without a step, what it was before."""
        if self.steps:
            self.mean = self.iterations / self.steps
            self.steps = self.iterations = 0
        return self.mean
