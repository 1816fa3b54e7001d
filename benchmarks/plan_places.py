"""Random tasks to measure the planner by, and random motions that a search of many starts begins with."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np

import sim
from sim.planner import Box, Capsule, Cylinder, Goal, Limits, Sphere, Task, Weights, task_of_scene
from sim.planner.guess.driven import Gait, gait_motion, through, with_shape
from sim.planner.guess.free import free_motion
from sim.planner.guess.route import paced
from sim.planner.task.bodies import positions
from sim.planner.task.inputs import input_map_of
from sim.planner.task.task import Obstacle
from sim.scene import load_scene

Motion = tuple[np.ndarray, np.ndarray]
"""Nodes (N+1, node size) and planned inputs (N+1, size)."""
Placed = tuple[sim.Vehicle, Task]
_BOAT_BALLS = ((0.8, 0.0, 0.0, 0.7), (-0.8, 0.0, 0.0, 0.7))
_MIDDLE_M = 1.2
"""Of the car's balls, ahead of its origin."""


@cache
def _scene(name: str) -> Placed:
    return task_of_scene(load_scene(name))


def _along(heading: float, by_m: float = 1.0) -> np.ndarray:
    """(2,)."""
    return by_m * np.array([np.cos(heading), np.sin(heading)])


def _box(middle: np.ndarray, half: tuple[float, float], heading: float, name: str) -> Box:
    return Box((float(middle[0]), float(middle[1]), 0.0), (*half, 1.0), heading, name)


# Places.


def harbour(rng: np.random.Generator) -> Placed:
    """A boat in wind among two to six buoys, from any heading to any heading."""
    boat = sim.vehicle("boat", wind=tuple(rng.uniform(-6.0, 6.0, 2)))
    start = boat.state(x=rng.uniform(-4, 4), y=rng.uniform(-8, 8), theta=rng.uniform(-np.pi, np.pi))
    goal = boat.state(x=rng.uniform(18, 26), y=rng.uniform(-8, 8), theta=rng.uniform(-np.pi, np.pi))
    buoys = tuple(
        Cylinder((rng.uniform(4, 18), rng.uniform(-7, 7), 0.0), rng.uniform(0.8, 2.5), f"buoy {i}")
        for i in range(rng.integers(2, 7))
    )
    return boat, Task(start, Goal(goal), 20.0, obstacles=buoys, clearance_m=0.3, body=_BOAT_BALLS)


def piers(rng: np.random.Generator) -> Placed:
    """A boat in wind into a berth between two piers of three or four at a quay, bow or stern first, past up to three
    buoys."""
    boat = sim.vehicle("boat", wind=tuple(rng.uniform(-5.0, 5.0, 2)))
    long_m, wide_m, count = rng.uniform(5.0, 9.0), rng.uniform(4.0, 6.5), int(rng.integers(3, 5))
    quay_x = 24.0
    first_y = rng.uniform(-6.0, 6.0) - wide_m * (count - 1) / 2
    solid: list[Obstacle] = [_box(np.array([quay_x + 1.0, 0.0]), (1.0, 20.0), 0.0, "quay")]
    solid += [
        _box(np.array([quay_x - long_m / 2, first_y + wide_m * i]), (long_m / 2, 0.5), 0.0, f"pier {i}")
        for i in range(count)
    ]
    solid += [
        Cylinder((rng.uniform(3.0, 14.0), rng.uniform(-8, 8), 0.0), rng.uniform(0.6, 1.8), f"buoy {i}")
        for i in range(rng.integers(0, 4))
    ]
    berth = first_y + wide_m * (rng.integers(0, count - 1) + 0.5)
    goal = boat.state(
        x=quay_x - rng.uniform(2.5, long_m - 1.0), y=berth, theta=float(rng.choice([0.0, np.pi]))
    )
    start = boat.state(x=rng.uniform(-4, 4), y=rng.uniform(-8, 8), theta=rng.uniform(-np.pi, np.pi))
    return boat, Task(start, Goal(goal), 22.0, obstacles=tuple(solid), clearance_m=0.2, body=_BOAT_BALLS)


def canyon(rng: np.random.Generator) -> Placed:
    """The helicopter's way through the canyon, by its waypoint or not, among two to four rocks, masts and beams close
    to the straight way: each is passed left or right, over or under."""
    helicopter, task = _scene("plan-canyon")
    a, b = _ends(helicopter, task)
    across = np.cross([0.0, 0.0, 1.0], (b - a) / np.linalg.norm(b - a))
    found: list[Obstacle] = []
    for i, share in enumerate(np.linspace(0.2, 0.8, rng.integers(2, 5))):
        middle = a + (share + rng.uniform(-0.06, 0.06)) * (b - a) + rng.normal(0.0, 5.0) * across
        middle[2] += rng.normal(0.0, 4.0)
        kind, arm = rng.integers(3), rng.uniform(6.0, 20.0) * across
        if kind == 0:
            found.append(Sphere(tuple(middle), rng.uniform(4.0, 10.0), f"rock {i}"))
        elif kind == 1:
            found.append(Cylinder(tuple(middle), rng.uniform(1.0, 4.0), f"mast {i}"))
        else:
            found.append(
                Capsule(tuple(middle - arm), tuple(middle + arm), rng.uniform(0.5, 2.0), f"beam {i}")
            )
    return helicopter, replace(
        task, obstacles=tuple(found), waypoints=task.waypoints if rng.random() < 0.5 else ()
    )


def forest(rng: np.random.Generator) -> Placed:
    """A model helicopter or a quadrotor from one side of 8 to 14 trunks to the other."""
    trunks = tuple(
        Cylinder((rng.uniform(3.0, 17.0), rng.uniform(-6, 6), 0.0), rng.uniform(0.3, 1.2), f"trunk {i}")
        for i in range(rng.integers(8, 15))
    )
    ends = np.array([[0.0, rng.uniform(-4, 4), 3.0], [20.0, rng.uniform(-4, 4), rng.uniform(2.5, 4.0)]])
    low, high = (-50.0, -50.0, 0.5), (70.0, 50.0, 8.0)
    if rng.random() < 0.5:
        heli, turn = (
            sim.vehicle("helicopter", mass=8.0, inertia=(0.3, 0.6, 0.6), drag=0.05),
            rng.uniform(-2, 2),
        )
        c, s = np.cos(turn), np.sin(turn)
        goal = heli.state(x=ends[1], R=np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
        limits = Limits(speed_mps=12.0, controls={"u_c": (0.0, 160.0)}, low_w=low, high_w=high)
        return heli, Task(
            heli.state(x=ends[0]),
            Goal(goal),
            7.0,
            obstacles=trunks,
            clearance_m=0.2,
            weights=Weights(comfort=0.05),
            limits=limits,
            body=((0.0, 0.0, 0.0, 0.4),),
        )
    quadrotor, gates = _scene("plan-quadrotor-gates")
    return quadrotor, replace(
        gates,
        start=quadrotor.state(x=ends[0]),
        goal=Goal(quadrotor.state(x=ends[1])),
        free_duration=None,
        duration_s=7.0,
        weights=Weights(comfort=0.1),
        waypoints=(),
        obstacles=trunks,
        limits=replace(gates.limits, low_w=low, high_w=high),
    )


def parking(rng: np.random.Generator) -> Placed:
    """The car beside a gap of 6.8 to 8.2 m, up to 0.5 rad askew."""
    car, task = _scene("plan-car-parking")
    x, y, theta = rng.uniform((-4.0, -0.3, -0.5), (4.0, 1.5, 0.5))
    front = replace(task.obstacles[1], centre_w=(3.4 + rng.uniform(-0.4, 1.0), -2.6, 0.0))
    obstacles = (task.obstacles[0], front, *task.obstacles[2:])
    return car, replace(task, start=car.state(x=x, y=y, theta=theta), obstacles=obstacles)


def slot(rng: np.random.Generator) -> Placed:
    """The car and a slot of 6.3 to 8.5 m between two others at either side of a street, from ahead of it or behind,
    facing along the street or, one time in five, against it."""
    car, task = _scene("plan-car-parking")
    side, long_m, wide_m = float(rng.choice([-1.0, 1.0])), rng.uniform(6.3, 8.5), rng.uniform(3.0, 5.5)
    lane = side * 2.6
    behind, ahead = np.array([-long_m / 2 - 2.1, lane]), np.array([long_m / 2 + 2.1, lane])
    obstacles = (
        _box(behind, (2.1, 0.9), rng.uniform(-0.05, 0.05), "car behind"),
        _box(ahead, (2.1, 0.9), rng.uniform(-0.05, 0.05), "car in front"),
        _box(np.array([0.0, side * 4.8]), (20.0, 0.8), 0.0, "kerb"),
        _box(np.array([0.0, -side * (wide_m + 0.5)]), (20.0, 0.5), 0.0, "wall"),
    )
    against = np.pi if rng.random() < 0.2 else 0.0
    start = car.state(
        x=rng.uniform(-9.0, 7.0), y=side * rng.uniform(-1.5, 0.2), theta=rng.uniform(-0.4, 0.4) + against
    )
    goal = replace(task.goal, state=car.state(x=-_MIDDLE_M + rng.uniform(-0.3, 0.3), y=lane))
    return car, replace(task, start=start, goal=goal, obstacles=obstacles)


def bay(rng: np.random.Generator) -> Placed:
    """The car from an aisle of 4.5 to 6.5 m into a bay between two others, perpendicular or slanted, nose or tail
    first."""
    car, task = _scene("plan-car-parking")
    slant = -np.pi / 2 + (0.0 if rng.random() < 0.4 else rng.uniform(-0.7, 0.7))
    beside = np.array([rng.uniform(2.3, 2.8) / abs(np.sin(slant)), 0.0])
    aisle_m = rng.uniform(4.5, 6.5)
    middle = np.array([0.0, -aisle_m / 2]) + _along(slant, 2.6 / abs(np.sin(slant)) ** 0.5)
    obstacles = (
        _box(middle - beside, (2.2, 0.9), slant, "car at the left"),
        _box(middle + beside, (2.2, 0.9), slant, "car at the right"),
        _box(np.array([0.0, middle[1] - 3.6]), (20.0, 0.5), 0.0, "wall"),
        _box(np.array([0.0, aisle_m / 2 + 0.5]), (20.0, 0.5), 0.0, "wall of the aisle"),
    )
    heading = slant + (np.pi if rng.random() < 0.5 else 0.0)
    x, y = middle - _along(heading, _MIDDLE_M)
    start = car.state(
        x=rng.uniform(-9.0, 9.0),
        y=rng.uniform(-0.8, 0.8),
        theta=rng.uniform(-0.25, 0.25) + float(rng.choice([0.0, np.pi])),
    )
    goal = replace(task.goal, state=car.state(x=x, y=y, theta=float((heading + np.pi) % (2 * np.pi) - np.pi)))
    return car, replace(task, start=start, goal=goal, obstacles=obstacles)


def yard(rng: np.random.Generator) -> Placed:
    """The car in a yard of 9 to 14 by 8 to 12 m with up to two pillars, from any pose to any pose."""
    car, task = _scene("plan-car-parking")
    half = np.array([rng.uniform(4.5, 7.0), rng.uniform(4.0, 6.0)])
    walls = [
        _box(np.array([0.0, side * (half[1] + 0.5)]), (half[0] + 1.0, 0.5), 0.0, f"wall {side:+.0f}")
        for side in (-1.0, 1.0)
    ] + [
        _box(np.array([side * (half[0] + 0.5), 0.0]), (0.5, half[1] + 1.0), 0.0, f"end {side:+.0f}")
        for side in (-1.0, 1.0)
    ]
    pillars = [
        Cylinder((*rng.uniform(-0.8, 0.8, 2) * half, 0.0), rng.uniform(0.2, 0.5), f"pillar {i}")
        for i in range(rng.integers(0, 3))
    ]

    def pose() -> dict[str, float]:
        heading, middle = rng.uniform(-np.pi, np.pi), rng.uniform(-1.0, 1.0, 2) * (half - 1.2)
        x, y = middle - _along(heading, _MIDDLE_M)
        return {"x": float(x), "y": float(y), "theta": heading}

    start, goal = car.state(**pose()), replace(task.goal, state=car.state(**pose()))
    return car, replace(task, start=start, goal=goal, duration_s=16.0, obstacles=(*walls, *pillars))


def gait(rng: np.random.Generator) -> Placed:
    """The snakeboard to a place up to 1 m away, turned by up to a radian every other time, in 4 to 8 s."""
    board, task = _scene("plan-snakeboard-sideways")
    x, y = _along(rng.uniform(-np.pi, np.pi), rng.uniform(0.2, 1.0))
    theta = rng.uniform(-1.0, 1.0) if rng.random() < 0.5 else 0.0
    goal = replace(task.goal, state=board.state(x=float(x), y=float(y), theta=theta))
    return board, replace(task, goal=goal, duration_s=rng.uniform(4.0, 8.0))


# Motions.


def _ends(vehicle: sim.Vehicle, task: Task) -> np.ndarray:
    """(2, 3) m."""
    return positions(vehicle, np.stack([task.start.node, task.goal.state.node]))


def flights(vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Iterator[Motion]:
    """By up to two random places near the straight way or far from it, with random headings."""
    planar = vehicle.group.turns == 1
    a, b = _ends(vehicle, task)
    reach = float(np.linalg.norm(b - a))
    trim = input_map_of(vehicle).trim(vehicle.group.identity())
    while True:
        count = rng.integers(0, 3)
        shares = np.sort(rng.uniform(0.0, 1.0, count))[:, None]
        wide = 0.25 if planar else rng.choice([0.05, 0.1, 0.25])
        aside = rng.normal(0.0, wide * reach, (count, 3)) * [1.0, 1.0, 0.0 if planar else 0.6]
        places = paced(
            np.vstack([a, a + shares * (b - a) + aside, b]), task.steps, from_rest=True, to_rest=True
        )
        heading = ("even", "ahead", "astern", "around")[rng.integers(4)] if planar else "even"
        yield free_motion(vehicle, task, places, heading), np.tile(trim, (task.steps + 1, 1))


def drives(vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Iterator[Motion]:
    """Through up to two random poses in random gears; or out of the start, to and fro about the goal, in turn."""
    pose = vehicle.node_layout.pose
    start, goal = task.start.node[pose], task.goal.state.node[pose]
    while True:
        poses = [rng.uniform((-0.7, -7.0, -2.5), (0.7, 9.0, 2.5)) for _ in range(rng.integers(0, 3))]
        legs = [(pose, float(rng.choice([-1.0, 1.0]))) for pose in (*poses, goal)]
        yield with_shape(vehicle, task, *through(task, legs, task.steps))
        gear, legs, whole = rng.choice([-1.0, 1.0]), [], rng.choice([-2.0, 0.0, 0.0, 0.0, 2.0]) * np.pi
        if whole:
            half = np.array([whole / 2, *rng.uniform((-4.0, 3.0), (4.0, 10.0))])
            legs.append((start + half, gear))
        elif rng.random() < 0.6:
            legs.append((_shifted(start, gear * rng.uniform(0.3, 9.0), rng), gear))
            gear = -gear
        last = goal + np.array([whole, 0.0, 0.0])
        for _ in range(rng.integers(0, 2 if whole else 5)):
            legs.append((_shifted(last, gear * rng.uniform(0.2, 3.5), rng), gear))
            gear = -gear
        yield with_shape(vehicle, task, *through(task, [*legs, (last, gear)], task.steps))


def turns(vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Iterator[Motion]:
    """The goal's heading in any winding; out of the start, through random poses about both or between them, to and fro
    at the goal, gears in turn or at random."""
    pose = vehicle.node_layout.pose
    start, goal = task.start.node[pose], task.goal.state.node[pose].copy()
    while True:
        last = goal.copy()
        turn = (last[0] - start[0] + np.pi) % (2 * np.pi) - np.pi
        last[0] = start[0] + turn + rng.choice([-1, 0, 0, 0, 1]) * 2 * np.pi
        gear, legs = float(rng.choice([-1.0, 1.0])), []
        if rng.random() < 0.5:
            legs.append((_shifted(start, gear * rng.uniform(0.5, 7.0), rng), gear))
            gear = -gear
        for _ in range(rng.integers(0, 3)):
            share = rng.uniform(0.0, 1.0)
            middle = start + share * (last - start) + rng.normal(0.0, (0.5, 3.0, 3.0))
            legs.append((middle, gear))
            gear = gear if rng.random() < 0.4 else -gear
        for _ in range(rng.integers(0, 3)):
            legs.append((_shifted(last, gear * rng.uniform(0.3, 6.0), rng), gear))
            gear = -gear
        yield with_shape(vehicle, task, *through(task, [*legs, (last, gear)], task.steps))


def _shifted(pose: np.ndarray, by_m: float, rng: np.random.Generator) -> np.ndarray:
    """A pose (heading, x, y) ahead of another, a little beside it and turned or not."""
    along = by_m * np.array([0.0, np.cos(pose[0]), np.sin(pose[0])])
    return pose + along + rng.integers(0, 2) * rng.normal(0.0, (0.25, 0.3, 0.3))


def wriggles(vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Iterator[Motion]:
    """Gaits of random periods, amplitudes and phases."""
    count = len(vehicle.shape_coordinates)
    while True:
        waves = Gait(
            tuple(rng.uniform(1.0, 4.0, count)),
            tuple(rng.uniform(0.2, 2.0, count) * rng.choice([-1.0, 1.0], count)),
            tuple(rng.uniform(-np.pi, np.pi, count)),
        )
        yield gait_motion(vehicle, task, task.steps, waves)


KINDS: dict[str, tuple[Callable[[np.random.Generator], Placed], Callable[..., Iterator[Motion]]]] = {
    "harbours": (harbour, flights),
    "canyons": (canyon, flights),
    "parkings": (parking, drives),
    "bays": (bay, turns),
    "slots": (slot, turns),
    "piers": (piers, flights),
    "forests": (forest, flights),
    "yards": (yard, turns),
    "gaits": (gait, wriggles),
}
"""Places and the motions that random starts begin with."""
