"""The stepper of a tree of joints, with or without closed loops."""

from functools import lru_cache

from sim.integrators.base import Integrator
from sim.integrators.multibody import VariedMultibody
from sim.multibody.closed_stepper import ClosedTreeStepper
from sim.multibody.stepper import TreeStepper
from sim.multibody.varied_stepper import VariedTreeStepper
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure, Vehicle


def tree_stepper(vehicle: Vehicle, integrator: Integrator, *, sampled: bool = False) -> TreeStepper:
    """One for all values of its parameters. sampled: controls are given at the method's own moments of every step."""
    return _of_structure(Structure.of(vehicle), integrator, sampled)


@lru_cache(maxsize=32)
def _of_structure(structure: Structure, integrator: Integrator, sampled: bool) -> TreeStepper:
    vehicle = structure.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    if isinstance(vehicle, ClosedVehicle):
        stepper: TreeStepper = ClosedTreeStepper(vehicle, integrator)
    elif isinstance(integrator, VariedMultibody):
        stepper = VariedTreeStepper(vehicle, integrator)
    else:
        stepper = TreeStepper(vehicle, integrator, sampled=sampled)
    stepper.warm_up()
    return stepper
