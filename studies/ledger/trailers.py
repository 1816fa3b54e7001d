"""A car with two trailers, each hitched to the middle of the axle before: pulled on a circle, and backing."""

import math

import numpy as np

import sim
from sim.vehicles.car_with_trailers import CarWithTrailers
from studies.ledger.problem import Problem

SIGMA, SPEED_RADPS, PULLED_S = 0.45, 10.0, 40.0


def on_circle() -> tuple[CarWithTrailers, sim.State]:
    """A train that is not yet bent as the circle asks, on which the car is."""
    car = CarWithTrailers()
    return car, car.state(shape=(0.0, SIGMA, 0.3, -0.4, 0.0, 0.0), shape_velocity=(SPEED_RADPS, *(0.0,) * 5))


def backing_straight() -> tuple[CarWithTrailers, sim.State]:
    """In line, where it does not stay."""
    car = CarWithTrailers()
    return car, car.state(shape_velocity=(-SPEED_RADPS, *(0.0,) * 5))


def circle_truth() -> np.ndarray:
    """(2,) rad: each hitch goes round a circle, on whose tangent the trailer's axle is left behind."""
    car = CarWithTrailers()
    radius, angles = float(np.ravel(car.values["wheelbase"])[0]) / SIGMA, []
    for hitch, bar in zip(np.ravel(car.values["hitches"]), np.ravel(car.values["bars"]), strict=True):
        round_hitch = math.hypot(radius, hitch)
        angles.append(-math.atan2(hitch, radius) - math.asin(bar / round_hitch))
        radius = math.sqrt(round_hitch**2 - bar**2)
    return np.array(angles)


def circle() -> np.ndarray:
    """(2,) rad once it has gone round for long."""
    car, start = on_circle()
    run = sim.simulate(car, "variational-exp", step=0.02, duration=PULLED_S, initial=start)
    return np.asarray(run.shape[-1, 2:4])


def backing_truth() -> np.ndarray:
    """(2,) 1/s: backing straight, angles grow by speed over the bars' lengths, wherever the hitches are."""
    car = CarWithTrailers()
    speed_mps = float(np.ravel(car.values["wheel_radius"])[0]) * SPEED_RADPS
    return np.sort(speed_mps / np.ravel(car.values["bars"]))


def backing() -> np.ndarray:
    """(2,) 1/s."""
    return np.sort(sim.linearise(*backing_straight()).eigenvalues.real)[-2:]


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
        motion_s=PULLED_S,
        least_digits=8.0,
        scene=on_circle,
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
        scene=backing_straight,
    ),
)
