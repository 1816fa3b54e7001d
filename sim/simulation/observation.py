"""Observing a lane: its cached observation, what its pilot senses, and what later values are compared with."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.bounds import Bounds
from sim.control import Sensed
from sim.simulation.footing import Footing
from sim.simulation.method import Method
from sim.simulation.placing import Placement, in_world
from sim.simulation.termination import energy_bound
from sim.vehicles.forms.observation import Observation


class Sight:
    """Remembers the last node and controls by identity; neither may be written to."""

    def __init__(self) -> None:
        self._known: tuple[np.ndarray, np.ndarray, Observation] | None = None

    def forget(self) -> None:
        """The vehicle or its parameters are others from now on."""
        self._known = None

    def of(self, method: Method, node: np.ndarray, controls: np.ndarray) -> Observation:
        """What is told of a node under these controls."""
        known = self._known
        if known is None or known[0] is not node or known[1] is not controls:
            known = node, controls, method.kernel.observe(node, controls, method.parameters)
            self._known = known
        return known[2]


def poses_in_world(method: Method, footing: Footing, observation: Observation) -> np.ndarray:
    """(bodies, 4, 4) body to world, the main one first."""
    return in_world(method.vehicle.support, observation.poses, footing.world, footing.pivot_w)


def sensed(node: np.ndarray, there: Placement, footing: Footing, time_s: float) -> Sensed:
    """At a node, flat, with its place in the world, at a simulated time."""
    return Sensed(
        there.T_wb[:3, :3],
        there.T_wb[:3, 3],
        there.twist_b[:3],
        there.twist_b[3:],
        footing.clearance_m(node),
        node,
        footing.load_clearance_m(node),
        time_s,
        footing.leader_clearance_m(node),
    )


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
