"""All integrators by name. One dict drives the menu, the tests and the benchmark."""

import dataclasses
from collections.abc import Mapping

from sim.integrators.base import KEPT, TREE_SOLVERS, Inputs, Integrator, Scheme
from sim.integrators.classical import RUNGE_KUTTA, ImplicitMidpoint, LieEuler, LieNewmark
from sim.integrators.composed import COMPOSED
from sim.integrators.discrete_gradient import DiscreteGradient
from sim.integrators.embedded import ADAPTIVE
from sim.integrators.lie_group import LIE_GROUP
from sim.integrators.multibody import MULTIBODY
from sim.integrators.variational import SPHERES, SYMPLECTIC, VARIATIONAL
from sim.platform.errors import InputError, one_of, quote
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form

INTEGRATORS: dict[str, Integrator] = {
    i.name: i
    for i in (
        *VARIATIONAL,
        *COMPOSED,
        *SPHERES,
        *SYMPLECTIC,
        DiscreteGradient(),
        LieEuler(),
        *LIE_GROUP,
        LieNewmark(),
        *ADAPTIVE,
        *RUNGE_KUTTA,
        ImplicitMidpoint(),
        *MULTIBODY,
    )
}

DEFAULTS: Mapping[Form, str] = {
    Form.EULER_POINCARE: "variational-exact",
    Form.REDUCED_DALEMBERT: "variational-exact",
    Form.GROUP_ACTION: "rkmk4",
    Form.TREE: "riqn",
    Form.CLOSED_TREE: "riqn",
}
"""What runs where no method is named, by what a vehicle declares. Variational where there is such a method for every
vehicle of that form; what a group moves stays on its space under rkmk4, which serves all of these."""

DEFAULT = DEFAULTS[Form.EULER_POINCARE]
"""Of a rigid body."""

USUAL = (
    DEFAULT,
    "variational",
    "rkmk4",
    "rk4",
    "rk2",
    "variational-cay",
    "cf4",
    "newmark",
    "variational-4",
    "implicit-rk2",
)
"""What is compared most often."""

__all__ = [
    "DEFAULT",
    "DEFAULTS",
    "INTEGRATORS",
    "KEPT",
    "TREE_SOLVERS",
    "Inputs",
    "Integrator",
    "Scheme",
    "default_for",
    "integrator",
    "integrators",
    "serving",
    "usual",
]


def integrators() -> dict[str, Integrator]:
    """Name -> integrator, in the order of the menu; names that others have beside their own among them."""
    return dict(INTEGRATORS)


def integrator(name: str, **options: float | str) -> Integrator:
    """An integrator by name; options change its numbers, e.g. `tolerance` of adaptive methods, `alpha` of variational.

    Raises InputError for an unknown name or option, and for a value that cannot work.
    """
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise InputError(f"unknown integrator {quote(name)}; allowed: {one_of(INTEGRATORS, name)}")
    method = INTEGRATORS[name]
    for key in options:
        if key not in method.options:
            raise InputError(f"{name} has no option {key!r}; allowed: {', '.join(method.options) or 'none'}")
        if key == "solver":
            if options[key] not in TREE_SOLVERS:
                raise InputError(
                    f"{name}: unknown solver {quote(options[key])}; allowed: {one_of(TREE_SOLVERS, options[key])}"
                )
        elif not isinstance(options[key], int | float):
            raise InputError(f"{name}: {key} = {quote(options[key])} is no number; allowed: numbers")
    return dataclasses.replace(method, **options) if options else method  # type: ignore[type-var]


def default_for(vehicle: Vehicle) -> str:
    """The method that runs where none is named: the usual one of the vehicle's form, else the first that serves it."""
    usual = DEFAULTS[vehicle.form]
    return next((name for name in (usual, *INTEGRATORS) if not INTEGRATORS[name].serves(vehicle)), usual)


def serving(name: str, vehicle: Vehicle) -> str:
    """The method of that name where it serves the vehicle, else the one that runs where none is named."""
    return default_for(vehicle) if INTEGRATORS[name].serves(vehicle) else name


def usual(vehicle: Vehicle, *first: str) -> tuple[str, ...]:
    """As many as USUAL has, those that serve the vehicle: `first`, the usual ones, then others in the menu's order."""
    named = (*first, *(name for name in (*USUAL, *INTEGRATORS) if not INTEGRATORS[name].alias_of))
    serving = (name for name in named if not INTEGRATORS[name].serves(vehicle))
    return tuple(dict.fromkeys(serving))[: len(USUAL)]
