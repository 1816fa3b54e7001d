"""Lie-Euler: g <- g exp(h xi), xi <- xi + h xi' (rigid body article; mechanics survey)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.lie_group import commutator_free, explicit_scheme
from sim.integrators.nonholonomic_momentum import lie_euler_scheme
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle


@dataclass(frozen=True)
class LieEuler(Integrator):
    """Stays on the group, but is first order and gains energy."""

    name: str = "lie-euler"
    family: str = "lie-group"
    order: int = 1
    doc: str = "Forward Euler on the group. First order; kinetic energy of a turning body grows by (h omega)^2 a step."
    source: str = "rigid body article"
    force_evaluations: int = 1
    tau: str = "exp"

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return (0.0,)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, xi)."""
        group = vehicle.group
        q, h = vehicle.symbols(inputs.p), inputs.h
        y = ca.SX.sym("y", group.pose_dim + group.dim)
        g, xi = y[: group.pose_dim], y[group.pose_dim :]
        acceleration = vehicle.acceleration(g, xi, inputs.at(0.0), inputs.w, q)
        xi_next = xi + h * acceleration
        return Scheme(
            inputs=inputs,
            y=y,
            y_next=ca.vertcat(group.compose(g, group.exp(h * xi)), xi_next),
            node=y,
            start=inputs.node[: group.pose_dim + group.dim],
            free_velocity=ca.substitute(xi_next, inputs.w, ca.SX.zeros(group.dim)),
        )

    def on_shape(self, vehicle: NonholonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, r, P, p)."""
        return lie_euler_scheme(vehicle, inputs)

    def on_flow(self, flow: Any, h: Any) -> tuple[Any, Any | None]:
        return EULER.step(flow, h), None

    def by_action(self, vehicle: ActionVehicle, inputs: Inputs) -> Scheme:
        """One step on the vehicle's own space."""
        return explicit_scheme(vehicle, inputs, EULER)

    forms: ClassVar = {
        Form.EULER_POINCARE: on_group,
        Form.REDUCED_DALEMBERT: on_shape,
        Form.GROUP_ACTION: by_action,
    }


EULER = commutator_free(((),), ((1.0,),))
