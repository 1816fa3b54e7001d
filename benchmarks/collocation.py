"""Direct collocation as integrators, for comparison: their stages are the unknowns of a step.

A planner that takes any scheme with a residual gets direct collocation by being handed one of these.
"""

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.flow import CHARTS
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle

_ROOT = np.sqrt(3.0) / 6.0


@dataclass(frozen=True)
class Collocation(Integrator):
    """Implicit Runge-Kutta stages on (angle or quaternion, position, body velocity), inputs held over the step."""

    name: str
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    order: int
    doc: str = ""
    family: str = "collocation"
    source: str = "benchmark"

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step with the stages' slopes as unknowns."""
        chart = CHARTS[vehicle.group]
        q, h, n = vehicle.symbols(inputs.p), inputs.h, chart.size
        size = n + vehicle.group.dim
        y, z = ca.SX.sym("y", size), ca.SX.sym("z", size * len(self.b))

        def rate(s: ca.SX) -> ca.SX:
            g, xi = chart.decode(s[:n]), s[n:]
            return ca.vertcat(chart.rate(s[:n], xi), vehicle.acceleration(g, xi, inputs.u, inputs.w, q))

        slopes = ca.reshape(z, size, len(self.b))
        rows = [slopes[:, i] - rate(y + h * (slopes @ ca.DM(list(row)))) for i, row in enumerate(self.a)]
        start = ca.vertcat(
            chart.encode(inputs.node[vehicle.node_layout.pose]), inputs.node[vehicle.node_layout.velocity]
        )
        return Scheme(
            inputs=inputs,
            y=y,
            z=z,
            residual=ca.vertcat(*rows),
            guess=ca.repmat(rate(y), len(self.b), 1),
            y_next=y + h * (slopes @ ca.DM(list(self.b))),
            node=ca.vertcat(chart.decode(y[:n]), y[n:]),
            start=start,
            free_velocity=y[n:],
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}


GAUSS_2 = Collocation("gauss-2", ((0.25, 0.25 - _ROOT), (0.25 + _ROOT, 0.25)), (0.5, 0.5), 4)
LOBATTO_2 = Collocation("trapezoid", ((0.0, 0.0), (0.5, 0.5)), (0.5, 0.5), 2)
LOBATTO_3 = Collocation(
    "hermite-simpson",
    ((0.0, 0.0, 0.0), (5 / 24, 1 / 3, -1 / 24), (1 / 6, 2 / 3, 1 / 6)),
    (1 / 6, 2 / 3, 1 / 6),
    4,
)
COLLOCATION = (LOBATTO_2, LOBATTO_3, GAUSS_2)
