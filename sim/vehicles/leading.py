"""How the controls of what follows a leader change the leader's velocity."""

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.vehicles.acted import ActionVehicle
from sim.vehicles.base import Vehicle
from sim.vehicles.structure import Structure


def has_leader(vehicle: Vehicle) -> bool:
    """All of it follows a part of its state that the controls accelerate."""
    return isinstance(vehicle, ActionVehicle) and bool(vehicle.leader)


@dataclass(frozen=True, eq=False)
class Leader:
    """Of a vehicle with its parameters, which has one."""

    place: slice
    """In a flat node [m], in the world."""
    velocity: slice
    _rate: ca.Function
    _parameters: np.ndarray
    _neutral: np.ndarray

    @staticmethod
    def of(vehicle: Vehicle) -> "Leader":
        at = _part(vehicle)
        middle = at.start + (at.stop - at.start) // 2
        rate = _rate(Structure.of(vehicle))
        return Leader(
            slice(at.start, middle),
            slice(middle, at.stop),
            rate,
            vehicle.parameter_vector,
            vehicle.neutral_controls,
        )

    def controls(self, node: np.ndarray, acceleration_w: np.ndarray) -> np.ndarray:
        """(n_controls,) under which the leader of a flat node has that acceleration (3,), whatever their ranges."""
        without, slope = (np.array(part) for part in self._rate(node, self._neutral, self._parameters))
        return self._neutral + np.linalg.lstsq(slope, acceleration_w - without.ravel(), rcond=1e-9)[0]

    def acceleration(self, node: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """(3,) of the leader of a flat node under controls (n_controls,), in the world."""
        without, slope = (np.array(part) for part in self._rate(node, self._neutral, self._parameters))
        found: np.ndarray = without.ravel() + slope @ (controls - self._neutral)
        return found

    def put(self, node: np.ndarray, place_w: np.ndarray, velocity_w: np.ndarray) -> np.ndarray:
        """A flat node with the leader there, all else as in `node`."""
        there = node.copy()
        there[self.place], there[self.velocity] = place_w, velocity_w
        return there


def _part(vehicle: Vehicle) -> slice:
    """Place and velocity of the leader in a node."""
    assert isinstance(vehicle, ActionVehicle)
    return vehicle.space.slices[vehicle.leader]


@lru_cache(maxsize=16)
def _rate(structure: Structure) -> ca.Function:
    """(node, controls, parameters) -> rate of change of the leader's velocity, and by the controls."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, ActionVehicle)
    at = _part(vehicle)
    x, u = ca.SX.sym("x", vehicle.node_layout.size), ca.SX.sym("u", len(vehicle.controls))
    p = ca.SX.sym("p", vehicle.parameter_count)
    rate = vehicle.action.generator(x, vehicle.generator(x, u, vehicle.symbols(p)))
    found = rate[list(range(at.start, at.stop))[-3:]]
    return ca.Function("rate", [x, u, p], [found, ca.densify(ca.jacobian(found, u))], {"cse": True})
