"""All integrators by name. One dict drives the menu, the tests and the benchmark."""

from sim.errors import InputError
from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.lie_euler import LieEuler
from sim.integrators.runge_kutta import RUNGE_KUTTA
from sim.integrators.variational import VARIATIONAL

INTEGRATORS: dict[str, Integrator] = {i.name: i for i in (*VARIATIONAL, LieEuler(), *RUNGE_KUTTA)}

__all__ = ["INTEGRATORS", "Inputs", "Integrator", "Scheme", "integrator", "integrators"]


def integrators() -> dict[str, Integrator]:
    """Name -> integrator, in the order of the menu."""
    return dict(INTEGRATORS)


def integrator(name: str) -> Integrator:
    """An integrator by name. Raises InputError for an unknown one."""
    if name not in INTEGRATORS:
        raise InputError(f"unknown integrator {name!r}; allowed: {', '.join(INTEGRATORS)}")
    return INTEGRATORS[name]
