"""Guesses by chance, for when all classes of ways have been tried: the same ones for the same task."""

from collections.abc import Iterator

import numpy as np

from sim.planner.guess.driven import through, with_shape
from sim.planner.guess.free import Heading, free_motion
from sim.planner.guess.gait import gait_motion, random_gait
from sim.planner.guess.pace import paced
from sim.planner.guess.way import stations_of
from sim.planner.task.bodies import planar
from sim.planner.task.poses import planar_pose, turn_rad
from sim.planner.task.task import Task
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle

_ASIDE, _TURNED_RAD = 0.2, 0.5
"""Spread of places beside the straight way, in its lengths, and of headings there."""
_NEAR = 0.3
"""Of poses that a car goes to at the start and at the goal, in lengths of the way."""
_HEADINGS: tuple[Heading, ...] = ("even", "ahead", "astern", "around")


def flown_by_chance(vehicle: Vehicle, task: Task, steps: int) -> Iterator[np.ndarray]:
    """Nodes (N+1, node size): by up to two places beside the straight way, in space or on a plane with any heading."""
    rng, flat = np.random.default_rng(0), planar(vehicle)
    stations = stations_of(vehicle, task)
    reach = float(np.linalg.norm(np.diff(stations, axis=0), axis=1).sum())
    while True:
        leg = rng.integers(len(stations) - 1)
        shares = np.sort(rng.uniform(0.0, 1.0, rng.integers(1, 3)))[:, None]
        beside = rng.normal(0.0, _ASIDE * reach, (len(shares), 3)) * [1.0, 1.0, 0.0 if flat else 0.5]
        between = stations[leg] + shares * (stations[leg + 1] - stations[leg]) + beside
        way = np.vstack([stations[: leg + 1], between, stations[leg + 1 :]])
        heading = _HEADINGS[rng.integers(4)] if flat else "even"
        yield free_motion(vehicle, task, paced(way, steps, from_rest=True, to_rest=True), heading)


def driven_by_chance(
    vehicle: NonholonomicVehicle, task: Task, steps: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size): out of the start, between both, at the goal."""
    rng, start = np.random.default_rng(0), planar_pose(task.start)
    end = planar_pose(task.goal.state)
    end[0] = start[0] + turn_rad(task)
    reach = max(float(np.linalg.norm(end[1:] - start[1:])), 1.0)

    def ahead(pose: np.ndarray, gear: float) -> np.ndarray:
        by = gear * rng.uniform(0.1, 1.0) * _NEAR * reach
        bent = rng.normal(0.0, (_TURNED_RAD, 0.1 * _NEAR * reach, 0.1 * _NEAR * reach))
        return pose + by * np.array([0.0, np.cos(pose[0]), np.sin(pose[0])]) + bent

    while True:
        gear, legs = float(rng.choice([-1.0, 1.0])), []
        for _ in range(rng.integers(0, 2)):
            legs.append((ahead(start, gear), gear))
            gear = -gear
        for _ in range(rng.integers(0, 2)):
            spread = (_TURNED_RAD, _ASIDE * reach, _ASIDE * reach)
            legs.append((start + rng.uniform() * (end - start) + rng.normal(0.0, spread), gear))
            gear = gear if rng.random() < 0.4 else -gear
        for _ in range(rng.integers(0, 3)):
            legs.append((ahead(end, gear), gear))
            gear = -gear
        yield with_shape(vehicle, task, *through(task, [*legs, (end, gear)], steps))


def wriggled_by_chance(
    vehicle: NonholonomicVehicle, task: Task, steps: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size) of any gaits."""
    rng = np.random.default_rng(0)
    while True:
        yield gait_motion(vehicle, task, steps, random_gait(vehicle, rng))
