"""What advances a lane: a vehicle with its parameters, a stepper, a step."""

import time
from dataclasses import dataclass, field

import numpy as np

from sim.contact.ground import env_of
from sim.environment.surroundings import Surroundings
from sim.steppers import Stepper
from sim.vehicles import Vehicle

CONTROL_PERIOD_S = 0.01
"""Controls are evaluated anew after this much simulated time, or each step where steps are longer."""


@dataclass(frozen=True, eq=False)
class Method:
    """Immutable; a swap in flight replaces it."""

    vehicle: Vehicle
    kernel: Stepper
    step_s: float
    every_step: bool = False
    """Controls are evaluated at each step, however short: as plans have it."""
    parameters: np.ndarray = field(init=False)
    """The vehicle's, flat, as the stepper takes them."""
    control_steps: int = field(init=False)
    """Steps between two evaluations of the controls."""

    def __post_init__(self) -> None:
        steps = 1 if self.every_step else max(round(CONTROL_PERIOD_S / self.step_s), 1)
        object.__setattr__(self, "parameters", self.vehicle.parameter_vector)
        object.__setattr__(self, "control_steps", steps)

    @property
    def integrator(self) -> str:
        return self.kernel.integrator.name

    @property
    def control_period_s(self) -> float:
        return self.control_steps * self.step_s

    def __str__(self) -> str:
        return f"{self.vehicle.name} under {self.integrator} at h = {self.step_s:g} s"


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
