"""First guesses, by how a vehicle moves: freely, along its heading, by burns or by wriggling."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import casadi as ca
import numpy as np

from sim.planner.guess.driven import driven, gait_motion, random_gait, through, with_shape, wriggled
from sim.planner.guess.free import Heading, burnt, free_motion, thrust_axis
from sim.planner.guess.joints import led_through_joints
from sim.planner.guess.paths import paced, paced_path, paths_of, stations_of
from sim.planner.guess.through_space import led_through_space
from sim.planner.guess.variables import variables
from sim.planner.task.bodies import own_space, planar, stands
from sim.planner.task.inputs import input_map_of
from sim.planner.task.moving import held
from sim.planner.task.poses import planar_pose, turn_rad
from sim.planner.task.task import Task
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.holonomic import HolonomicVehicle
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


_Guessed = tuple[np.ndarray, np.ndarray]
"""Nodes (N+1, node size) and planned inputs (N+1, size)."""
_LATER = {"even": 0.0, "ahead": 0.5, "astern": 1.0, "around": 2.5}
"""How many classes of ways come before such a heading along the first one."""


def guess(transcription: Transcription, vehicle: Vehicle, task: Task) -> np.ndarray:
    """Scaled variables to start the optimiser from."""
    return _scaled(transcription, vehicle, task, next(_guessed(transcription, vehicle, task, 1)))


def other_guesses(
    transcription: Transcription, vehicle: Vehicle, task: Task, most: int
) -> Iterator[np.ndarray]:
    """As many others, the likeliest first: other ways around, headings, gears or gaits; then by chance."""
    motions = _guessed(transcription, vehicle, task, most + 1)
    for motion in islice(motions, 1, most + 1):
        yield _scaled(transcription, vehicle, task, motion)


def _scaled(t: Transcription, vehicle: Vehicle, task: Task, motion: _Guessed) -> np.ndarray:
    nodes, inputs = motion
    if vehicle.lags:
        nodes = nodes.copy()
        nodes[1:, vehicle.node_layout.acting] = input_map_of(vehicle).controls(inputs)[:-1]
    return variables(t, vehicle, task, nodes, inputs)


def _guessed(t: Transcription, vehicle: Vehicle, task: Task, most: int) -> Iterator[_Guessed]:
    """Motions, the one that the first plan starts from first."""
    task, steps = held(vehicle, task), t.shape.steps
    if isinstance(vehicle, HolonomicVehicle):
        axis_b = None if stands(vehicle) else thrust_axis(vehicle, task)
        if axis_b is not None:
            yield burnt(vehicle, task, steps, axis_b)
            for way in paths_of(vehicle, task, most):
                yield burnt(vehicle, task, steps, axis_b, way)
            return
        trim = np.tile(_hovering(vehicle), (steps + 1, 1))
        yield free_motion(vehicle, task, paced_path(vehicle, task, steps)), trim
        for way, heading in _ways_and_headings(vehicle, task, most):
            yield free_motion(vehicle, task, paced_path(vehicle, task, steps, way), heading), trim
        if task.obstacles or task.ground is not None:
            for nodes in flown_by_chance(vehicle, task, steps):
                yield nodes, trim
        return
    if isinstance(vehicle, ArticulatedVehicle):
        yield from led_through_joints(vehicle, task, steps, most)
        return
    if own_space(vehicle):
        yield from led_through_space(t.model, vehicle, task, steps, most)
        return
    assert isinstance(vehicle, NonholonomicVehicle)
    if vehicle.commanded or not vehicle.shape_coordinates or _rolls(vehicle, task):
        yield from driven(vehicle, task, steps, most)
        yield from driven_by_chance(vehicle, task, steps)
    else:
        yield from wriggled(vehicle, task, steps)
        yield from wriggled_by_chance(vehicle, task, steps)


def _ways_and_headings(vehicle: Vehicle, task: Task, most: int) -> list[tuple[np.ndarray, Heading]]:
    headings = _HEADINGS if planar(vehicle) else _HEADINGS[:1]
    pairs = [(i, way, heading) for i, way in enumerate(paths_of(vehicle, task, most)) for heading in headings]
    pairs.sort(key=lambda pair: pair[0] + _LATER[pair[2]])
    return [(way, heading) for _, way, heading in pairs]


def _rolls(vehicle: NonholonomicVehicle, task: Task) -> bool:
    """Whether a motion of its shape alone takes it ahead as it starts."""
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    connection = np.array(ca.evalf(ca.densify(vehicle.connection(ca.SX(task.start.shape), q))))
    return bool(np.abs(connection[1]).max(initial=0.0) > 1e-6)


@lru_cache(maxsize=32)
def _hovering(vehicle: Vehicle) -> np.ndarray:
    """(planned inputs,) that hold it still, upright."""
    return input_map_of(vehicle).trim(vehicle.group.identity())
