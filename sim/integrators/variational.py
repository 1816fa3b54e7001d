"""Variational integrators; of holonomic vehicles here (vehicles paper, eqs. 9-10), of others in `nonholonomic.py`.

The step from node k solves, for the velocity xi_k of the arc to node k+1,

    C(h xi_k)' mu_k = p_k + h/2 f(g_k, xi_k, u_k) + h w_k,      g_{k+1} = g_k tau(h xi_k)
    p_{k+1} = C(-h xi_k)' mu_k + h/2 f(g_{k+1}, xi_k, u_k)

with mu = I xi and C = d tau^-1. Its private state is (g_k, p_k), p_k the momentum at the node: the discrete
Legendre transform, which also starts the method with full order, p_0 = I xi(0).

A row u_k is held over its step: half of its impulse acts at the step's start, half at its end, so at a node the
force is the mean of both neighbours'. (The paper's h f_k with row k would make every method of the family first
order under inputs that change.) Forces that depend on velocity take the arc's, like an implicit midpoint rule:
drag may be stiff. The wrench w of the environment is found once a step, at node k, and acts there whole, so that
contact stops the arc at once; half of that impulse belongs to the arriving arc, and what a user sees as velocity
at the node is I^-1 (p_k + h/2 w_k).

The symplectic theta family on T*G (mechanics survey, eqs. 15-17) stands below it.

With the right trivialisation carried over to body velocities: eta/h is the twist at g_theta = g exp(theta eta),
m its momentum, f the wrench there, and

    N = h f + ad(eta)' m,      mu_1 = mu_0 + N,
    Ad(exp(-theta eta))' m = dexp(-eta)' (mu_0 + N) - theta dexp(-theta eta)' N.

theta = 0 is `variational-exp` with the whole impulse at the start of the step, theta = 1 with the whole
impulse at its end; theta = 1/2 is symmetric and of second order.
"""

from typing import ClassVar

import casadi as ca

from sim.groups import SE3, SO3, SO3_R3, LieGroup
from sim.groups.so3 import hat, left_jacobian
from sim.integrators.base import TREE_SOLVERS, Arc, Inputs, Integrator, Scheme
from sim.integrators.flow import (
    CAY,
    CAY_TLN,
    CCSK,
    EXP,
    EXP_TLN,
    DifferenceMap,
    conserves_energy,
    frames,
    isotropic_mass,
    simplest_group,
    wrench_on,
)
from sim.integrators.multibody import closed_tree_scheme, tree_scheme
from sim.integrators.nonholonomic import nonholonomic_samples, nonholonomic_scheme
from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass
from sim.symbolic import solve
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import TREES, Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.rods import LinkedRods


def holonomic_scheme(
    vehicle: HolonomicVehicle, inputs: Inputs, chart: DifferenceMap, group: LieGroup
) -> Scheme:
    """Expressions of one step; `group` is the vehicle's own, or SO(3) x R^3 for the split form."""
    q, h, u = vehicle.symbols(inputs.p), inputs.h, inputs.at(0.5)
    g, momentum, xi = ca.SX.sym("g", group.pose_dim), ca.SX.sym("m", group.dim), ca.SX.sym("xi", group.dim)
    to_group, to_body = frames(group, g)

    def half_impulse(pose: ca.SX, velocity: ca.SX) -> ca.SX:
        """In the group's trivialisation, as `velocity`."""
        return h / 2 * wrench_on(vehicle, group, pose, frames(group, pose)[1] @ velocity, u, q)

    mu = vehicle.momentum(xi, q)
    g_next = group.compose(g, chart.tau(group, h * xi))
    arriving = chart.momentum_after(group, h * xi, mu)

    # The forces at the node have begun to pull already: a body that stands came to it with no velocity at all.
    came = vehicle.velocity_of(momentum - half_impulse(g, ca.SX(group.dim, 1)), q)
    pushed = momentum + half_impulse(g, came)
    sure = pushed + h * (to_group @ inputs.w)
    first = vehicle.velocity_of(sure, q)
    turned = 2 * sure - group.tln_inv(h * first).T @ vehicle.momentum(first, q)
    guess = vehicle.velocity_of(turned, q)
    inertia = ca.jacobian(mu, xi)
    if chart is CAY and group is SE3 and not inertia[:3, 3:].nnz():
        turning = inertia[:3, :3] @ guess[:3]
        guess = ca.vertcat(solve(_stiffened(inertia, h / 2 * sure[3:]), turning), guess[3:])

    start_g, start_xi = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
    start_momentum = frames(group, start_g)[0] @ vehicle.momentum(start_xi, q)
    arrived = h / 2 * wrench_on(vehicle, group, start_g, start_xi, u, q)
    return Scheme(
        inputs=inputs,
        y=ca.vertcat(g, momentum),
        z=xi,
        residual=chart.balance(group, h * xi, mu, momentum + half_impulse(g, xi) + h * (to_group @ inputs.w)),
        guess=guess,
        y_next=ca.vertcat(g_next, arriving + half_impulse(g_next, xi)),
        node=ca.vertcat(g, vehicle.velocity_of(to_body @ momentum + h / 2 * inputs.w, q)),
        start=ca.vertcat(start_g, start_momentum),
        free_velocity=vehicle.velocity_of(to_body @ pushed, q),
        carried=ca.vertcat(start_g, start_momentum + arrived),
        pushed=ca.vertcat(start_g, start_momentum - h / 2 * (frames(group, start_g)[0] @ inputs.w)),
        updates_per_jacobian=_updates_per_jacobian(chart, group),
    )


def _updates_per_jacobian(chart: DifferenceMap, group: LieGroup) -> int:
    """After a good guess one more, cheap update is enough; on SE(3) a third costs a quarter of another Jacobian."""
    if chart not in (CAY, CAY_TLN):
        return 1
    return 3 if chart is CAY and group is SE3 else 2


def _stiffened(inertia: ca.SX, half_push: ca.SX) -> ca.SX:
    """Inertia of rotation (3, 3) on SE(3), with what it is more of an arc that travels: its momentum turns with it.

    half_push: (3,) h/2 times its linear momentum. To first order in the angle, as dcay^-1 has it; without this term
    the guess is far off where a body travels more in a step than its radius of gyration.
    """
    lever = hat(half_push)
    return inertia[:3, :3] - lever @ solve(inertia[3:, 3:], lever)


@dataclass(frozen=True)
class Variational(Integrator):
    """One member of the family."""

    name: str
    chart: DifferenceMap
    doc: str
    on: str = "own"
    """Group of a rigid body's poses: the vehicle's `own`; `split`, SO(3) x R^3; `simplest`, that where it can be."""
    alpha: float = 0.5
    """Quadrature point of vehicles with a shape, in [0, 1]; second order only at 1/2."""
    order: int = 2
    family: str = "variational"
    source: str = "vehicles paper, eqs. 9-10 and 16-17"
    options: tuple[str, ...] = ("alpha",)
    solver: str = ""
    by_recursion: frozenset[Form] = frozenset()

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"{self.name}: alpha = {self.alpha!r} is no quadrature point; allowed: 0 to 1")
        if self.solver and self.solver not in TREE_SOLVERS:
            raise InputError(
                f"{self.name}: unknown solver {quote(self.solver)}; allowed: {one_of(TREE_SOLVERS, self.solver)}"
            )

    force_evaluations: int = 2

    @property
    def tau(self) -> str:  # type: ignore[override]
        return self.chart.name

    def lacks(self, vehicle: Vehicle) -> str:
        if isinstance(vehicle, NonholonomicVehicle) and (self.on == "split" or not self.chart.odd):
            return f"{self.name} needs a holonomic vehicle; {vehicle.name} has constraints"
        if self.on == "split" and isinstance(vehicle, HolonomicVehicle) and not isotropic_mass(vehicle):
            return f"{self.name} needs SE(3) and a mass that is the same in all directions; {vehicle.name} has none"
        return ""

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return nonholonomic_samples(vehicle) if isinstance(vehicle, NonholonomicVehicle) else (0.5,)

    def _group(self, vehicle: HolonomicVehicle) -> LieGroup:
        return {"own": vehicle.group, "split": SO3_R3, "simplest": simplest_group(vehicle)}[self.on]

    def arc_of(self, vehicle: HolonomicVehicle) -> Arc:
        return Arc(self._group(vehicle), self.tau, ((0.0, 0.5), (1.0, 0.5)))

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, momentum)."""
        return holonomic_scheme(vehicle, inputs, self.chart, self._group(vehicle))

    def on_shape(self, vehicle: NonholonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, r, P, p)."""
        chart = CAY_TLN if self.on == "simplest" else self.chart
        return nonholonomic_scheme(vehicle, inputs, chart, self.alpha)

    forms: ClassVar = {Form.EULER_POINCARE: on_group, Form.REDUCED_DALEMBERT: on_shape}

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        if isinstance(vehicle, NonholonomicVehicle):
            return ("constraints",)
        if vehicle.form in TREES:
            return ("momentum", "energy")
        if self.chart in (CAY_TLN, EXP_TLN):
            # On SO(3) the truncated step turns the momentum by the Cayley rotation itself: in space it stays.
            momentum = ("momentum",) if self.chart is CAY_TLN and vehicle.group is SO3 else ()
            return (*momentum, "free energy") if conserves_energy(vehicle) else momentum
        return ("momentum", "energy") if conserves_energy(vehicle) else ("momentum",)


class OnTrees(Variational):
    """A member that serves trees of joints, too: advanced by recursions, whose step there are equations of as well."""

    forms: ClassVar = {**Variational.forms, Form.TREE: tree_scheme, Form.CLOSED_TREE: closed_tree_scheme}


class OnShape(Variational):
    """A member that differs from `variational` only where a vehicle has a shape."""

    forms: ClassVar = {Form.REDUCED_DALEMBERT: Variational.on_shape}


_ALPHA = "Shape taken at the {at} of the step (alpha = {alpha}). First order; `variational` has alpha = 1/2."

VARIATIONAL: tuple[Variational, ...] = (
    Variational(
        "variational-exact",
        CAY,
        "Cayley map with its exact inverse differential on the simplest group: SO(3) x R^3 where the mass is the same "
        "in all directions, else the vehicle's own. Symplectic: spatial momentum to rounding, no drift of energy on "
        "any body. Second order, robust at large steps. Vehicles with wheels or blades: as `variational`.",
        on="simplest",
    ),
    OnTrees(
        "variational",
        CAY_TLN,
        "Cayley map, inverse differential truncated after its linear term: the vehicles paper's recommendation. "
        "Second order, robust at large steps; kinetic energy of a free body is exact, but under weight a body without "
        "symmetry drifts in energy over long times. Planar vehicles move by the third Pade approximant of exp instead, "
        "of which the Cayley map is the first: as cheap, with the right angle. Trees of joints, in linear time in the "
        "number of bodies, have the exact inverse differential: energy does not drift, momentum is kept.",
        options=("alpha", "solver"),
        solver="riqn",
        by_recursion=frozenset(TREES),
    ),
    Variational(
        "variational-cay",
        CAY,
        "Cayley map with its exact inverse differential on the vehicle's own group: spatial momentum is kept to "
        "rounding. On SE(3) weight disturbs the attitude of bodies with small inertia. Second order.",
    ),
    Variational(
        "variational-exp",
        EXP,
        "Exponential map with its exact inverse differential: spatial momentum is kept to rounding. Second order; "
        "beyond half a turn a step its equation may have no solution, and on SE(3) weight disturbs the attitude.",
    ),
    Variational(
        "variational-exp-tln",
        EXP_TLN,
        "Exponential map, truncated inverse differential. Second order; drifts more in position than cay.",
    ),
    Variational(
        "variational-split",
        CAY,
        "Cayley map on SO(3) x R^3 with the velocity in the world frame: free flight is exact. Second order.",
        on="split",
    ),
    Variational(
        "variational-ccsk",
        CCSK,
        "Canonical coordinates of the second kind on SO(3) x R^3. They are not symmetric, so first order only, and "
        "singular at a quarter turn about y in one step; spatial momentum is kept to rounding.",
        on="split",
        order=1,
    ),
    OnShape("variational-alpha0", CAY_TLN, _ALPHA.format(at="start", alpha=0), alpha=0.0, order=1),
    OnShape("variational-alpha1", CAY_TLN, _ALPHA.format(at="end", alpha=1), alpha=1.0, order=1),
)


@dataclass(frozen=True)
class SphereVariational(Integrator):
    """Unit vectors and one multiplier a rod; the step is `sim.compiler.copies`, in linear time."""

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


def _dexp(x: ca.SX) -> ca.SX:
    """Right-trivialised tangent of exp on SO(3), or SO(3) x R^3."""
    return ca.diagcat(left_jacobian(x[:3]), ca.SX.eye(x.shape[0] - 3))


@dataclass(frozen=True)
class SymplecticTheta(Integrator):
    """One member of the family."""

    name: str
    theta: float
    order: int
    doc: str
    family: str = "symplectic"
    source: str = "mechanics survey, eqs. 15-17"
    tau: str = "exp"
    force_evaluations: int = 1

    def lacks(self, vehicle: Vehicle) -> str:
        if isinstance(vehicle, HolonomicVehicle) and simplest_group(vehicle) in (SO3, SO3_R3):
            return ""
        return f"{self.name} needs SO(3), or SE(3) and a mass that is the same in all directions, unlike {vehicle.name}"

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return (self.theta,)

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ("momentum", "energy") if conserves_energy(vehicle) else ("momentum",)

    def arc_of(self, vehicle: HolonomicVehicle) -> Arc:
        return Arc(simplest_group(vehicle), self.tau, ((self.theta, 1.0),))

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, mu)."""
        group, theta = simplest_group(vehicle), self.theta
        u = inputs.at(theta)
        q, h = vehicle.symbols(inputs.p), inputs.h
        g, mu, xi = ca.SX.sym("g", group.pose_dim), ca.SX.sym("m", group.dim), ca.SX.sym("xi", group.dim)

        def moved(share: float) -> ca.SX:
            return group.compose(g, group.exp(share * h * xi)) if share else g

        middle = moved(theta)
        to_group, to_body = frames(group, middle)
        twist = to_body @ xi
        m = to_group @ vehicle.momentum(twist, q)
        force = to_group @ (vehicle.wrench(middle, twist, u, q) + inputs.w)
        change = h * force + h * group.ad(xi).T @ m
        shifted = group.Ad(group.exp(-theta * h * xi)).T @ m if theta else m
        kept = _dexp(-h * xi).T @ (mu + change)
        residual = shifted - kept + (theta * _dexp(-theta * h * xi).T @ change if theta else 0)

        here_to_group, here_to_body = frames(group, g)
        node_twist = vehicle.velocity_of(here_to_body @ mu, q)
        node_force = vehicle.wrench(g, node_twist, u, q)
        accelerated = vehicle.acceleration(g, node_twist, u, ca.SX.zeros(group.dim), q)
        first = vehicle.velocity_of(here_to_body @ mu + h / 2 * (node_force + inputs.w), q)
        start_g, start_twist = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
        return Scheme(
            inputs=inputs,
            y=ca.vertcat(g, mu),
            z=xi,
            residual=residual,
            guess=here_to_group @ first,
            y_next=ca.vertcat(moved(1.0), mu + change),
            node=ca.vertcat(g, node_twist),
            start=ca.vertcat(start_g, frames(group, start_g)[0] @ vehicle.momentum(start_twist, q)),
            free_velocity=node_twist + h * accelerated,
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}


SYMPLECTIC: tuple[SymplecticTheta, ...] = (
    SymplecticTheta(
        "symplectic-0", 0.0, 1, "theta = 0: impulse at the start of the step. Symplectic, first order."
    ),
    SymplecticTheta(
        "symplectic-half", 0.5, 2, "theta = 1/2: forces in the middle. Symplectic, second order."
    ),
    SymplecticTheta(
        "symplectic-1", 1.0, 1, "theta = 1: impulse at the end of the step. Symplectic, first order."
    ),
)
