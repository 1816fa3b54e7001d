"""Explicit Runge-Kutta methods on a quaternion and a vector, as the vehicles paper compares against.

The quaternion is renormalised inside every stage and after every step. Nothing about the group is kept by the method
itself; position is driven by the body velocity, on SO(3) there is none. What a group moves about a space of its own
is integrated on the bare numbers of its points, which leave that space. Tableaux are data.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.coordinates import QUATERNION_CHARTS
from sim.integrators.lie_group import Method, explicit_scheme
from sim.integrators.nonholonomic import runge_kutta_scheme
from sim.integrators.scheme import MIDPOINT, Tableau, distinct
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle

KUTTA4 = Tableau(((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))


@dataclass(frozen=True)
class QuaternionRungeKutta(Integrator):
    """Stages on (q, x, xi) with the vehicle's own continuous equations."""

    name: str
    tableau: Tableau
    order: int
    doc: str
    family: str = "runge-kutta"
    source: str = "vehicles paper, section 4, comparators"
    by_recursion: frozenset[Form] = frozenset()

    @property
    def force_evaluations(self) -> int:  # type: ignore[override]
        return len(self.tableau.b)

    def lacks(self, vehicle: Vehicle) -> str:
        return no_quaternion(self.name, vehicle) if vehicle.form is Form.EULER_POINCARE else ""

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return distinct(self.tableau.c)

    def on_shape(self, vehicle: NonholonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (chart, r, P, p)."""
        return runge_kutta_scheme(vehicle, inputs, self.tableau)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (chart, xi)."""
        chart = QUATERNION_CHARTS[vehicle.group]
        q, h, n = vehicle.symbols(inputs.p), inputs.h, chart.size
        y = ca.SX.sym("y", n + vehicle.group.dim)

        def rate(s: ca.SX, moment: float) -> ca.SX:
            acceleration = vehicle.acceleration(chart.decode(s[:n]), s[n:], inputs.at(moment), inputs.w, q)
            return ca.vertcat(chart.rate(s[:n], s[n:]), acceleration)

        end, first = self.tableau.step(rate, y, h)
        free = y[n:] + h * ca.substitute(first[n:], inputs.w, ca.SX.zeros(vehicle.group.dim))
        layout = vehicle.node_layout
        return Scheme(
            inputs=inputs,
            y=y,
            y_next=ca.vertcat(chart.renormalised(end[:n]), end[n:]),
            node=ca.vertcat(chart.decode(y[:n]), y[n:]),
            start=ca.vertcat(chart.encode(inputs.node[layout.pose]), inputs.node[layout.velocity]),
            free_velocity=free,
        )

    def on_flow(self, flow: Any, h: Any) -> tuple[Any, Any | None]:
        """On the bare numbers of the point."""
        return self.tableau.step(lambda y, moment: flow.tangent(y, flow.rate(y, moment)), flow.y, h)[0], None

    def on_embedding(self, vehicle: ActionVehicle, inputs: Inputs) -> Scheme:
        """One step on the numbers of a point: nothing keeps it on its space."""
        step = Method(lambda flow, h: self.on_flow(flow, h)[0], self.tableau.c)
        return explicit_scheme(vehicle, inputs, step)

    forms: ClassVar = {
        Form.EULER_POINCARE: on_group,
        Form.REDUCED_DALEMBERT: on_shape,
        Form.GROUP_ACTION: on_embedding,
    }


def no_quaternion(name: str, vehicle: Vehicle) -> str:
    """Why a method that stores a quaternion cannot serve a vehicle; empty where it can."""
    if vehicle.group in QUATERNION_CHARTS:
        return ""
    return f"{name} stores a quaternion and needs a body on SE(3) or SO(3); {vehicle.name} is none"


RUNGE_KUTTA: tuple[QuaternionRungeKutta, ...] = (
    QuaternionRungeKutta(
        "rk2", MIDPOINT, 2, "Explicit midpoint on a renormalised quaternion. Blows up early at large steps."
    ),
    QuaternionRungeKutta(
        "rk4",
        KUTTA4,
        4,
        "Classical Runge-Kutta on a renormalised quaternion. The most accurate at small steps and short times; "
        "loses energy, and blows up where h |omega| is large. Of trees it integrates "
        "articulated-body accelerations.",
        by_recursion=frozenset({Form.TREE}),
    ),
)
