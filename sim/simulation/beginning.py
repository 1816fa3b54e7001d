"""How a lane began: with what its energy, its momentum and its bounds are compared."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.bounds import Bounds
from sim.simulation.method import Method
from sim.simulation.verdict import energy_bound
from sim.vehicles.observation import Observation


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """What was told of the node that it began with."""

    energy_J: float
    momentum_w: np.ndarray
    """(6,) angular, then linear."""
    observables: Mapping[str, float | np.ndarray]
    bounds: Bounds

    @classmethod
    def of(
        cls, method: Method, node: np.ndarray, seen: Observation, asked_bound_J: float | None
    ) -> "Beginning":
        """asked_bound_J: of the energy; without one it follows from the vehicle."""
        vehicle = method.vehicle
        bound_J = asked_bound_J or energy_bound(vehicle, seen.energy_J)
        return cls(
            energy_J=seen.energy_J,
            momentum_w=vehicle.twist_embedding @ seen.momentum_w,
            observables=seen.observables,
            bounds=Bounds.of(vehicle, node, method.step_s, bound_J),
        )
