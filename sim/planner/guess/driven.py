"""Guesses for what keeps to constraints: rolling along its heading, or wriggling by a simulated gait."""

from collections.abc import Iterator
from itertools import pairwise, zip_longest

import casadi as ca
import numpy as np

from sim.compiler import OK
from sim.integrators import integrator
from sim.planner.guess.route import paced_path, paths_of
from sim.planner.guess.turning import GearSegment, length_m, ways_in_gears
from sim.planner.task.bodies import (
    counts_turns,
    heading_rad,
    place,
    planar_pose,
    planar_poses,
    positions,
    turn_rad,
    wrapped,
)
from sim.planner.task.open_start import is_lap
from sim.planner.task.task import Task
from sim.platform.values import dataclass
from sim.steppers.dynamics import stepper_of
from sim.steppers.trajectory import Law
from sim.vehicles.forms.form import State
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Quantities
from sim.world.path import arc_length

_AHEAD, _BOW, _LEAST_ASIDE = 2.5, 0.6, 0.25
"""How far ahead of a goal beside the start one goes, in distances aside, the share of the time that it takes,
and what counts as aside at least, in distances."""
_TURNS = (
    (0.3, -0.15, 0.15),
    (1.25, -0.15, 0.15),
    (0.0, -0.6),
    (0.6, -0.3, 0.3),
    (0.0, -0.9),
    (0.6, -0.15, 0.15),
    (0.3, -0.5, 0.2),
    (1.25, -0.3, 0.3),
    (0.0, -0.4),
    (0.6, -0.6),
    (0.0, -0.2),
    (0.0,),
    (1.25, -0.2),
    (2.0, -0.2),
)
"""Ways into a place: how far on ahead at first, then where the gear changes, behind the goal or ahead of it, beginning
in reverse; in distances aside. In the order in which they add the most places whose best way is found."""
_CIRCLES, _ROUND = (0.3, 0.1, 0.03), 2.0
"""Shares of the way at full speed that circles take where the goal's heading counts full turns; how many times the
straight way they are long at least."""
_AT_REST_S2 = 0.1
"""What an acceleration of what leans counts, beside velocities that are missed, where a guess has it hold still."""
_LIKELY, _LOOP = 9, 2.2
"""How many of them come before going all the way around once, and how wide that is, in distances aside."""


def driven(
    vehicle: NonholonomicVehicle, task: Task, steps: int, most: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size): the likeliest first, then ways that are searched for and
    ways by plain bows in turn."""
    if counts_turns(vehicle, task) and not task.waypoints:
        for share in _CIRCLES:
            yield with_shape(vehicle, task, *_circled(task, steps, share))
    plain = _plain(vehicle, task, steps, most)
    yield with_shape(vehicle, task, *next(plain))
    searched = (_in_gears(task, way, steps) for way in ways_in_gears(vehicle, task, most))
    for pair in zip_longest(searched, plain):
        for motion in pair:
            if motion is not None:
                yield with_shape(vehicle, task, *motion)


_Driven = tuple[np.ndarray, np.ndarray]
"""(N+1, 3) places and (N+1,) headings."""


def _plain(vehicle: NonholonomicVehicle, task: Task, steps: int, most: int) -> Iterator[_Driven]:
    """By the way, or by a bow and back where that leads nowhere; along other ways, in reverse, by other bows."""
    beside = _is_beside(task)
    if beside:
        yield _shuffled(task, steps)
    else:
        yield _by_way(vehicle, task, steps, None)
    ways = paths_of(vehicle, task, most)
    by_ways = [(way, reverse) for reverse in (False, True) for way in ways]
    for way, reverse in () if beside else by_ways:
        yield _by_way(vehicle, task, steps, way, reverse=reverse)
    for manoeuvre in _manoeuvres(task):
        yield through(task, manoeuvre, steps)
    for way, reverse in by_ways if beside else ():
        yield _by_way(vehicle, task, steps, way, reverse=reverse)


def _in_gears(task: Task, way: list[GearSegment], steps: int) -> _Driven:
    """(N+1, 3) places and (N+1,) headings along segments, at rest between them, in times by the roots of
    their lengths."""
    times = np.r_[0.0, np.cumsum([np.sqrt(max(length_m(segment), 1e-6)) for segment in way])]
    t = np.linspace(0.0, times[-1], steps + 1)
    poses = np.empty((steps + 1, 3))
    for i, segment in enumerate(way):
        now = (t >= times[i]) & (t <= times[i + 1])
        done = arc_length(segment.poses[:, 1:])
        along = _eased((t[now] - times[i]) / (times[i + 1] - times[i])) * done[-1]
        poses[now] = np.stack([np.interp(along, done, column) for column in segment.poses.T], axis=1)
    return np.c_[poses[:, 1:], np.zeros(steps + 1)], poses[:, 0]


def _by_way(
    vehicle: NonholonomicVehicle, task: Task, steps: int, way: np.ndarray | None, *, reverse: bool = False
) -> _Driven:
    """(N+1, 3) places and (N+1,) headings."""
    places = paced_path(vehicle, task, steps, way)
    if is_lap(vehicle, task):
        return places, _around(places, heading_rad(task.start), reverse=reverse)
    return places, _along(places, task, reverse=reverse)


def with_shape(
    vehicle: NonholonomicVehicle, task: Task, places: np.ndarray, heading: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """With the places and headings; shape and shape velocity by least squares of the body velocity."""
    steps = len(places) - 1
    h = task.duration_s / steps
    poses = planar_poses(heading, places)
    speed = np.gradient(places[:, :2], h, axis=0)
    forward = np.cos(heading) * speed[:, 0] + np.sin(heading) * speed[:, 1]
    xi = np.stack([np.gradient(heading, h), forward, np.zeros_like(forward)], axis=1)
    if not vehicle.shape_coordinates:
        return np.c_[poses, xi], np.zeros((steps + 1, len(vehicle.controls)))
    r, u, leant = _shapes_that_move(vehicle, task, xi)
    for i in vehicle.dynamic:
        if i in leant:
            u[:, i] = np.gradient(r[:, i], h)
        else:
            r[:, i] = task.start.shape[i] + np.r_[0.0, np.cumsum((u[1:, i] + u[:-1, i]) / 2 * h)]
    if vehicle.dependent:
        _follow(vehicle, task, r, u, h, forward)
    nodes = np.c_[poses, _body_velocities(vehicle, r, u), r, u]
    inputs = np.zeros((steps + 1, len(vehicle.controls)))
    names = [c.name for c in vehicle.controls]
    for i, coordinate in enumerate(vehicle.shape_coordinates):
        if coordinate.name in vehicle.commanded:
            rate = np.gradient(r[:, i], h)
            nodes[:, vehicle.node_layout.shape_velocity][:, i] = rate
            inputs[:, names.index(vehicle.commanded[coordinate.name])] = rate
    return nodes, inputs


def _chord_b(task: Task) -> np.ndarray:
    """(2,) from start to goal, ahead and left of the start."""
    a, d = heading_rad(task.start), place(task.goal.state) - place(task.start)
    return np.array([np.cos(a) * d[0] + np.sin(a) * d[1], np.cos(a) * d[1] - np.sin(a) * d[0]])


def _goal_heading(task: Task) -> float:
    """Nearest to the start's, but for full turns that it counts; the same where it is free."""
    a = heading_rad(task.start)
    return a if task.goal.rotation == "free" else a + turn_rad(task)


def _is_beside(task: Task) -> bool:
    """Whether it has to come to lie beside where it starts, facing about the same way; a straight way leads nowhere."""
    ahead, left = np.abs(_chord_b(task))
    turn = _goal_heading(task) - heading_rad(task.start)
    return bool(left > 1.2 * ahead and left > 1e-3 and abs(turn) < 1.0 and not task.waypoints)


def _shuffled(task: Task, steps: int) -> _Driven:
    """(N+1, 3) places and (N+1,) headings: ahead of the goal in a bow, and back into it."""
    a, b = heading_rad(task.start), _goal_heading(task)
    left = abs(_chord_b(task)[1])
    start, goal = place(task.start), place(task.goal.state)
    cusp = goal + _AHEAD * left * _direction(b)
    t = np.linspace(0.0, 1.0, steps + 1)
    s, back = _eased(t / _BOW), _eased((t - _BOW) / (1.0 - _BOW))
    xy, heading = _bow(np.r_[a, start], np.r_[b, cusp], 1.0, s)
    return np.c_[xy - back[:, None] * (cusp - goal), np.zeros(steps + 1)], heading


_Segment = tuple[np.ndarray, float]
"""A pose (heading, x, y) to be reached, in forward (1) or reverse gear (-1)."""


def _manoeuvres(task: Task) -> Iterator[list[_Segment]]:
    """Ways into a place: on ahead first or at once, back into it or past it and forth, the likeliest first."""
    a, b = heading_rad(task.start), _goal_heading(task)
    start, goal = planar_pose(task.start), np.r_[b, place(task.goal.state)]
    aside = max(abs(_chord_b(task)[1]), _LEAST_ASIDE * float(np.linalg.norm(goal[1:] - start[1:])))

    def along(end: np.ndarray, share: float) -> np.ndarray:
        heading = float(end[0])
        return end + np.r_[0.0, share * aside * _direction(heading)]

    def turned(ahead: float, *turns: float) -> list[_Segment]:
        first = [(along(start, ahead), 1.0)] if ahead else []
        return first + [
            (pose, -((-1.0) ** i)) for i, pose in enumerate([*(along(goal, x) for x in turns), goal])
        ]

    def looped(gear: float) -> list[_Segment]:
        """All the way around once, on the side away from the goal."""
        side = -float(np.copysign(1.0, _chord_b(task)[1]))
        half = gear * side * np.pi * np.r_[1.0, 0.0, 0.0]
        opposite = np.r_[0.0, side * _LOOP * aside * _direction(a + np.pi / 2)]
        return [(start + opposite + half, gear), (goal + 2.0 * half, gear)]

    yield from (turned(*turns) for turns in _TURNS[:_LIKELY])
    yield looped(-1.0)
    yield from (turned(*turns) for turns in _TURNS[_LIKELY:])
    yield [(along(goal, -_AHEAD), -1.0), (goal, 1.0)]
    yield [(along(start, -1.25), -1.0), (goal, 1.0)]
    yield [(goal, 1.0)]
    yield looped(1.0)


def _circled(task: Task, steps: int, share: float) -> _Driven:
    """(N+1, 3) places and (N+1,) headings: as many turns as the goal's heading counts, on circles that take this share
    of the way at full speed, and are carried from the start to the goal meanwhile."""
    start, turn = planar_pose(task.start), turn_rad(task)
    s = _eased(np.linspace(0.0, 1.0, steps + 1))
    chord = place(task.goal.state) - start[1:]
    way_m = max(share * task.limits.speed_mps * task.duration_s, _ROUND * float(np.linalg.norm(chord)))
    radius_m = way_m / abs(turn)
    headings = start[0] + s * turn
    centre = start[1:] + np.sign(turn) * radius_m * _direction(start[0] + np.pi / 2)
    around = np.sign(turn) * radius_m * np.stack([np.sin(headings), -np.cos(headings)], axis=1)
    # Where the last turn is not whole the goal is off the circle: the rest of the way is spread evenly.
    places = centre + around
    places += s[:, None] * (chord - (places[-1] - places[0]))
    return np.c_[places, np.zeros(steps + 1)], headings


def through(task: Task, segments: list[_Segment], steps: int) -> _Driven:
    """(N+1, 3) places and (N+1,) headings along bows, at rest between them, in times by the roots of
    their lengths."""
    poses = [planar_pose(task.start), *(pose for pose, _ in segments)]
    lengths = [max(float(np.linalg.norm(b[1:] - a[1:])), 1e-6) for a, b in pairwise(poses)]
    times = np.r_[0.0, np.cumsum(np.sqrt(lengths))]
    t = np.linspace(0.0, times[-1], steps + 1)
    xy, heading = np.empty((steps + 1, 2)), np.empty(steps + 1)
    for i, (_, gear) in enumerate(segments):
        now = (t >= times[i]) & (t <= times[i + 1])
        s = _eased((t[now] - times[i]) / (times[i + 1] - times[i]))
        xy[now], heading[now] = _bow(poses[i], poses[i + 1], gear, s)
    return np.c_[xy, np.zeros(steps + 1)], heading


def _bow(a: np.ndarray, b: np.ndarray, gear: float, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) places and (n,) headings of the cubic from pose a to pose b (heading, x, y), at shares s (n,) of it."""
    reach = gear * float(np.linalg.norm(b[1:] - a[1:]))
    blend = np.stack([2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s, 3 * s**2 - 2 * s**3, s**3 - s**2], axis=1)
    slope = np.stack([6 * s**2 - 6 * s, 3 * s**2 - 4 * s + 1, 6 * s - 6 * s**2, 3 * s**2 - 2 * s], axis=1)
    knots = np.stack([a[1:], reach * _direction(a[0]), b[1:], reach * _direction(b[0])])
    tangent = gear * (slope @ knots)
    return blend @ knots, a[0] + np.unwrap(np.arctan2(tangent[:, 1], tangent[:, 0]) - a[0])


def _direction(heading: float) -> np.ndarray:
    """(2,) unit vector."""
    return np.array([np.cos(heading), np.sin(heading)])


def _eased(s: np.ndarray) -> np.ndarray:
    """From 0 to 1 and at rest at both."""
    s = np.clip(s, 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


def _around(places: np.ndarray, near_rad: float, *, reverse: bool) -> np.ndarray:
    """(N+1,) continuous headings of a closed way (N+1, 3), or against it, from about the given one."""
    step = np.gradient(places[:, :2], axis=0) * (-1.0 if reverse else 1.0)
    heading = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    return np.asarray(heading + near_rad + wrapped(heading[0] - near_rad) - heading[0])


def _along(places: np.ndarray, task: Task, *, reverse: bool) -> np.ndarray:
    """(N+1,) continuous headings of the way, or against it, turning into those of the ends."""
    step = np.gradient(places[:, :2], axis=0) * (-1.0 if reverse else 1.0)
    a, b = heading_rad(task.start), heading_rad(task.goal.state)
    chord = (places[-1, :2] - places[0, :2]) * (-1.0 if reverse else 1.0)
    ahead = np.hypot(*chord) > 1e-6 and abs(wrapped(np.arctan2(chord[1], chord[0]) - a)) < 1.0
    if not ahead and not reverse:
        return np.asarray(a + wrapped(b - a) * np.linspace(0.0, 1.0, len(places)))
    heading = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    heading += wrapped(heading[0] - a) + a - heading[0]
    s = np.linspace(0.0, 1.0, len(places))
    early, late = np.clip(1 - 6 * s, 0, 1) ** 2, np.clip(6 * s - 5, 0, 1) ** 2
    return np.asarray(heading - early * wrapped(heading[0] - a) + late * wrapped(b - heading[-1]))


def _shapes_that_move(
    vehicle: NonholonomicVehicle, task: Task, xi: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """(N+1, n_shape) shapes and dynamic shape velocities that come closest to body velocities, by Gauss-Newton; and
    which dynamic coordinates are found as places, since where they are says how the body moves: a bicycle's steering.
    These hold still by themselves there, as nearly as can be, as one that leans into its bend."""
    n = len(vehicle.shape_coordinates)
    r, u, want = ca.SX.sym("r", n), ca.SX.sym("u", n), ca.SX.sym("xi", vehicle.group.dim)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    connection = vehicle.connection(r, q)
    leant = _leant(vehicle)
    rolled = [i for i in vehicle.dynamic if i not in leant]
    free = [i for i in range(n) if i not in rolled and i not in vehicle.bound]
    unknown = ca.vertcat(u[rolled], r[free])
    miss = -(connection @ vehicle.completed(r, u, q)) - want
    if leant:
        still = _accelerations(vehicle, r, u, q)[[vehicle.dynamic.index(i) for i in leant]]
        miss = ca.vertcat(miss, _AT_REST_S2 * still)
    slope = ca.jacobian(miss, unknown)
    step = -ca.solve(slope.T @ slope + 1e-6 * ca.SX.eye(unknown.shape[0]), slope.T @ miss)
    count = len(xi)
    newton = ca.Function("newton", [r, u, want], [step]).map(count)
    rs, us = np.tile(task.start.shape, (count, 1)), np.zeros((count, n))
    us[:, rolled] = 1e-3
    for _ in range(12):
        change = np.array(newton(rs.T, us.T, xi.T)).T
        us[:, rolled] += change[:, : len(rolled)]
        rs[:, free] += np.clip(change[:, len(rolled) :], -0.3, 0.3)
        for i in free:
            stops = vehicle.shape_coordinates[i]
            rs[:, i] = np.clip(rs[:, i], 0.8 * stops.low, 0.8 * stops.high)
    us[:, free] = 0.0
    return rs, us, leant


def _follow(
    vehicle: NonholonomicVehicle, task: Task, rs: np.ndarray, us: np.ndarray, h: float, ahead: np.ndarray
) -> None:
    """Dependent shapes along the others (N+1, n_shape), in place: on ahead from where they are, backwards in time from
    where a way in reverse ends, for what is pulled settles and what is pushed runs away."""
    n, bound = len(vehicle.shape_coordinates), vehicle.bound
    r, u = ca.SX.sym("r", n), ca.SX.sym("u", n)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    rates = ca.Function("rates", [r, u], [ca.densify(vehicle.completed(r, u, q)[bound])])
    gear = np.where(ahead[:-1] + ahead[1:] < 0.0, -1, 1)
    changes = [0, *(np.flatnonzero(np.diff(gear)) + 1), len(gear)]
    ends = {0: task.start.shape, len(gear): task.goal.state.shape}
    for begun, ended in pairwise(changes):
        way = range(begun, ended, 1) if gear[begun] > 0 else range(ended, begun, -1)
        here = way[0]
        if here in ends:
            rs[here, bound] = ends[here][bound]
        for k in way:
            to = k + int(gear[begun])
            middle = (rs[k] + rs[to]) / 2
            middle[bound] = rs[k, bound]
            step = int(gear[begun]) * h * np.array(rates(middle, (us[k] + us[to]) / 2)).ravel()
            us[k, bound] = step / (int(gear[begun]) * h)
            rs[to, bound] = rs[k, bound] + step


def _leant(vehicle: NonholonomicVehicle) -> list[int]:
    """Dynamic coordinates on whose place the motion of the body depends."""
    n, q = len(vehicle.shape_coordinates), vehicle.symbols(ca.SX(vehicle.parameter_vector))
    r, u = ca.SX.sym("r", n), ca.SX.sym("u", n)
    moves = ca.densify(vehicle.connection(r, q) @ vehicle.completed(r, u, q))
    return [i for i in vehicle.dynamic if any(ca.which_depends(moves, r[i], 1, True))]


def _accelerations(vehicle: NonholonomicVehicle, r: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
    """(n dynamic,) of the dynamic coordinates where nothing is done, moving along as it has to for u."""
    n, none = len(vehicle.dynamic), ca.SX.zeros(len(vehicle.controls))
    own = ca.SX.sym("own", n)
    at = vehicle.completed(r, vehicle.free_velocity(own, none), q)
    _, by_shape, mu = vehicle.gradients(r, at, -(vehicle.connection(r, q) @ at), q)
    mass = ca.substitute(ca.jacobian(vehicle.momenta(r, by_shape, mu, q)[:n], own), own, ca.SX.zeros(n))
    whole = vehicle.completed(r, u, q)
    wrench = ca.SX.zeros(vehicle.group.dim)
    rates = vehicle.momentum_rates(r, whole, -(vehicle.connection(r, q) @ whole), wrench, none, q)
    return ca.solve(mass, rates[:n])


def _body_velocities(vehicle: NonholonomicVehicle, rs: np.ndarray, us: np.ndarray) -> np.ndarray:
    n = len(vehicle.shape_coordinates)
    r, u = ca.SX.sym("r", n), ca.SX.sym("u", n)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    move = ca.Function("xi", [r, u], [ca.densify(-(vehicle.connection(r, q) @ u))])
    return np.array(move.map(len(rs))(rs.T, us.T)).T


_WAVES = ((3, 2), (2, 3), (2, 1), (2, 2), (1, 2))
"""Periods of the rotor and of the steering in gaits that drive sideways, turn and drive ahead."""

_SWINGS = tuple((periods, amplitude) for periods in (2, 4, 6, 8) for amplitude in (0.5, 1.2))
"""Periods and amplitudes of a shape of one coordinate."""


_GAIT_STEP_S, _GAIT_STEPS = 0.01, 4000
"""In which a gait is simulated, and in how many of them at most: of a slow one, each is a small share of a period."""


@dataclass(frozen=True)
class Gait:
    """Sines of the shape's coordinates, which swell from rest and die away."""

    periods: tuple[float, ...]
    """In the task's time, one for each coordinate."""
    amplitudes: tuple[float, ...]
    phases_rad: tuple[float, ...]


def wriggled(vehicle: NonholonomicVehicle, task: Task, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size) of gaits under the integrator itself."""
    others = len(vehicle.shape_coordinates) - 1
    if not others:
        # How far a swing leads grows with its square and with how often it is made: what ends nearest comes first.
        found = [gait_motion(vehicle, task, steps, Gait((n,), (a,), (0.0,))) for n, a in _SWINGS]
        goal = place(task.goal.state)
        misses = [float(np.linalg.norm(positions(vehicle, nodes[-1:])[0, :2] - goal)) for nodes, _ in found]
        yield from (found[i] for i in np.argsort(misses))  # what has no end is last
        return
    for first, other in _WAVES:
        for side in (1.0, -1.0):
            gait = Gait((first, *(other,) * others), (side * 1.2, *(0.6,) * others), (0.0,) * (others + 1))
            yield gait_motion(vehicle, task, steps, gait)


def random_gait(vehicle: NonholonomicVehicle, rng: np.random.Generator) -> Gait:
    """Of one to four periods, and of any phases."""
    count = len(vehicle.shape_coordinates)
    sizes = (
        np.r_[1.2, np.full(count - 1, 0.6)] * rng.uniform(0.5, 1.5, count) * rng.choice([-1.0, 1.0], count)
    )
    waves = rng.integers(1, 5, count) + rng.choice([0.0, 0.5], count)
    return Gait(tuple(waves), tuple(sizes), tuple(rng.uniform(-0.5, 0.5, count) * np.pi))


def gait_motion(
    vehicle: NonholonomicVehicle, task: Task, steps: int, gait: Gait
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (N+1, node size) and planned inputs (N+1, size): the shape follows a gait as its controls allow."""
    h = task.duration_s / steps
    amplitude, waves, phases = (np.array(part) for part in (gait.amplitudes, gait.periods, gait.phases_rad))
    stiffness, at = (20.0 / task.duration_s * waves.max()) ** 2, vehicle.node_layout
    inertia = _shape_inertia(vehicle)
    low, high = np.array([[c.low, c.high] for c in vehicle.controls]).T

    def follow(t: float, state: State) -> np.ndarray:
        s = min(t / task.duration_s, 1.0)
        envelope = np.sin(np.pi * s) ** 2
        wanted = task.start.shape + amplitude * np.sin(2 * np.pi * waves * s + phases) * envelope
        rate = -2.0 * np.sqrt(stiffness) * state.node[at.shape_velocity]
        return np.clip(inertia * (stiffness * (wanted - state.shape) + rate), low, high)

    fine = max(1, int(np.ceil(min(h / _GAIT_STEP_S, _GAIT_STEPS / steps))))
    nodes, held = _held(vehicle, task.start, follow, h / fine, steps * fine)
    inputs = held.reshape(steps, fine, -1).mean(axis=1)
    return nodes[::fine], np.concatenate([inputs, inputs[-1:]])


def _held(
    vehicle: NonholonomicVehicle, start: State, law: Law, h: float, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (count+1, node size) and controls (count, n_controls), which are those of a step's start throughout it: a
    guess needs no second order, for which `simulate` takes three times as long. NaN from where a step has no solution.
    """
    stepper, p = stepper_of(vehicle, integrator("variational")), vehicle.parameter_vector
    nothing = np.zeros(vehicle.wrench_size)
    nodes = np.full((count + 1, vehicle.node_layout.size), np.nan)
    held = np.zeros((count, len(vehicle.controls)))
    nodes[0], y = start.node, stepper.start(start.node, vehicle.neutral_controls, p, h)
    for k in range(count):
        held[k] = law(k * h, vehicle.state_at_node(nodes[k]))
        _, status, _ = stepper.advance(y, held[k], nothing, p, h, 1)
        if status != OK:
            break
        nodes[k + 1] = stepper.node(y, held[k], p, h)
    return nodes, held


def _shape_inertia(vehicle: NonholonomicVehicle) -> np.ndarray:
    """(n_shape,) about the straight shape."""
    n = len(vehicle.shape_coordinates)
    r, u, xi = ca.SX.zeros(n), ca.SX.sym("u", n), ca.SX.zeros(vehicle.group.dim)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    mass = ca.hessian(vehicle.lagrangian(r, u, xi, q), u)[0]
    return np.array(ca.evalf(ca.densify(ca.diag(mass)))).ravel()
