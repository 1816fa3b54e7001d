"""Mechanics of vehicles with a shape and constraints on velocity, as expressions (vehicles paper, section 5).

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

from sim.groups import SE2, LieGroup
from sim.platform.errors import InputError
from sim.symbolic import operations, replaced, solve
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.declaration import piece
from sim.vehicles.forms.parameters import Quantities
from sim.vehicles.forms.reduction import Reduction, SamplePoints

_MUCH = 2
"""Times as long as the gradient: then a mass matrix is not worth it."""


def usual_parameters(vehicle: Vehicle) -> np.ndarray:
    """(parameters,) their defaults: what is found out once a structure must not depend on which variant came first."""
    values = [np.atleast_1d(np.asarray(x.default, float)) for x in vehicle.parameters]
    return np.concatenate([np.zeros(0), *values])


@lru_cache(maxsize=64)
def _reduction(structure: Structure) -> Reduction:
    vehicle = structure.vehicle
    r, p = ca.SX.sym("r", len(vehicle.shape_coordinates)), ca.SX.sym("p", vehicle.parameter_count)
    shapes = vehicle.shape_coordinates
    constraints = piece(
        vehicle, "constraints", {"r": r, "q": vehicle.symbols(p)}, (None, r.shape[0] + vehicle.group.dim)
    )
    absent = [np.full(x.size, x.name in vehicle.absent) for x in vehicle.parameters]
    at = SamplePoints.of(
        r,
        p,
        [(s.low, s.high) for s in shapes],
        usual_parameters(vehicle),
        np.concatenate([np.zeros(0, bool), *absent]),
    )
    assert isinstance(vehicle, ReducedMotion)
    where, names = f"vehicle {vehicle.name!r}", [s.name for s in shapes]
    return Reduction(where, constraints, len(shapes), names, at, vehicle.bound)


@lru_cache(maxsize=64)
def derived_basis(structure: Structure) -> ca.Function:
    """(r, p) -> e."""
    known = _reduction(structure)
    return ca.Function("basis", [known.at.r, known.at.p], [known.basis])


@lru_cache(maxsize=64)
def derived_connection(structure: Structure) -> ca.Function:
    """(r, p) -> A, mechanical."""
    known, vehicle = _reduction(structure), structure.vehicle
    r, p = known.at.r, known.at.p
    q, n, d = vehicle.symbols(p), r.shape[0], vehicle.group.dim
    velocity = ca.SX.sym("v", n + d)
    arguments: dict[str, ca.SX | Quantities] = {"r": r, "u": velocity[:n, 0], "xi": velocity[n:, 0], "q": q}
    inertia = ca.hessian(piece(vehicle, "lagrangian", arguments, (1, 1)), velocity)[0]
    inertia = ca.substitute(inertia, velocity, ca.SX.zeros(n + d))
    basis = piece(vehicle, "symmetry_basis", {"r": r, "q": q}, (d, None))
    connection = known.connection(basis, inertia[n:, n:], inertia[n:, :n])
    return ca.Function("connection", [r, p], [connection])


@lru_cache(maxsize=64)
def derived_binding(structure: Structure) -> ca.Function:
    """(r, p) -> S."""
    known = _reduction(structure)
    return ca.Function("binding", [known.at.r, known.at.p], [ca.densify(known.binding)])


@lru_cache(maxsize=64)
def derived_gradients(structure: Structure) -> ca.Function:
    """(r, (u, xi), p) -> dl/dr, dl/d(u, xi)."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, ReducedMotion)
    n = len(vehicle.shape_coordinates)
    r, velocity = ca.SX.sym("r", n), ca.SX.sym("v", n + vehicle.group.dim)
    p = ca.SX.sym("p", vehicle.parameter_count)
    value = vehicle.lagrangian(r, velocity[:n, 0], velocity[n:, 0], vehicle.symbols(p))
    # A mass matrix is worked out once for all that it is applied to; where it takes a chain of bodies it is not at all.
    mass, slope = ca.hessian(value, velocity)
    at_rest = ca.substitute(slope, velocity, ca.SX.zeros(velocity.shape[0]))
    momentum = mass @ velocity + at_rest
    if _MUCH * operations(slope) < operations(momentum):
        momentum = slope
    found = [ca.densify(x) for x in (ca.gradient(value, r), momentum)]
    return ca.Function("gradients", [r, velocity, p], found, {"cse": True})


@lru_cache(maxsize=64)
def derived_turning(structure: Structure) -> ca.Function:
    """(r, u, dl/du, mu, p) -> what the change of A, e and S with the shape adds to the rate of (P, p)."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, ReducedMotion)
    n = len(vehicle.shape_coordinates)
    r, u, by_shape = (ca.SX.sym(name, n) for name in ("r", "u", "l_u"))
    mu, p = ca.SX.sym("mu", vehicle.group.dim), ca.SX.sym("p", vehicle.parameter_count)
    # What is not dependent has the velocity itself: there dl/du is not turned.
    turned = by_shape if vehicle.dependent else ca.SX.zeros(n)
    carried = vehicle.momenta(r, turned, mu, vehicle.symbols(p))
    found = min(ca.jacobian(carried, r) @ u, ca.jtimes(carried, r, u), key=operations)
    return ca.Function("turning", [r, u, by_shape, mu, p], [ca.densify(found)], {"cse": True})


class ReducedMotion(Vehicle):
    """Momenta and their rates of a reduced Lagrangian; all arguments and results are CasADi SX.

    r shape, u shape velocity, xi body velocity, g flat pose, `controls` in the order declared, `q` parameters by name.
    """

    group: LieGroup = SE2
    commanded: ClassVar[Mapping[str, str]] = {}
    """Shape coordinates without dynamics -> the control that *is* their velocity."""
    dependent: ClassVar[tuple[str, ...]] = ()
    """Shape coordinates whose velocities the constraints give by those of the others: a trailer's angle, the pitch of a
    bicycle. Their ranges are those in which the constraints are looked at; nothing stops them there."""

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
        """Indices of the shape coordinates that are neither commanded nor dependent."""
        given = {*self.commanded, *self.dependent}
        return [i for i, s in enumerate(self.shape_coordinates) if s.name not in given]

    @property
    def bound(self) -> list[int]:
        """Indices of the dependent shape coordinates."""
        return [i for i, s in enumerate(self.shape_coordinates) if s.name in self.dependent]

    def free_velocity(self, own: ca.SX, controls: ca.SX) -> ca.SX:
        """(n_shape,) from the velocities of the dynamic coordinates and the controls; zero for dependent ones."""
        names = [c.name for c in self.controls]
        rows, at = [], 0
        for s in self.shape_coordinates:
            if s.name in self.commanded:
                rows.append(controls[names.index(self.commanded[s.name])])
            elif s.name in self.dependent:
                rows.append(ca.SX(1, 1))
            else:
                rows.append(own[at])
                at += 1
        return ca.vertcat(*rows) if rows else ca.SX(0, 1)

    def binding(self, r: ca.SX, q: Quantities) -> ca.SX:
        """(n dependent, n_shape) S: S u = 0 on admissible shape velocities."""
        return derived_binding(Structure.of(self))(r, self._flat(q))

    def completed(self, r: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        """The shape velocity u with the dependent velocities that belong to the others."""
        bound = self.bound
        if not bound:
            return u
        free = [i for i in range(u.shape[0]) if i not in bound]
        S = self.binding(r, q)
        found = solve(ca.densify(S[:, bound]), -(S[:, free] @ u[free]))
        whole = ca.SX(u)
        whole[bound] = found
        return whole

    def shape_velocity(self, r: ca.SX, own: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        """(n_shape,) admissible, from the velocities of the dynamic coordinates and the controls."""
        return self.completed(r, self.free_velocity(own, controls), q)

    def arrival(self, r: ca.SX, wanted: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Shape after a step with the wanted velocity, at a stop if it would pass one, and the velocity left."""
        target = r + h * wanted
        r_next = self.clipped(target)
        return r_next, wanted + (r_next - target) / h

    def clipped(self, r: ca.SX) -> ca.SX:
        """The nearest shape within the stops."""
        rows = [r[i] for i in range(r.shape[0])]
        for i, s in enumerate(self.shape_coordinates):
            if s.limited and s.name not in self.dependent:
                rows[i] = ca.fmax(ca.fmin(rows[i], s.high), s.low)
        return ca.vertcat(*rows) if rows else ca.SX(0, 1)

    def body_velocity(self, r: ca.SX, u: ca.SX, c: ca.SX, q: Quantities) -> ca.SX:
        """xi = e(r) c - A(r) u."""
        return self.symmetry_basis(r, q) @ c - self.connection(r, q) @ u

    def gradients(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX, ca.SX]:
        """dl/dr, dl/du and mu = dl/dxi."""
        by_r, momentum = derived_gradients(Structure.of(self))(r, ca.vertcat(u, xi), self._flat(q))
        n = r.shape[0]
        return by_r, momentum[:n, 0], momentum[n:, 0]

    def momenta(self, r: ca.SX, by_shape: ca.SX, mu: ca.SX, q: Quantities) -> ca.SX:
        """(P, p) of dl/du and mu: P only for dynamic coordinates."""
        horizontal = by_shape - self.connection(r, q).T @ mu
        if self.dependent:
            own, none = ca.SX.sym("own", len(self.dynamic)), ca.SX.zeros(len(self.controls))
            horizontal = ca.jacobian(self.shape_velocity(r, own, none, q), own).T @ horizontal
        else:
            horizontal = horizontal[self.dynamic]
        return ca.vertcat(horizontal, self.symmetry_basis(r, q).T @ mu)

    def reaction(self, r: ca.SX, wrench: ca.SX, q: Quantities) -> ca.SX:
        """What a body wrench adds to the rate of (P, p)."""
        return self.momenta(r, ca.SX.zeros(r.shape[0]), wrench, q)

    def velocities(self, r: ca.SX, momenta: ca.SX, controls: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX]:
        """Shape and body velocity that have the given (P, p): the inverse Legendre transform."""
        n = len(self.dynamic)
        own = ca.SX.sym("own", momenta.shape[0])
        u = self.shape_velocity(r, own[:n, 0], controls, q)
        xi = self.body_velocity(r, u, own[n:, 0], q)
        _, by_shape, mu = self.gradients(r, u, xi, q)
        value = self.momenta(r, by_shape, mu, q)
        mass = ca.jacobian(value, own)
        zero = ca.SX.zeros(own.shape[0])
        solution = solve(ca.substitute(mass, own, zero), momenta - ca.substitute(value, own, zero))
        u, xi = replaced([u, xi], [own], [solution])
        return u, xi

    takes_impulses = True

    @property
    def impulse_size(self) -> int:
        """On the body, then on the shape coordinates."""
        return self.wrench_size + len(self.shape_coordinates)

    def conjugate_velocities(self, node: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(node[self.node_layout.velocity], node[self.node_layout.shape_velocity])

    def struck(self, node: ca.SX, impulse: ca.SX, q: Quantities) -> ca.SX:
        """The constraints hold after it: only (P, p) take it up. Commanded coordinates keep their velocity."""
        at, d = self.node_layout, self.wrench_size
        _, xi, r, u = self._parts(node)
        _, by_shape, mu = self.gradients(r, u, xi, q)
        momenta = self.momenta(r, by_shape + impulse[d:], mu + impulse[:d], q)
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
        by_r, by_shape, mu = self.gradients(r, u, xi, q)
        turning = derived_turning(Structure.of(self))(r, u, by_shape, mu, self._flat(q))
        push = by_r + self.shape_force(r, u, controls, q)
        return turning + self.momenta(r, push, self.group.ad(xi).T @ mu + wrench, q)

    # What is observed of a node.

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
