"""Explicit Lie group methods: Runge-Kutta-Munthe-Kaas, commutator-free, Crouch-Grossman (mechanics survey, 2.2).

They advance the pose by exponentials and the *spatial* momentum pi = Ad*_{g^-1} mu as a vector:

    g' = g xi,    xi = I^-1 (Ad(g)' pi - bias),    pi' = Ad(g^-1)' f

so without force pi is constant, and the body momentum moves by the coadjoint action alone: coadjoint
orbits are kept to rounding. The survey's methods act from the left; ours, with body velocities, from
the right, which turns the order of products and the sign of every commutator.
"""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme
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

    def rate(self, g: ca.SX, pi: ca.SX) -> tuple[ca.SX, ca.SX]:
        """(xi, pi')."""
        group, q = self.vehicle.group, self.vehicle.symbols(self.inputs.p)
        xi = self.vehicle.velocity_of(group.Ad(g).T @ pi, q)
        wrench = self.vehicle.wrench(g, xi, self.inputs.u, q) + self.inputs.w
        return xi, group.Ad(group.inverse(g)).T @ wrench


Method = Callable[[Mechanics, ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX]]
"""(mechanics, g, pi, h) -> (g, pi) one step later."""


def _sum(weights: Row, terms: list[ca.SX], size: int) -> ca.SX:
    chosen = [w * t for w, t in zip(weights, terms, strict=False) if w]
    return sum(chosen[1:], chosen[0]) if chosen else ca.SX.zeros(size)


def commutator_free(stages: tuple[tuple[Row, ...], ...], update: tuple[Row, ...]) -> Method:
    """Each stage and the update are products of exponentials; a row holds the weights of the velocities so far.

    Rows stand in the order in which their exponentials act. An exponential that two products share is
    computed once.
    """

    def step(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        group = mechanics.vehicle.group
        found = Stages([], [])

        def reached(rows: tuple[Row, ...]) -> tuple[ca.SX, ca.SX]:
            pose, momentum = g, pi
            for row in rows:
                pose = group.compose(pose, group.exp(h * _sum(row, found.xi, group.dim)))
                momentum = momentum + h * _sum(row, found.force, group.dim)
            return pose, momentum

        for rows in stages:
            xi, force = mechanics.rate(*reached(rows))
            found.xi.append(xi)
            found.force.append(force)
        return reached(update)

    return step


def munthe_kaas(a: tuple[Row, ...], b: Row) -> Method:
    """A Runge-Kutta method on sigma' = dexp^-1_{-sigma} xi with the exact differential; g = g0 exp(sigma)."""

    def step(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        group = mechanics.vehicle.group
        slopes: list[ca.SX] = []
        forces: list[ca.SX] = []
        for i, row in enumerate(a):
            sigma = h * _sum(row, slopes, group.dim)
            pose = group.compose(g, group.exp(sigma)) if i else g
            xi, force = mechanics.rate(pose, pi + h * _sum(row, forces, group.dim))
            slopes.append(group.dexp_inv(-sigma) @ xi if i else xi)
            forces.append(force)
        sigma = h * _sum(b, slopes, group.dim)
        return group.compose(g, group.exp(sigma)), pi + h * _sum(b, forces, group.dim)

    return step


def _two_commutators(mechanics: Mechanics, g: ca.SX, pi: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Kutta's method with two commutators in place of dexp^-1 (mechanics survey, section 2.2)."""
    group = mechanics.vehicle.group

    def bracket(x: ca.SX, y: ca.SX) -> ca.SX:
        return group.ad(x) @ y

    def at(sigma: ca.SX, momentum: ca.SX) -> tuple[ca.SX, ca.SX]:
        return mechanics.rate(group.compose(g, group.exp(sigma)), momentum)

    xi1, f1 = mechanics.rate(g, pi)
    k1 = h * xi1
    xi2, f2 = at(k1 / 2, pi + h / 2 * f1)
    k2 = h * xi2
    xi3, f3 = at(k2 / 2 + bracket(k1, k2) / 8, pi + h / 2 * f2)
    k3 = h * xi3
    xi4, f4 = at(k3, pi + h * f3)
    k4 = h * xi4
    sigma = (k1 + 2 * k2 + 2 * k3 + k4 + bracket(k1, k4) / 2) / 6
    return group.compose(g, group.exp(sigma)), pi + h / 6 * (f1 + 2 * f2 + 2 * f3 + f4)


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
        if not isinstance(vehicle, HolonomicVehicle):
            return f"{self.name} needs a holonomic vehicle, {vehicle.name} is none"
        return ""

    def scheme(self, vehicle: Vehicle) -> Scheme:
        assert isinstance(vehicle, HolonomicVehicle)
        inputs, group = Inputs.of(vehicle), vehicle.group
        q = vehicle.symbols(inputs.p)
        y = ca.SX.sym("y", group.pose_dim + group.dim)
        g, pi = y[: group.pose_dim], y[group.pose_dim :]
        mechanics = Mechanics(vehicle, inputs)
        g_next, pi_next = self.method(mechanics, g, pi, inputs.h)
        xi, _ = mechanics.rate(g, pi)
        accelerated = xi + inputs.h * vehicle.acceleration(g, xi, inputs.u, ca.SX.zeros(group.dim), q)
        start_g = inputs.node[: group.pose_dim]
        none = ca.SX(0, 1)
        return Scheme(
            inputs=inputs,
            y=y,
            z=none,
            residual=none,
            guess=none,
            y_next=ca.vertcat(g_next, pi_next),
            node=ca.vertcat(g, xi),
            start=ca.vertcat(start_g, vehicle.spatial_momentum(inputs.node, q)),
            free_velocity=accelerated,
        )


# Dormand and Prince's 5(4) pair.
DORMAND_PRINCE_A: tuple[Row, ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
DORMAND_PRINCE_B: Row = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)

CF4_STAGES: tuple[tuple[Row, ...], ...] = ((), ((1 / 2,),), ((0.0, 1 / 2),), ((1 / 2,), (-1 / 2, 0.0, 1.0)))
CF4_UPDATE: tuple[Row, ...] = (
    (3 / 12, 2 / 12, 2 / 12, -1 / 12),
    (-1 / 12, 2 / 12, 2 / 12, 3 / 12),
)

_SURVEY = "mechanics survey, section 2.2"

LIE_GROUP: tuple[LieGroupMethod, ...] = (
    LieGroupMethod(
        "lie-heun",
        commutator_free(((), ((1.0,),)), ((1 / 2, 1 / 2),)),
        2,
        2,
        "Lie-Euler-Heun: mean of the velocities at both ends of an Euler step. Second order, explicit.",
        _SURVEY,
    ),
    LieGroupMethod(
        "ralston",
        commutator_free(((), ((2 / 3,),)), ((1 / 4, 3 / 4),)),
        2,
        2,
        "Ralston's method with exponentials: second order with the smallest error bound of its kind.",
        "rigid body article",
    ),
    LieGroupMethod(
        "rkmk3",
        munthe_kaas(((), (1 / 2,), (-1.0, 2.0)), (1 / 6, 2 / 3, 1 / 6)),
        3,
        3,
        "Runge-Kutta-Munthe-Kaas on Kutta's third-order method, exact dexp^-1.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk4",
        munthe_kaas(((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
        4,
        4,
        "Runge-Kutta-Munthe-Kaas on the classical method, exact dexp^-1: fourth order and on the group.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk4-2c",
        _two_commutators,
        4,
        4,
        "The same with two commutators in place of dexp^-1: cheaper, fourth order.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk5",
        munthe_kaas(DORMAND_PRINCE_A, DORMAND_PRINCE_B),
        5,
        6,
        "Runge-Kutta-Munthe-Kaas on Dormand and Prince's fifth-order method.",
        "mechanics survey, section 4.1",
    ),
    LieGroupMethod(
        "cf4",
        commutator_free(CF4_STAGES, CF4_UPDATE),
        4,
        4,
        "Commutator-free, five exponentials of which one is reused: fourth order.",
        "mechanics survey, eq. 9",
    ),
    LieGroupMethod(
        "cf3a",
        commutator_free(((), ((1 / 3,),), ((0.0, 2 / 3),)), ((1 / 3,), (-1 / 12, 0.0, 3 / 4))),
        3,
        3,
        "Commutator-free of third order that reuses its second stage.",
        "mechanics survey, section 4.2.1, first pair",
    ),
    LieGroupMethod(
        "cf3b",
        commutator_free(((), ((2 / 3,),), ((5 / 12, 1 / 4),)), ((5 / 12, 1 / 4), (-1 / 6, -1 / 2, 1.0))),
        3,
        3,
        "Commutator-free of third order that reuses its third stage.",
        "mechanics survey, section 4.2.1, second pair",
    ),
    LieGroupMethod(
        "crouch-grossman3",
        commutator_free(
            ((), ((3 / 4,),), ((119 / 216,), (0.0, 17 / 108))),
            ((13 / 51,), (0.0, -2 / 3), (0.0, 0.0, 24 / 17)),
        ),
        3,
        3,
        "Crouch and Grossman: one exponential for every velocity. Third order.",
        "mechanics survey, section 2.2",
    ),
)
