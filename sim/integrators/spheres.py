"""The variational method on products of spheres (Lee, Leok, McClamroch 2009), for chains of rods."""

from dataclasses import dataclass

from sim.integrators.base import Integrator
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.rods import LinkedRods


@dataclass(frozen=True)
class SphereVariational(Integrator):
    """Unit vectors and one multiplier a rod; the step is `sim.compiler.rods`, in linear time."""

    name: str = "variational-spheres"
    family: str = "variational"
    order: int = 2
    doc: str = (
        "Variational on a product of spheres, one multiplier a rod: symplectic, second order, linear in the number of "
        "rods. Energy does not drift; the momentum about the vertical is kept to rounding."
    )
    source: str = "Lee, Leok, McClamroch 2009"
    force_evaluations: int = 2

    by_recursion: frozenset[Form] = frozenset({Form.GROUP_ACTION})

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ("momentum", "energy")

    def lacks(self, vehicle: Vehicle) -> str:
        return (
            ""
            if isinstance(vehicle, LinkedRods)
            else f"{self.name} serves chains of rods; {vehicle.name} is none"
        )


SPHERES = (SphereVariational(),)
