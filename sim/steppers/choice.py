"""Which stepper advances a vehicle by a method: a compiled scheme, or a recursion that is written by hand."""

from functools import lru_cache

from sim.compiler.kernel import compile_kernel
from sim.compiler.stepper import Inline, SampledStepper
from sim.integrators.base import Integrator
from sim.integrators.multibody import VariedMultibody
from sim.platform.errors import InputError
from sim.steppers.tree import ClosedTreeStepper, TreeStepper
from sim.steppers.varied_tree import VariedTreeStepper
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import TREES


def tree_stepper(vehicle: Vehicle, integrator: Integrator, *, sampled: bool = False) -> TreeStepper:
    """One for all values of its parameters. sampled: controls are given at the method's own moments of every step."""
    return _of_structure(Structure.of(vehicle), integrator, sampled)


@lru_cache(maxsize=32)
def _of_structure(structure: Structure, integrator: Integrator, sampled: bool) -> TreeStepper:
    vehicle = structure.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    by_impulses = bool(integrator.solver) and len(vehicle.tree.arrays.springs) > 0
    if isinstance(integrator, VariedMultibody):
        if by_impulses:
            raise InputError(
                f"{integrator.name} does not serve {vehicle.name}, which has springs between points; "
                "allowed: variational"
            )
        stepper: TreeStepper = VariedTreeStepper(vehicle, integrator)
    elif isinstance(vehicle, ClosedVehicle) or by_impulses:
        stepper = ClosedTreeStepper(vehicle, integrator)
    else:
        stepper = TreeStepper(vehicle, integrator, sampled=sampled)
    stepper.warm_up()
    return stepper


def stepper_of(
    vehicle: Vehicle, integrator: Integrator, inline: Inline | None = None, *, sampled: bool = False
) -> SampledStepper:
    """`inline`: what acts within every step of a compiled scheme; `sampled`: controls are given at its own moments.

    Raises InputError where the pair cannot work.
    """
    if vehicle.form in TREES and vehicle.form in integrator.by_recursion:
        return tree_stepper(vehicle, integrator, sampled=sampled)
    return compile_kernel(vehicle, integrator, inline, sampled=sampled)
