"""First guesses, by how a vehicle moves: freely, along its heading, by burns or by wriggling; as the transcription's
variables of nodes and inputs, on this grid or another."""

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import islice

import casadi as ca
import numpy as np

from sim.planner.guess.driven import driven, gait_motion, random_gait, through, with_shape, wriggled
from sim.planner.guess.free import Heading, burnt, free_motion, led_through_space, thrust_axis
from sim.planner.guess.joints import led_through_joints
from sim.planner.guess.route import paced, paced_path, paths_of, stations_of
from sim.planner.guess.shooting import shot
from sim.planner.task.bodies import (
    arc_space,
    arcs,
    increments,
    own_space,
    planar,
    planar_pose,
    points,
    stands,
    turn_rad,
    velocities,
)
from sim.planner.task.inputs import input_map_of
from sim.planner.task.meeting import held
from sim.planner.task.numbers import start_of_free, with_free
from sim.planner.task.task import Task
from sim.planner.transcription.transcription import PlannedMotion, Transcription
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle


def variables(
    transcription: Transcription,
    vehicle: Vehicle,
    task: Task,
    nodes: np.ndarray,
    inputs: np.ndarray,
    *,
    duration_s: float | None = None,
    led: bool = True,
    free: np.ndarray | None = None,
) -> np.ndarray:
    """Scaled variables of nodes (N+1, node size) and planned inputs (N+1, size), over the task's duration or another.

    Private states come from the integrator's own start, unknowns from its guess, or from the poses where they
    are body velocities, which closes all gaps of the poses. Where unknowns are no variables the momenta are then
    those that lead to such arcs; not `led`: those of the nodes' velocities.
    """
    t, h = transcription, (duration_s or task.duration_s) / transcription.shape.steps
    model, n = t.model, t.shape.steps
    free = start_of_free(vehicle, task) if free is None else free
    p, convert = with_free(vehicle, task, free)[0].parameter_vector, t.nodes.conversions
    y = convert.start(nodes, inputs, p, h)
    z = convert.guess(y, inputs, p, h)
    if model.unknown_is_velocity:
        poses = nodes[:, vehicle.node_layout.pose]
        xi = increments(vehicle, poses[:-1], poses[1:]) / h
        moving = np.concatenate([xi, nodes[-1:, vehicle.node_layout.velocity]])
        if model.closed is None:
            z = np.concatenate([moving, z[:, moving.shape[1] :]], axis=1)
        else:
            z = convert.closing(y, moving, p, h)
        if model.eliminates and led:
            y[:n] = convert.led(y[:n], xi, inputs[:n], p, h)
    return assembled(t, y, z, inputs, h, free)


def assembled(
    t: Transcription, y: np.ndarray, z: np.ndarray, inputs: np.ndarray, h: float, free: np.ndarray
) -> np.ndarray:
    """Scaled variables of private states, unknowns and inputs, one row a node, and of what is found with them."""
    model, n = t.model, t.shape.steps
    remembered = (
        np.concatenate([inputs[:1], inputs[:-1]]) if t.shape.remembers_inputs else np.zeros((n + 1, 0))
    )
    states = [y[:, model.form.kept], remembered, np.full((n + 1, int(t.shape.free_time)), h)]
    states.append(np.tile(free, (n + 1, 1)))
    states.append(np.tile(np.r_[states[0][0], states[1][0]][model.ends.periodic], (n + 1, 1)))
    slack = 0.1 * np.ones((n, model.controls.sizes["slack"]))
    free = z[:, : model.controls.sizes["z"]]
    planned = inputs[:, : model.controls.sizes["a"]]
    running = np.concatenate([*[s[:n] for s in states], planned[:n], free[:n], slack], axis=1)
    missing = t.last.v.shape[0] - model.state.size
    own = np.r_[planned[n], free[n]] if model.ends_with_controls else np.zeros(0)
    last = np.r_[np.concatenate([s[n] for s in states]), own, 0.1 * np.ones(missing - own.size)]
    return t.join(running, last)


def resampled(vehicle: Vehicle, move: PlannedMotion, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (m, node size) and inputs (m, planned inputs) of a motion at shares (m,) of its time, in equal times."""
    n, at = len(move.nodes) - 1, vehicle.node_layout
    where = n * shares
    k = np.minimum(where.astype(int), n - 1)
    share = where - k
    nodes = move.nodes[k] * (1 - share[:, None]) + move.nodes[k + 1] * share[:, None]
    starts = move.nodes[k][:, at.pose]
    xi = arcs(arc_space(vehicle), starts, move.nodes[k + 1][:, at.pose])
    nodes[:, at.pose] = points(arc_space(vehicle), starts, xi, share)
    pace = (len(shares) - 1) * np.gradient(shares)[:, None]
    nodes[:, [i for i, _ in velocities(vehicle)]] *= pace
    nodes[:, at.shape_velocity] *= pace
    inputs = move.inputs[k] * (1 - share[:, None]) + move.inputs[k + 1] * share[:, None]
    return nodes, inputs


def transferred(
    transcription: Transcription,
    vehicle: Vehicle,
    task: Task,
    move: PlannedMotion,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """Scaled variables of another transcription from a motion, at shares (N+1,) of its time; None: as it is."""
    if shares is None:
        shares = np.linspace(0.0, 1.0, transcription.shape.steps + 1)
    nodes, inputs = resampled(vehicle, move, shares)
    duration_s = move.step_s * (len(move.nodes) - 1)
    # Arcs between coarse nodes turn in jumps; momenta that lead along them would, too.
    known = move.free if move.free is not None and len(move.free) == len(task.free_parameters) else None
    return variables(
        transcription, vehicle, task, nodes, inputs, duration_s=duration_s, led=False, free=known
    )


def sooner_or_later(steps: int, bows: int, nodes: float) -> np.ndarray:
    """(steps+1,) shares of the time: all is done sooner (or later, below zero) by so many nodes in the middle; with two
    bows in the first half, and later in the second."""
    even = np.linspace(0.0, 1.0, steps + 1)
    return np.asarray(np.clip(even + nodes / steps * np.sin(bows * np.pi * even), 0.0, 1.0))


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
        off = t.model.held_inputs
        driven_by = [i for i in range(t.model.input_map.size) if i not in off]
        if off and planar(vehicle) and len(driven_by) == 1:
            yield from shot(vehicle, task, t.shape.integrator, steps, driven_by[0])
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
        yield from led_through_space(t, vehicle, task, most, partial(variables, t, vehicle, task))
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
