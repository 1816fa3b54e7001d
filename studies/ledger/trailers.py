"""A car with two trailers, each hitched to the middle of the axle before: pulled on a circle, and backing."""

import math
from typing import ClassVar

import casadi as ca
import numpy as np

import sim
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities, ShapeCoordinate
from studies.ledger.problem import Problem
from studies.ledger.wheels import numbers

SIGMA, SPEED_RADPS, PULLED_S = 0.45, 10.0, 40.0


class CarWithTrailers(NonholonomicVehicle):
    """The car of the vehicles paper (5.2.1). A trailer's angle is its heading against what pulls it."""

    name = "car-with-trailers"
    parameters = (
        Parameter("mass", "kg", 800.0, 1e-3, 1e6, "Mass of the car."),
        Parameter("wheel_inertia", "kg m^2", 2.0, 1e-6, 1e4, "Of the driven wheels."),
        Parameter(
            "yaw_inertia", "kg m^2", 900.0, 1e-6, 1e8, "Of the car, about the middle of its rear axle."
        ),
        Parameter("wheelbase", "m", 2.4, 1e-2, 20.0, "Distance of the car's axles."),
        Parameter("wheel_radius", "m", 0.32, 1e-3, 5.0, "Radius of the wheels."),
        Parameter("bars", "m", (2.0, 1.6), 1e-2, 20.0, "From each hitch to the trailer's axle."),
        Parameter("loads", "kg", (300.0, 200.0), 1e-3, 1e5, "Mass of each trailer, at its axle."),
        Parameter(
            "yaws", "kg m^2", (120.0, 80.0), 1e-6, 1e6, "Inertia of each trailer about its axle's middle."
        ),
    )
    controls = (
        Control("f_psi", "N m", -3000.0, 3000.0, "Torque on the rear wheels."),
        Control("u_sigma", "1/s", -4.0, 4.0, "Rate of the tangent of the steering angle."),
    )
    shape_coordinates = (
        ShapeCoordinate("psi", "rad", "Roll angle of the rear wheels."),
        ShapeCoordinate("sigma", "1", "Tangent of the steering angle.", -2.0, 2.0),
        ShapeCoordinate("first", "rad", "Angle of the first trailer.", -2.5, 2.5),
        ShapeCoordinate("second", "rad", "Angle of the second trailer.", -2.5, 2.5),
    )
    commanded: ClassVar = {"sigma": "u_sigma"}
    dependent: ClassVar = ("first", "second")

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        ahead, turning = xi[1] * ca.cos(r[2]) + xi[2] * ca.sin(r[2]), xi[0] + u[2]
        last, turning_last = ahead * ca.cos(r[3]), turning + u[3]
        car = q.wheel_inertia * u[0] ** 2 + q.yaw_inertia * xi[0] ** 2 + q.mass * (xi[1] ** 2 + xi[2] ** 2)
        first = q.loads[0] * ahead**2 + q.yaws[0] * turning**2
        return (car + first + q.loads[1] * last**2 + q.yaws[1] * turning_last**2) / 2

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """Those of the car, and no way of a trailer's axle along itself."""
        s, c = ca.sin(r[2]), ca.cos(r[2])
        a, b = q.bars[0], q.bars[1]
        return ca.vertcat(
            ca.horzcat(-q.wheel_radius, 0, 0, 0, 0, 1, 0),
            ca.horzcat(0, 0, 0, 0, 0, 0, 1),
            ca.horzcat(0, 0, 0, 0, q.wheelbase, -r[1], 1),
            ca.horzcat(0, 0, -a, 0, -a, -s, c),
            ca.horzcat(0, 0, -b, -b, -b, -c * ca.sin(r[3]), -s * ca.sin(r[3])),
        )

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(controls[0], 0, 0, 0)


def circle_truth() -> np.ndarray:
    """(2,) rad: each hitch goes round a circle, on whose tangent the trailer's axle is left behind."""
    car = CarWithTrailers()
    a, b = np.ravel(car.values["bars"])
    radius = numbers(car)["wheelbase"] / SIGMA
    first = math.sqrt(radius**2 - a**2)
    return np.array([-math.asin(a / radius), -math.asin(b / first)])


def circle() -> np.ndarray:
    """(2,) rad once it has gone round for long."""
    car = CarWithTrailers()
    start = car.state(shape=(0.0, SIGMA, 0.3, -0.4), shape_velocity=(SPEED_RADPS, 0.0, 0.0, 0.0))
    run = sim.simulate(car, "variational-exp", step=0.02, duration=PULLED_S, initial=start)
    return np.asarray(run.shape[-1, 2:])


def backing_truth() -> np.ndarray:
    """(2,) 1/s: backing straight, angles grow by speed over the bars' lengths."""
    car = CarWithTrailers()
    return np.sort(numbers(car)["wheel_radius"] * SPEED_RADPS / np.ravel(car.values["bars"]))


def backing() -> np.ndarray:
    """(2,) 1/s."""
    car = CarWithTrailers()
    back = car.state(shape=(0.0, 0.0, 0.0, 0.0), shape_velocity=(-SPEED_RADPS, 0.0, 0.0, 0.0))
    return np.sort(sim.linearise(car, back).eigenvalues.real)[-2:]


PROBLEMS = (
    Problem(
        name="trailers-on-a-circle",
        title="A car with two trailers on a circle",
        quantity="angles of the trailers [rad]",
        source="closed form",
        truth=circle_truth,
        known_digits=15,
        ours=circle,
        step="variational-exp, 20 ms",
        least_digits=8.0,
    ),
    Problem(
        name="trailers-backing",
        title="A car with two trailers, backing straight",
        quantity="growth of the trailers' angles [1/s]",
        source="closed form",
        truth=backing_truth,
        known_digits=15,
        ours=backing,
        step="linearised",
        least_digits=11.0,
    ),
)
