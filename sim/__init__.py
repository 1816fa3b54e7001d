"""Mechanics of vehicles on Lie groups: structure-preserving integrators, compiled from symbolic declarations."""

from typing import TYPE_CHECKING, Any

from sim.errors import InputError
from sim.integrators import Integrator, integrators
from sim.trajectory import Trajectory, simulate
from sim.vehicles import State, Vehicle, vehicle, vehicles

if TYPE_CHECKING:
    from sim.planner.api import plan

__all__ = [
    "InputError",
    "Integrator",
    "State",
    "Trajectory",
    "Vehicle",
    "integrators",
    "plan",
    "simulate",
    "vehicle",
    "vehicles",
]


def __getattr__(name: str) -> Any:
    # Planning's libraries take half a second to import: only those who plan wait for them.
    if name == "plan":
        from sim.planner.api import plan

        return plan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
