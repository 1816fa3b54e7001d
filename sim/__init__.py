"""Mechanics of vehicles on Lie groups: structure-preserving integrators, compiled from symbolic declarations."""

from sim.errors import InputError
from sim.integrators import Integrator, integrators
from sim.trajectory import Trajectory, simulate
from sim.vehicles import State, Vehicle, vehicle, vehicles

__all__ = [
    "InputError",
    "Integrator",
    "State",
    "Trajectory",
    "Vehicle",
    "integrators",
    "simulate",
    "vehicle",
    "vehicles",
]
