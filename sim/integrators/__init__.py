"""All integrators by name. One dict drives the menu, the tests and the benchmark."""

import dataclasses

from sim.errors import InputError, one_of, quote
from sim.integrators.base import KEPT, Inputs, Integrator, Scheme
from sim.integrators.composed import COMPOSED
from sim.integrators.embedded import ADAPTIVE
from sim.integrators.implicit_rk2 import ImplicitMidpoint
from sim.integrators.lie_euler import LieEuler
from sim.integrators.lie_group_methods import LIE_GROUP
from sim.integrators.multibody import MULTIBODY
from sim.integrators.newmark import LieNewmark
from sim.integrators.runge_kutta import RUNGE_KUTTA
from sim.integrators.spheres import SPHERES
from sim.integrators.symplectic import SYMPLECTIC
from sim.integrators.variational import VARIATIONAL
from sim.vehicles.base import Vehicle

INTEGRATORS: dict[str, Integrator] = {
    i.name: i
    for i in (
        *VARIATIONAL,
        *COMPOSED,
        *SPHERES,
        *SYMPLECTIC,
        LieEuler(),
        *LIE_GROUP,
        LieNewmark(),
        *ADAPTIVE,
        *RUNGE_KUTTA,
        ImplicitMidpoint(),
        *MULTIBODY,
    )
}

DEFAULT = "variational-exact"
"""What runs where nothing else is asked for: what it keeps it keeps on every rigid body."""

EXPLICIT = "rkmk4"
"""What runs where that cannot: it serves whatever a group moves."""

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
    "EXPLICIT",
    "INTEGRATORS",
    "KEPT",
    "Inputs",
    "Integrator",
    "Scheme",
    "integrator",
    "integrators",
    "serving",
    "usual",
]


def integrators() -> dict[str, Integrator]:
    """Name -> integrator, in the order of the menu."""
    return dict(INTEGRATORS)


def integrator(name: str, **options: float) -> Integrator:
    """An integrator by name; options change its numbers, e.g. `tolerance` of adaptive methods, `alpha` of variational.

    Raises InputError for an unknown name or option, and for a value that cannot work.
    """
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise InputError(f"unknown integrator {quote(name)}; allowed: {one_of(INTEGRATORS, name)}")
    method = INTEGRATORS[name]
    for key in options:
        if key not in method.options:
            raise InputError(f"{name} has no option {key!r}; allowed: {', '.join(method.options) or 'none'}")
        if not isinstance(options[key], int | float):
            raise InputError(f"{name}: {key} = {quote(options[key])} is no number; allowed: numbers")
    return dataclasses.replace(method, **options) if options else method  # type: ignore[type-var]


def serving(name: str, vehicle: Vehicle) -> str:
    """The method of that name where it serves the vehicle, else another that does; the same where none does."""
    candidates = (name, DEFAULT, EXPLICIT, *INTEGRATORS)
    return next((each for each in candidates if not INTEGRATORS[each].serves(vehicle)), name)


def usual(vehicle: Vehicle, *first: str) -> tuple[str, ...]:
    """As many as USUAL has, those that serve the vehicle: `first`, the usual ones, then others in the menu's order."""
    serving = (name for name in (*first, *USUAL, *INTEGRATORS) if not INTEGRATORS[name].serves(vehicle))
    return tuple(dict.fromkeys(serving))[: len(USUAL)]
