"""A car that pulls two trailers, each hitched behind the axle before: backing, it jackknifes unless it is steered."""

from collections.abc import Mapping
from typing import ClassVar

import casadi as ca

from sim.symbolic import shift, turn_about
from sim.vehicles.car import Car
from sim.vehicles.forms.form import Observable
from sim.vehicles.forms.parameters import Parameter, Quantities, ShapeCoordinate


class CarWithTrailers(Car):
    """The car of the vehicles paper (5.2.1). A trailer's angle is its heading against what pulls it.

    No axle slips sideways: the angles' rates follow from how the car rolls and steers, and so do the trailers' wheels.
    """

    name = "car-with-trailers"
    parameters = (
        *Car.parameters,
        Parameter("hitches", "m", (0.62, 1.2), -5.0, 5.0, "How far each hitch is behind the axle before it."),
        Parameter("bars", "m", (2.0, 1.7), 1e-2, 20.0, "From each hitch to the trailer's axle."),
        Parameter("loads", "kg", (300.0, 200.0), 1e-3, 1e5, "Mass of each trailer, at its axle."),
        Parameter(
            "yaws", "kg m^2", (120.0, 80.0), 1e-6, 1e6, "Inertia of each trailer about its axle's middle."
        ),
        Parameter("trailer_radius", "m", 0.28, 1e-3, 5.0, "Of the trailers' wheels."),
        Parameter("trailer_wheels", "kg m^2", 1.0, 1e-6, 1e4, "Rotational inertia of a trailer's wheels."),
    )
    shape_coordinates = (
        *Car.shape_coordinates,
        ShapeCoordinate("first", "rad", "Angle of the first trailer, positive to the left.", -2.5, 2.5),
        ShapeCoordinate("second", "rad", "Angle of the second trailer, positive to the left.", -2.5, 2.5),
        ShapeCoordinate("first_roll", "rad", "Roll angle of the first trailer's wheels."),
        ShapeCoordinate("second_roll", "rad", "Roll angle of the second trailer's wheels."),
    )
    dependent: ClassVar = ("first", "second", "first_roll", "second_roll")

    @property
    def trailers(self) -> int:
        """How many."""
        return next(parameter.size for parameter in self.parameters if parameter.name == "bars")

    @property
    def towed(self) -> tuple[str, ...]:
        """Names of the trailers, which are those of their angles."""
        return tuple(coordinate.name for coordinate in self.shape_coordinates[2 : 2 + self.trailers])

    def drawn(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> list[tuple[ca.SX, ca.SX, ca.SX]]:
        """(turning rate, speed ahead, speed aside) of the middle of each trailer's axle, in the trailer's frame."""
        turning, ahead, aside = xi[0], xi[1], xi[2]
        found = []
        for k in range(self.trailers):
            c, s, aside = ca.cos(r[2 + k]), ca.sin(r[2 + k]), aside - q.hitches[k] * turning
            turning = turning + u[2 + k]
            ahead, aside = c * ahead + s * aside, c * aside - s * ahead - q.bars[k] * turning
            found.append((turning, ahead, aside))
        return found

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        """No axle moves aside, so that the square of that speed adds nothing to any momentum."""
        total, rolls = 2 * super().lagrangian(r, u, xi, q), u[2 + self.trailers :]
        for k, (turning, ahead, _) in enumerate(self.drawn(r, u, xi, q)):
            total += q.loads[k] * ahead**2 + q.yaws[k] * turning**2 + q.trailer_wheels * rolls[k] ** 2
        return total / 2

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """Those of the car; no way of a trailer's axle along itself, and rolling of its wheels."""
        u, xi = ca.SX.sym("u", r.shape[0]), ca.SX.sym("xi", 3)
        rolls, more = u[2 + self.trailers :], []
        for k, (_, ahead, aside) in enumerate(self.drawn(r, u, xi, q)):
            more += [aside, ahead - q.trailer_radius * rolls[k]]
        car = super().constraints(r, q)
        drawn = ca.jacobian(ca.vertcat(*more), ca.vertcat(u, xi))
        return ca.vertcat(ca.horzcat(car[:, :2], ca.SX(3, r.shape[0] - 2), car[:, 2:]), drawn)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Each trailer's origin is in the middle of its axle."""
        r, found = node[self.node_layout.shape], dict(super().bodies(node, q))
        at = found["body"]
        for k, name in enumerate(self.towed):
            at = at @ shift(-q.hitches[k], 0, 0) @ turn_about("z", r[2 + k]) @ shift(-q.bars[k], 0, 0)
            found[name] = at
        return found

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        r = node[self.node_layout.shape]
        return (
            *(Observable(f"angle_{name}", "rad", r[2 + k]) for k, name in enumerate(self.towed)),
            *super().observables(node, u, q),
        )

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(controls[0], ca.SX(r.shape[0] - 1, 1))
