"""Vehicles with a shape and constraints on velocity: wheels, blades, rolling (vehicles paper, section 5).

A velocity is admissible where xi = e(r) c - A(r) u: the connection A tells how the body moves with
the shape velocity u, the columns e_b of e in which directions it may move with the shape locked.
Both follow from the constraints and the Lagrangian (`reduction.py`) and may be declared where one knows
them simpler. Everything that integrators need follows from the reduced Lagrangian and these two: the momenta

    P = dl/du - A' mu   (one a shape coordinate),      p = e' mu,      mu = dl/dxi

and their rates. The forces of the constraints do no work in admissible directions and drop out.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.errors import InputError
from sim.groups import SE2, LieGroup
from sim.symbolic import replaced, solve
from sim.vehicles.base import Vehicle
from sim.vehicles.declaration import check_shown, piece
from sim.vehicles.form import Form
from sim.vehicles.nonholonomic_declaration import Constrained, check_commanded, check_constrained
from sim.vehicles.observable import Observable
from sim.vehicles.parametrised import Quantities
from sim.vehicles.rank import check_rank
from sim.vehicles.reduced import derived_basis, derived_connection, usual_parameters
from sim.vehicles.state import State
from sim.vehicles.structure import Structure
from sim.vehicles.support import Support


class NonholonomicVehicle(Vehicle):
    """Subclasses declare `lagrangian`, `constraints`, and what else applies; the rest is derived.

    All arguments and results are CasADi SX: r shape, u shape velocity, xi body velocity, g flat pose,
    `controls` in the order declared, `q` parameters by name. Declarations that contradict each other
    raise InputError at construction.
    """

    form = Form.REDUCED_DALEMBERT
    group: LieGroup = SE2
    commanded: ClassVar[Mapping[str, str]] = {}
    """Shape coordinates without dynamics -> the control that *is* their velocity."""

    def check(self) -> None:
        structure = Structure.of(self)
        check_constrained(self, _declared(structure))
        check_shown(structure)

    # What a vehicle declares.

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        """Reduced Lagrangian l(r, u, xi) [J], quadratic in the velocities."""
        raise InputError(f"vehicle {self.name!r} declares no lagrangian(r, u, xi, q)")

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """(n, n_shape + dim) W(r) of the constraints W(r) (u, xi) = 0, before any solving."""
        raise InputError(f"vehicle {self.name!r} declares no constraints(r, q)")

    def connection(self, r: ca.SX, q: Quantities) -> ca.SX:
        """(dim, n_shape) A(r): xi = -A(r) u is admissible. Left out, the mechanical connection."""
        return derived_connection(Structure.of(self))(r, self._flat(q))

    def symmetry_basis(self, r: ca.SX, q: Quantities) -> ca.SX:
        """(dim, n_b) e(r): admissible body velocities of the locked shape. No column: a Chaplygin system.

        Left out, generalised cross products of the constraints, or what is simpler.
        """
        return derived_basis(Structure.of(self))(r, self._flat(q))

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        """(n_shape,) forces and torques along the shape coordinates."""
        return ca.SX(len(self.shape_coordinates), 1)

    def external_wrench(self, g: ca.SX, xi: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        """(dim,) on the body from outside, body frame."""
        return ca.SX(self.group.dim, 1)

    # What follows.

    def _flat(self, q: Quantities) -> ca.SX:
        """The parameters as one column."""
        return ca.densify(ca.vertcat(ca.SX(0, 1), *[getattr(q, x.name) for x in self.parameters]))

    @property
    def dynamic(self) -> list[int]:
        """Indices of the shape coordinates that are not commanded."""
        return [i for i, s in enumerate(self.shape_coordinates) if s.name not in self.commanded]

    def shape_velocity(self, own: ca.SX, controls: ca.SX) -> ca.SX:
        """(n_shape,) from the velocities of the dynamic coordinates and the controls."""
        names = [c.name for c in self.controls]
        rows, at = [], 0
        for s in self.shape_coordinates:
            if s.name in self.commanded:
                rows.append(controls[names.index(self.commanded[s.name])])
            else:
                rows.append(own[at])
                at += 1
        return ca.vertcat(*rows) if rows else ca.SX(0, 1)

    def arrival(self, r: ca.SX, wanted: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Shape after a step with the wanted velocity, at a stop if it would pass one, and the velocity left."""
        target = r + h * wanted
        r_next = self.clipped(target)
        return r_next, wanted + (r_next - target) / h

    def clipped(self, r: ca.SX) -> ca.SX:
        """The nearest shape within the stops."""
        rows = [r[i] for i in range(r.shape[0])]
        for i, s in enumerate(self.shape_coordinates):
            if s.limited:
                rows[i] = ca.fmax(ca.fmin(rows[i], s.high), s.low)
        return ca.vertcat(*rows) if rows else ca.SX(0, 1)

    def body_velocity(self, r: ca.SX, u: ca.SX, c: ca.SX, q: Quantities) -> ca.SX:
        """xi = e(r) c - A(r) u."""
        return self.symmetry_basis(r, q) @ c - self.connection(r, q) @ u

    def gradients(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX, ca.SX]:
        """dl/dr, dl/du and mu = dl/dxi, the latter two as mass matrix . velocity + what remains at rest."""
        n, here = r.shape[0], ca.SX.sym("r", r.shape[0])
        velocity = ca.SX.sym("v", n + xi.shape[0])
        value = self.lagrangian(here, velocity[:n, 0], velocity[n:, 0], q)
        mass, slope = ca.hessian(value, velocity)
        at_rest = ca.substitute(slope, velocity, ca.SX.zeros(velocity.shape[0]))
        momentum = mass @ velocity + at_rest
        by_r, momentum = replaced(
            [ca.gradient(value, here), momentum], [here, velocity], [r, ca.vertcat(u, xi)]
        )
        return by_r, momentum[:n, 0], momentum[n:, 0]

    def momenta(self, r: ca.SX, by_shape: ca.SX, mu: ca.SX, q: Quantities) -> ca.SX:
        """(P, p) of dl/du and mu: P only for dynamic coordinates."""
        horizontal = by_shape - self.connection(r, q).T @ mu
        return ca.vertcat(horizontal[self.dynamic], self.symmetry_basis(r, q).T @ mu)

    def reaction(self, r: ca.SX, wrench: ca.SX, q: Quantities) -> ca.SX:
        """What a body wrench adds to the rate of (P, p)."""
        return self.momenta(r, ca.SX.zeros(r.shape[0]), wrench, q)

    def velocities(self, r: ca.SX, momenta: ca.SX, controls: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX]:
        """Shape and body velocity that have the given (P, p): the inverse Legendre transform."""
        n = len(self.dynamic)
        own = ca.SX.sym("own", momenta.shape[0])
        u = self.shape_velocity(own[:n, 0], controls)
        xi = self.body_velocity(r, u, own[n:, 0], q)
        _, by_shape, mu = self.gradients(r, u, xi, q)
        value = self.momenta(r, by_shape, mu, q)
        mass = ca.jacobian(value, own)
        zero = ca.SX.zeros(own.shape[0])
        solution = solve(ca.substitute(mass, own, zero), momenta - ca.substitute(value, own, zero))
        u, xi = replaced([u, xi], [own], [solution])
        return u, xi

    takes_impulses = True

    def struck(self, node: ca.SX, impulse: ca.SX, q: Quantities) -> ca.SX:
        """The constraints hold after it: only (P, p) take it up. Commanded coordinates keep their velocity."""
        at = self.node_layout
        _, xi, r, u = self._parts(node)
        _, by_shape, mu = self.gradients(r, u, xi, q)
        momenta = self.momenta(r, by_shape, mu, q) + self.reaction(r, impulse, q)
        held = ca.SX(len(self.controls), 1)
        names = [control.name for control in self.controls]
        for i, s in enumerate(self.shape_coordinates):
            if s.name in self.commanded:
                held[names.index(self.commanded[s.name])] = u[i]
        struck = ca.SX(node)
        struck[at.shape_velocity], struck[at.velocity] = self.velocities(r, momenta, held, q)
        return struck

    def momentum_rates(
        self, r: ca.SX, u: ca.SX, xi: ca.SX, wrench: ca.SX, controls: ca.SX, q: Quantities
    ) -> ca.SX:
        """d(P, p)/dt on admissible velocities: the nonholonomic momentum equation and its shape rows.

        P' = dl/dr + f - (dA/dt)' mu - A' (ad(xi)' mu + wrench),  p' = (de/dt)' mu + e' (ad(xi)' mu + wrench)
        """
        by_r, _, mu = self.gradients(r, u, xi, q)
        carried = ca.SX.sym("mu", self.group.dim)
        here = ca.SX.sym("r", r.shape[0])
        none = ca.SX.zeros(r.shape[0])
        turning = ca.jacobian(self.momenta(here, none, carried, q), here)
        turning = replaced([turning], [here, carried], [r, mu])[0] @ u
        push = by_r + self.shape_force(r, u, controls, q)
        return turning + self.momenta(r, push, self.group.ad(xi).T @ mu + wrench, q)

    # Public states and what is told about them.

    def _parts(self, node: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        at = self.node_layout
        return node[at.pose], node[at.velocity], node[at.shape], node[at.shape_velocity]

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """dl/du u + dl/dxi xi - l [J]."""
        _, xi, r, u = self._parts(node)
        _, by_shape, mu = self.gradients(r, u, xi, q)
        return ca.dot(by_shape, u) + ca.dot(mu, xi) - self.lagrangian(r, u, xi, q)

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Ad*_{g^-1} mu; the constraints change it."""
        g, xi, r, u = self._parts(node)
        mu = self.gradients(r, u, xi, q)[2]
        return self.group.Ad(self.group.inverse(g)).T @ mu

    def nonholonomic_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """p = e' mu, (n_b,)."""
        _, xi, r, u = self._parts(node)
        return self.symmetry_basis(r, q).T @ self.gradients(r, u, xi, q)[2]

    def constraint_residual(self, node: ca.SX, q: Quantities) -> ca.SX:
        """W(r) (u, xi), zero on admissible velocities."""
        _, xi, r, u = self._parts(node)
        return self.constraints(r, q) @ ca.vertcat(u, xi)

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """The nonholonomic momentum, where there is one; controls act inside and are no wrench on the body."""
        momentum = self.nonholonomic_momentum(node, q)
        return (Observable("momentum_p", "kg m^2/s", momentum),) if momentum.numel() else ()

    def step_observables(self, node: ca.SX, after: ca.SX, h: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """Slip: the largest violation of a constraint along the arc that leads to the next node."""
        at, group = self.node_layout, self.group
        xi = group.log(group.between(node[at.pose], after[at.pose])) / h
        u, middle = (after[at.shape] - node[at.shape]) / h, (node[at.shape] + after[at.shape]) / 2
        slip = self.constraints(middle, q) @ ca.vertcat(u, xi)
        return (Observable("slip", "m/s", ca.norm_inf(ca.densify(slip))),)

    @property
    def support(self) -> Support:
        """Wheels and blades stay on the ground, also under water."""
        natural = super().support
        return Support.GROUND if natural is Support.SURFACE else natural

    def default_state(self) -> State:
        """At rest at the group's identity, unless the vehicle says otherwise."""
        return self.state_at(self.group.identity())

    def state(  # type: ignore[override]
        self,
        *,
        theta: float = 0.0,
        x: float = 0.0,
        y: float = 0.0,
        shape: ArrayLike = (),
        shape_velocity: ArrayLike = (),
        momentum: ArrayLike = (),
    ) -> State:
        """State of a planar vehicle; the body velocity follows from the constraints.

        theta [rad], x, y [m]: heading and position; momentum: p, one number a symmetry direction.
        Raises InputError for wrong shapes, numbers that are not finite, a shape beyond its stops.
        """
        if self.group is not SE2:
            raise InputError(f"vehicle {self.name!r}: is not planar, use state_at(pose, ...)")
        return self.state_at((theta, x, y), shape=shape, shape_velocity=shape_velocity, momentum=momentum)

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """At rest: a velocity that it is put down with need not be admissible."""
        return self.state_of(self.group.from_space(T_wb), np.zeros(self.group.dim))

    def state_at(
        self,
        pose: ArrayLike,
        *,
        shape: ArrayLike = (),
        shape_velocity: ArrayLike = (),
        momentum: ArrayLike = (),
    ) -> State:
        """The same from a flat pose of the group."""
        n = len(self.shape_coordinates)
        r = self._finite("shape", shape if np.size(shape) else np.zeros(n), (n,))
        u = self._finite("shape_velocity", shape_velocity if np.size(shape_velocity) else np.zeros(n), (n,))
        for s, value in zip(self.shape_coordinates, r, strict=True):
            if not s.low <= value <= s.high:
                stops = f"{s.low:g} to {s.high:g} {s.unit}"
                raise InputError(
                    f"vehicle {self.name!r}: shape {s.name} = {value:g} is beyond its stops, {stops}"
                )
        return self.state_of(pose, self._admissible(r, u, momentum), r, u)

    def _admissible(self, r: np.ndarray, u: np.ndarray, momentum: ArrayLike) -> np.ndarray:
        """xi of given shape velocity and p."""
        velocity = _velocity_with(Structure.of(self))
        n = velocity.size1_in(2)
        p = self._finite("momentum", momentum if np.size(momentum) else np.zeros(n), (n,))
        return np.array(velocity(r, u, p, self.parameter_vector)).ravel()


@lru_cache(maxsize=64)
def _velocity_with(structure: Structure) -> ca.Function:
    """(shape, its velocity, p, parameters) -> xi, where p is linear in it."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, NonholonomicVehicle)
    n = len(vehicle.shape_coordinates)
    r, u, parameters = ca.SX.sym("r", n), ca.SX.sym("u", n), ca.SX.sym("parameters", vehicle.parameter_count)
    q = vehicle.symbols(parameters)
    basis = vehicle.symmetry_basis(r, q)
    c, p = (ca.SX.sym(name, basis.shape[1]) for name in "cp")
    xi = vehicle.body_velocity(r, u, c, q)
    if c.numel():
        value = basis.T @ vehicle.gradients(r, u, xi, q)[2]
        zero = ca.SX.zeros(c.numel())
        slope, at_rest = ca.substitute([ca.jacobian(value, c), value], [c], [zero])
        xi = replaced([xi], [c], [solve(slope, p - at_rest)])[0]
    return ca.Function("velocity", [r, u, p, parameters], [ca.densify(xi)])


@lru_cache(maxsize=64)
def _declared(structure: Structure) -> Constrained:
    vehicle = structure.vehicle
    assert isinstance(vehicle, NonholonomicVehicle)
    r, p = ca.SX.sym("r", len(vehicle.shape_coordinates)), ca.SX.sym("p", vehicle.parameter_count)
    n, d, q = r.shape[0], vehicle.group.dim, vehicle.symbols(p)
    u, xi, g = ca.SX.sym("u", n), ca.SX.sym("xi", d), ca.SX.sym("g", vehicle.group.pose_dim)
    controls = ca.SX.sym("controls", len(vehicle.controls))
    check_commanded(vehicle, vehicle.commanded)
    piece(vehicle, "shape_force", {"r": r, "u": u, "controls": controls, "q": q}, (n, 1))
    piece(vehicle, "external_wrench", {"g": g, "xi": xi, "controls": controls, "q": q}, (d, 1))
    lagrangian = piece(vehicle, "lagrangian", {"r": r, "u": u, "xi": xi, "q": q}, (1, 1))
    constraints = piece(vehicle, "constraints", {"r": r, "q": q}, (None, n + d))
    basis = piece(vehicle, "symmetry_basis", {"r": r, "q": q}, (d, None))
    connection = piece(vehicle, "connection", {"r": r, "q": q}, (d, n))
    check_rank(
        f"vehicle {vehicle.name!r}",
        ca.Function("by_body", [r, p], [ca.densify(constraints[:, n:])]),
        usual_parameters(vehicle),
        [(s.low, s.high) for s in vehicle.shape_coordinates],
        [s.name for s in vehicle.shape_coordinates],
    )
    dynamic = vehicle.dynamic
    own = ca.SX.sym("own", len(dynamic) + basis.shape[1])
    return Constrained(
        r=r,
        u=u,
        xi=xi,
        controls=controls,
        p=p,
        lagrangian=lagrangian,
        constraints=constraints,
        connection=connection,
        basis=basis,
        dynamic=tuple(dynamic),
        own=own,
        shape_velocity=vehicle.shape_velocity(own[: len(dynamic), 0], controls),
    )
