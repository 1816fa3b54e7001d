"""What the vehicles paper compares its variational methods with: RK4 on numbers, Lie-Euler, Lie-Newmark, implicit RK2.

Explicit Runge-Kutta methods on a quaternion and a vector, by their tableaux: the quaternion is renormalised inside
every stage and after every step. Nothing about the group is kept by the method itself; position is driven by the body
velocity, on SO(3) there is none. What a group moves about a space of its own is integrated on the bare numbers of its
points, which leave that space.

Lie-Euler: g <- g exp(h xi), xi <- xi + h xi' (rigid body article; mechanics survey). Lie-Newmark after Krysl and
Endres (beta = 0, gamma = 1/2), on any group as in the vehicles paper. Implicit RK2 is the implicit midpoint rule for
the velocity with explicit reconstruction.
"""

from typing import Any, ClassVar

import casadi as ca

from sim.integrators.base import MIDPOINT, Inputs, Integrator, Scheme, Tableau, distinct
from sim.integrators.flow import QUATERNION_CHARTS
from sim.integrators.lie_group import ExplicitStep, commutator_free, explicit_scheme
from sim.integrators.nonholonomic import lie_euler_scheme, runge_kutta_scheme
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import TREES, Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Quantities

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
        step = ExplicitStep(lambda flow, h: self.on_flow(flow, h)[0], self.tableau.c)
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
        by_recursion=frozenset(TREES),
    ),
)


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


@dataclass(frozen=True)
class ImplicitMidpoint(Integrator):
    """xi_m = xi + h/2 xi'(g_m, xi_m), then an explicit midpoint step of the quaternion with xi_m."""

    name: str = "implicit-rk2"
    family: str = "runge-kutta"
    order: int = 2
    doc: str = (
        "Implicit midpoint for the velocity, explicit quaternion reconstruction. Keeps the energy of a free body "
        "but not its pose at large steps. Second order."
    )
    source: str = "vehicles paper, section 3.3"
    force_evaluations: int = 1

    def lacks(self, vehicle: Vehicle) -> str:
        return no_quaternion(self.name, vehicle)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (quaternion, place, xi)."""
        chart, dim = QUATERNION_CHARTS[vehicle.group], vehicle.group.dim
        q, h, n = vehicle.symbols(inputs.p), inputs.h, chart.size
        y, middle = ca.SX.sym("y", n + dim), ca.SX.sym("z", dim)
        s, xi = y[:n], y[n:]
        halfway = chart.renormalised(s + h / 2 * chart.rate(s, xi))
        end = s + h * chart.rate(halfway, middle)
        here, w = chart.decode(s), inputs.w
        now = vehicle.acceleration(here, xi, inputs.at(0.5), w, q)
        layout = vehicle.node_layout
        return Scheme(
            inputs=inputs,
            y=y,
            z=middle,
            residual=_imbalance(vehicle, chart.decode(halfway), xi, middle, inputs, q),
            guess=xi + h / 2 * now,
            y_next=ca.vertcat(chart.renormalised(end), 2 * middle - xi),
            node=ca.vertcat(here, xi),
            start=ca.vertcat(chart.encode(inputs.node[layout.pose]), inputs.node[layout.velocity]),
            free_velocity=ca.substitute(xi + h * now, w, ca.SX.zeros(dim)),
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}


def _imbalance(
    vehicle: HolonomicVehicle, g: ca.SX, xi: ca.SX, middle: ca.SX, inputs: Inputs, q: Quantities
) -> ca.SX:
    """I (xi_m - xi) - h/2 (ad(xi_m)' mu_m + f)."""
    mu = vehicle.momentum(middle, q)
    force = vehicle.group.ad(middle).T @ mu + vehicle.wrench(g, middle, inputs.at(0.5), q) + inputs.w
    return vehicle.inertia(q) @ (middle - xi) - inputs.h / 2 * force


@dataclass(frozen=True)
class LieNewmark(Integrator):
    """g_{k+1} = g_k exp(h xi_k + h^2/2 xi'_k); xi_{k+1} by the trapezoidal rule, implicit in itself only."""

    name: str = "newmark"
    family: str = "lie-group"
    order: int = 2
    doc: str = (
        "Lie-Newmark: exponential of velocity and acceleration, trapezoidal rule for the velocity. Second order; "
        "position drifts more than with the variational methods."
    )
    source: str = "Krysl and Endres 2005, as in the vehicles paper, section 3.3"
    force_evaluations: int = 2
    tau: str = "exp"

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, xi)."""
        group = vehicle.group
        q, h, inertia = vehicle.symbols(inputs.p), inputs.h, vehicle.inertia(vehicle.symbols(inputs.p))
        y, end = ca.SX.sym("y", group.pose_dim + group.dim), ca.SX.sym("z", group.dim)
        g, xi = y[: group.pose_dim], y[group.pose_dim :]

        def force(pose: ca.SX, velocity: ca.SX) -> ca.SX:
            turning = group.ad(velocity).T @ vehicle.momentum(velocity, q)
            return turning + vehicle.wrench(pose, velocity, inputs.at(0.5), q) + inputs.w

        acceleration = vehicle.acceleration(g, xi, inputs.at(0.5), inputs.w, q)
        g_next = group.compose(g, group.exp(h * (xi + h / 2 * acceleration)))
        return Scheme(
            inputs=inputs,
            y=y,
            z=end,
            residual=inertia @ (end - xi) - h / 2 * (force(g, xi) + force(g_next, end)),
            guess=xi + h * acceleration,
            y_next=ca.vertcat(g_next, end),
            node=y,
            start=inputs.node[: group.pose_dim + group.dim],
            free_velocity=ca.substitute(xi + h * acceleration, inputs.w, ca.SX.zeros(group.dim)),
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}
