"""Holonomic vehicles: a left-invariant kinetic energy, a potential, controls and dissipation on a Lie group.

What a declaration gets wrong is told in one line. Shapes and symbols are looked at once for all vehicles with the same
equations, numbers every time: at the default state, and moving about near it.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import casadi as ca
import numpy as np

from sim.groups import SE3, LieGroup
from sim.platform.errors import InputError
from sim.symbolic import solve
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.declaration import (
    called,
    check_finite,
    check_shown,
    direction,
    evaluated,
    piece,
    refused,
)
from sim.vehicles.forms.form import Form, State
from sim.vehicles.forms.parameters import Quantities

_SYMMETRIC = 1e-9
_SINGULAR = 1e-12
"""Smallest eigenvalue of the inertia with its diagonal scaled to one."""


def check_holonomic(vehicle: Vehicle) -> None:
    """Raises InputError naming the vehicle, the method and what is allowed."""
    structure = Structure.of(vehicle)
    declared = _values(structure)
    check_shown(structure)
    p, u = vehicle.parameter_vector, vehicle.neutral_controls
    g, xi = _default(vehicle)
    inertia, bias, *values = evaluated(declared, g, xi, u, p)
    check_finite(vehicle, "inertia", "with these parameters", inertia)
    check_finite(vehicle, "momentum_bias", "with these parameters", bias)
    _check_inertia(vehicle, inertia)
    if all(np.isfinite(x).all() for x in values):
        return
    names = ("potential", "the potential's derivative", "control_wrench", "dissipative_wrench")
    for column, where in enumerate(("at the default state", "near the default state")):
        for name, value in zip(names, values, strict=False):
            check_finite(vehicle, name, where, value[:, column])
        check_finite(
            vehicle,
            "dissipative_wrench's derivative",
            f"{where}; a small number under a root keeps it so at rest",
            values[4][:, column],
        )


@lru_cache(maxsize=128)
def _values(structure: Structure) -> ca.Function:
    """(g, xi, u, p) -> inertia, bias; then at that state and moving about near it, a column each: potential, its
    derivative, both wrenches, the derivative of the last by xi."""
    vehicle = structure.vehicle
    dim, size = vehicle.group.dim, vehicle.group.pose_dim
    g, xi = ca.SX.sym("g", size), ca.SX.sym("xi", dim)
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    q = vehicle.symbols(p)
    inertia = piece(vehicle, "inertia", {"q": q}, (dim, dim))
    bias = piece(vehicle, "momentum_bias", {"q": q}, (dim, 1))
    potential = piece(vehicle, "potential", {"g": g, "q": q}, (1, 1))
    control = piece(vehicle, "control_wrench", {"u": u, "q": q}, (dim, 1))
    resisting = piece(vehicle, "dissipative_wrench", {"g": g, "xi": xi, "q": q}, (dim, 1))
    acting = ca.Function(
        "acting",
        [g, xi, u, p],
        [potential, ca.gradient(potential, g), control, resisting, ca.vec(ca.jacobian(resisting, xi))],
    )
    rng = np.random.default_rng(3)
    near = vehicle.group.compose(g, ca.SX(vehicle.group.function("exp")(rng.uniform(-0.4, 0.4, dim))))
    moving = xi + rng.uniform(-1.0, 1.0, dim)
    both = zip(acting(g, xi, u, p), acting(near, moving, u, p), strict=True)
    shown = [ca.densify(x) for x in (inertia, bias, *(ca.horzcat(*pair) for pair in both))]
    return ca.Function("values", [g, xi, u, p], shown)


def _check_inertia(vehicle: Vehicle, inertia: np.ndarray) -> None:
    skew = np.abs(inertia - inertia.T)
    if skew.max() > _SYMMETRIC * np.abs(inertia).max():
        i, j = sorted(int(k) for k in np.unravel_index(skew.argmax(), skew.shape))
        raise refused(
            vehicle,
            f"inertia is not symmetric: row {i + 1}, column {j + 1} is {inertia[i, j]:g}, "
            f"row {j + 1}, column {i + 1} is {inertia[j, i]:g}",
        )
    diagonal = np.diag(inertia)
    k = int(diagonal.argmin())
    if diagonal[k] <= 0.0:
        raise refused(
            vehicle,
            f"inertia is {diagonal[k]:g} along {direction(vehicle, k)}; every direction needs a positive one",
        )
    scale = np.sqrt(diagonal)
    scaled = inertia / np.outer(scale, scale)
    if np.linalg.eigvalsh(scaled)[0] <= _SINGULAR:
        values, vectors = np.linalg.eigh(scaled)
        how = "singular" if values[0] > -_SINGULAR else "not positive"
        mixed = np.argsort(-np.abs(vectors[:, 0]))[:2]
        along = " with ".join(direction(vehicle, int(i)) for i in sorted(mixed))
        raise refused(vehicle, f"inertia is {how}: some motion of {along} has no kinetic energy")


def _default(vehicle: Vehicle) -> tuple[np.ndarray, np.ndarray]:
    """Flat pose and body velocity of the default state."""
    state = called(vehicle, "default_state", vehicle.default_state)
    at = vehicle.node_layout
    if not isinstance(state, State) or state.node.shape != (at.size,):
        raise refused(
            vehicle, f"default_state returns a {type(state).__name__}, wanted what self.state_of(...) makes"
        )
    return state.node[at.pose], state.node[at.velocity]


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

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        """All but the potential's, (dim,) body frame. A vehicle whose controls act by the velocity that it has, as
        those of a wing do, declares this."""
        return self.control_wrench(u, q) + self.dissipative_wrench(g, xi, q)

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
        return self.acting_wrench(g, xi, u, q) + self.potential_wrench(g, q)

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
