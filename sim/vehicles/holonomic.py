"""Holonomic vehicles: a left-invariant kinetic energy, a potential, controls and dissipation on a Lie group."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import casadi as ca
import numpy as np

from sim.groups import SE3, LieGroup
from sim.platform.errors import InputError
from sim.symbolic import solve
from sim.vehicles.base import Vehicle
from sim.vehicles.form import Form
from sim.vehicles.holonomic_declaration import check_holonomic
from sim.vehicles.parametrised import Quantities
from sim.vehicles.state import State

_DECLARED = ("inertia", "momentum_bias", "potential", "control_wrench", "dissipative_wrench")
"""What a subclass may declare of its mechanics."""


class HolonomicVehicle(Vehicle):
    """Subclasses declare `inertia` and whatever else applies; everything further is derived.

    All arguments and results are CasADi SX; for results numbers in numpy's arrays do as well. `q` holds the
    parameters by name (`q.mass`, ...). What does not hold together raises InputError at construction.
    """

    form = Form.EULER_POINCARE
    group: LieGroup = SE3

    def __init_subclass__(cls, **more: Any) -> None:
        """Everything that is derived from a declaration finds expressions, also where it was written in numbers."""
        super().__init_subclass__(**more)
        for name in _DECLARED:
            if name in vars(cls):
                setattr(cls, name, _as_expression(vars(cls)[name]))

    def check(self) -> None:
        check_holonomic(self)

    def default_state(self) -> State:
        """At rest at the group's identity, unless the vehicle says otherwise."""
        return self.state_of(self.group.identity(), np.zeros(self.group.dim))

    def inertia(self, q: Quantities) -> ca.SX:
        """(dim, dim) of <mu, xi> = xi' I xi, body frame."""
        raise InputError(f"vehicle {self.name!r} declares no inertia(q)")

    def momentum_bias(self, q: Quantities) -> ca.SX:
        """(dim,) momentum that does not depend on velocity, e.g. a rotor of constant spin, body frame."""
        return ca.SX(self.group.dim, 1)

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        """Potential energy [J] at the flat pose g."""
        return ca.SX(0)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """F(gamma) u, (dim,) body frame."""
        return ca.SX(self.group.dim, 1)

    def dissipative_wrench(self, g: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        """Forces that depend on velocity, (dim,) body frame."""
        return ca.SX(self.group.dim, 1)

    takes_impulses = True

    def struck(self, node: ca.SX, impulse: ca.SX, q: Quantities) -> ca.SX:
        velocity = self.node_layout.velocity
        struck = ca.SX(node)
        struck[velocity] += solve(self.inertia(q), impulse)
        return struck

    def momentum(self, xi: ca.SX, q: Quantities) -> ca.SX:
        """mu = I xi + bias."""
        return self.inertia(q) @ xi + self.momentum_bias(q)

    def velocity_of(self, mu: ca.SX, q: Quantities) -> ca.SX:
        """xi with momentum(xi) = mu."""
        return solve(self.inertia(q), mu - self.momentum_bias(q))

    def potential_wrench(self, g: ca.SX, q: Quantities, group: LieGroup | None = None) -> ca.SX:
        """Minus the left-trivialised derivative of the potential, in the body frame or in another group's."""
        here = ca.SX.sym("g", self.group.pose_dim)
        gradient = ca.gradient(self.potential(here, q), here)
        return ca.substitute(-((group or self.group).left_tangent(here).T @ gradient), here, g)

    def wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        """Everything that acts on the body, (dim,) body frame."""
        return self.control_wrench(u, q) + self.potential_wrench(g, q) + self.dissipative_wrench(g, xi, q)

    def acceleration(self, g: ca.SX, xi: ca.SX, u: ca.SX, w: ca.SX, q: Quantities) -> ca.SX:
        """Euler-Poincare equation I xi' = ad(xi)' mu + f (vehicles paper, eq. 7-8); w: a further body wrench."""
        force = self.group.ad(xi).T @ self.momentum(xi, q) + self.wrench(g, xi, u, q) + w
        return solve(self.inertia(q), force)

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Kinetic (without the bias' constant part) plus potential [J]."""
        g, xi = node[: self.group.pose_dim], node[self.node_layout.velocity]
        return ca.dot(xi, self.inertia(q) @ xi) / 2 + self.potential(g, q)

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Ad*_{g^-1} mu: constant for a free body."""
        g, xi = node[: self.group.pose_dim], node[self.node_layout.velocity]
        return self.group.Ad(self.group.inverse(g)).T @ self.momentum(xi, q)


def _as_expression(declared: Callable[..., Any]) -> Callable[..., Any]:
    """The same method, whose numeric arrays are CasADi's."""

    @wraps(declared)
    def expression(*arguments: Any, **named: Any) -> Any:
        value = declared(*arguments, **named)
        numeric = isinstance(value, np.ndarray) and value.dtype != object
        return ca.sparsify(ca.SX(value)) if numeric else value

    return expression
