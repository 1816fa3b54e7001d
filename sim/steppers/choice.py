"""Which stepper advances a vehicle by a method: a compiled scheme, or a recursion that is written by hand."""

from sim.compiler.inline import Inline
from sim.compiler.kernel import compile_kernel
from sim.integrators.base import Integrator
from sim.multibody.choice import tree_stepper
from sim.steppers.stepper import SampledStepper
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import TREES


def stepper_of(
    vehicle: Vehicle, integrator: Integrator, inline: Inline | None = None, *, sampled: bool = False
) -> SampledStepper:
    """`inline`: what acts within every step of a compiled scheme; `sampled`: controls are given at its own moments.

    Raises InputError where the pair cannot work.
    """
    if vehicle.form in TREES and vehicle.form in integrator.by_recursion:
        return tree_stepper(vehicle, integrator, sampled=sampled)
    return compile_kernel(vehicle, integrator, inline, sampled=sampled)
