"""Discrete dynamics: a vehicle with its parameters, the stepper that advances it, and the step."""

from dataclasses import dataclass, field

import numpy as np

from sim.compiler.stepper import Stepper
from sim.vehicles import Vehicle

CONTROL_PERIOD_S = 0.01
"""Controls are evaluated anew after this much simulated time, or each step where steps are longer."""


@dataclass(frozen=True, eq=False)
class Dynamics:
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
