"""Explicit Lie group methods: Runge-Kutta-Munthe-Kaas, commutator-free, Crouch-Grossman (mechanics survey, 2.2).

They advance the pose by exponentials and the *spatial* momentum pi = Ad*_{g^-1} mu as a vector:

    g' = g xi,    xi = I^-1 (Ad(g)' pi - bias),    pi' = Ad(g^-1)' f

so without force pi is constant, and the body momentum moves by the coadjoint action alone: coadjoint
orbits are kept to rounding. The survey's methods act from the left; ours, with body velocities, from
the right, which turns the order of products and the sign of every commutator. The group is SO(3) x R^3
where the mass is the same in all directions, else the vehicle's own.
"""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from sim.groups import LieGroup
from sim.integrators.base import Inputs, Integrator, Scheme, holonomic_only
from sim.integrators.tableau import distinct
from sim.integrators.trivialisation import frames, simplest_group
from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle

Row = tuple[float, ...]


@dataclass(frozen=True)
class Stages:
    """What a method has found so far: body velocities xi_i and spatial forces pi'_i, newest last."""

    xi: list[ca.SX]
    force: list[ca.SX]


@dataclass(frozen=True)
class Mechanics:
    """The vehicle's equations in (g, pi), and the step."""

    vehicle: HolonomicVehicle
    inputs: Inputs
    group: LieGroup

    def body_velocity(self, g: ca.SX, pi: ca.SX) -> ca.SX:
        """Twist in the body frame."""
        _, to_body = frames(self.group, g)
        mu = to_body @ (self.group.Ad(g).T @ pi)
        return self.vehicle.velocity_of(mu, self.vehicle.symbols(self.inputs.p))

    def rate(self, g: ca.SX, pi: ca.SX, moment: float) -> tuple[ca.SX, ca.SX]:
        """(xi, pi') at a moment of the step; xi in the group's trivialisation."""
        q, (to_group, _) = self.vehicle.symbols(self.inputs.p), frames(self.group, g)
        twist = self.body_velocity(g, pi)
        wrench = to_group @ (self.vehicle.wrench(g, twist, self.inputs.at(moment), q) + self.inputs.w)
        return to_group @ twist, self.group.Ad(self.group.inverse(g)).T @ wrench

    def start(self) -> tuple[ca.SX, ca.SX]:
        """(g, pi) of the public node."""
        node, q = self.inputs.node, self.vehicle.symbols(self.inputs.p)
        g, twist = node[: self.group.pose_dim], node[self.vehicle.node_layout.velocity]
        mu = frames(self.group, g)[0] @ self.vehicle.momentum(twist, q)
        return g, self.group.Ad(self.group.inverse(g)).T @ mu


@dataclass(frozen=True)
class Method:
    """An explicit step, and the moments at which it evaluates the forces."""

    step: Callable[[Mechanics, ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX]]
    """(mechanics, g, pi, h) -> (g, pi) one step later."""
    moments: tuple[float, ...]
    """Of the stages, as shares of the step."""


def weighted(weights: Row, terms: list[ca.SX], size: int) -> ca.SX:
    chosen = [w * t for w, t in zip(weights, terms, strict=False) if w]
    return sum(chosen[1:], chosen[0]) if chosen else ca.SX.zeros(size)


def commutator_free(stages: tuple[tuple[Row, ...], ...], update: tuple[Row, ...]) -> Method:
    """Each stage and the update are products of exponentials; a row holds the weights of the velocities so far.

    Rows stand in the order in which their exponentials act. An exponential that two products share is
    computed once.
    """

    def step(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        group = mechanics.group
        found = Stages([], [])

        def reached(rows: tuple[Row, ...]) -> tuple[ca.SX, ca.SX]:
            pose, momentum = g, pi
            for row in rows:
                pose = group.compose(pose, group.exp(h * weighted(row, found.xi, group.dim)))
                momentum = momentum + h * weighted(row, found.force, group.dim)
            return pose, momentum

        for rows in stages:
            xi, force = mechanics.rate(*reached(rows), _moment(rows))
            found.xi.append(xi)
            found.force.append(force)
        return reached(update)

    return Method(step, tuple(_moment(rows) for rows in stages))


def _moment(rows: tuple[Row, ...]) -> float:
    return sum(sum(row) for row in rows)


def munthe_kaas(a: tuple[Row, ...], b: Row) -> Method:
    """A Runge-Kutta method on sigma' = dexp^-1_{-sigma} xi with the exact differential; g = g0 exp(sigma)."""

    def step(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        group = mechanics.group
        slopes: list[ca.SX] = []
        forces: list[ca.SX] = []
        for i, row in enumerate(a):
            sigma = h * weighted(row, slopes, group.dim)
            pose = group.compose(g, group.exp(sigma)) if i else g
            xi, force = mechanics.rate(pose, pi + h * weighted(row, forces, group.dim), sum(row))
            slopes.append(group.dexp_inv(-sigma) @ xi if i else xi)
            forces.append(force)
        sigma = h * weighted(b, slopes, group.dim)
        return group.compose(g, group.exp(sigma)), pi + h * weighted(b, forces, group.dim)

    return Method(step, tuple(sum(row) for row in a))


def _two_commutators(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Kutta's method with two commutators in place of dexp^-1 (mechanics survey, section 2.2)."""
    group = mechanics.group

    def bracket(x: ca.SX, y: ca.SX) -> ca.SX:
        return group.ad(x) @ y

    def at(sigma: ca.SX, momentum: ca.SX, moment: float) -> tuple[ca.SX, ca.SX]:
        return mechanics.rate(group.compose(g, group.exp(sigma)), momentum, moment)

    xi1, f1 = mechanics.rate(g, pi, 0.0)
    k1 = h * xi1
    xi2, f2 = at(k1 / 2, pi + h / 2 * f1, 0.5)
    k2 = h * xi2
    xi3, f3 = at(k2 / 2 + bracket(k1, k2) / 8, pi + h / 2 * f2, 0.5)
    k3 = h * xi3
    xi4, f4 = at(k3, pi + h * f3, 1.0)
    k4 = h * xi4
    sigma = (k1 + 2 * k2 + 2 * k3 + k4 + bracket(k1, k4) / 2) / 6
    return group.compose(g, group.exp(sigma)), pi + h / 6 * (f1 + 2 * f2 + 2 * f3 + f4)


TWO_COMMUTATORS = Method(_two_commutators, (0.0, 0.5, 1.0))


@dataclass(frozen=True)
class LieGroupMethod(Integrator):
    """An explicit method of this file."""

    name: str
    method: Method
    order: int
    force_evaluations: int
    doc: str
    source: str
    family: str = "lie-group"
    tau: str = "exp"

    def serves(self, vehicle: Vehicle) -> str:
        return holonomic_only(self.name, vehicle)

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ("momentum", "orbits")

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return distinct(self.method.moments)

    def equations(self, vehicle: Vehicle, inputs: Inputs) -> Scheme:
        assert isinstance(vehicle, HolonomicVehicle)
        return explicit_scheme(vehicle, inputs, self.method)


def explicit_scheme(vehicle: HolonomicVehicle, inputs: Inputs, method: Method) -> Scheme:
    """One step of a method on (g, pi)."""
    group = simplest_group(vehicle)
    mechanics, q = Mechanics(vehicle, inputs, group), vehicle.symbols(inputs.p)
    y = ca.SX.sym("y", group.pose_dim + group.dim)
    g, pi = y[: group.pose_dim], y[group.pose_dim :]
    twist = mechanics.body_velocity(g, pi)
    free = vehicle.acceleration(g, twist, inputs.first, ca.SX.zeros(group.dim), q)
    none = ca.SX(0, 1)
    return Scheme(
        inputs=inputs,
        y=y,
        z=none,
        residual=none,
        guess=none,
        y_next=ca.vertcat(*method.step(mechanics, g, pi, inputs.h)),
        node=ca.vertcat(g, twist),
        start=ca.vertcat(*mechanics.start()),
        free_velocity=twist + inputs.h * free,
    )
